// A server under test: its controls, and the verdict on one frame.
//
// Belongs here: what must be seen before a frame counts, what a refusal is. Does not belong here: pipes, the corpus.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { Call, other } from "./corpus.js";
import { REVISIONS, Session } from "./session.js";

/** The least that a handler is given after the sign of life before its effect is looked for, in milliseconds. */
const QUIET = 60;
/** How many times as long as the control's effect took. */
const SLOWER = 3;
/** Between two looks for an effect, in milliseconds. */
const LOOK = 5;
/** A session that ends with this code says that its input was refused (sysexits.h, EX_DATAERR). */
const DATA = 65;
/** The most that is shown of bytes. */
const SHOWN = 2000;
const TIMEOUT = 5000;

export class Failure extends Error {
  name = "Failure";
}

export class EffectObserved extends Failure {
  name = "EffectObserved";

  /** @param {string} what */
  constructor(what) {
    super(`effect-observed: ${what}`);
  }
}

export class Inconclusive extends Failure {
  name = "Inconclusive";

  /** @param {string} what */
  constructor(what) {
    super(`inconclusive: ${what}`);
  }
}

export class Unavailable extends Failure {
  name = "Unavailable";

  /** @param {string} what */
  constructor(what) {
    super(`unavailable: ${what}`);
  }
}

export class Hung extends Failure {
  name = "Hung";

  /** @param {string} what */
  constructor(what) {
    super(`hung: ${what}`);
  }
}

/**
 * A control that was seen: how long its effect took, in milliseconds, and whether the server ends when its input does.
 * @typedef {{ after: number, ends: boolean }} Seen
 */

/**
 * Or why nothing can be said.
 * @typedef {Seen | { unseen: string }} Control
 */

export class Target {
  #command;
  #call;
  #seen;
  #options;
  /** @type {Map<string, Promise<boolean>>} */
  #spoken = new Map();
  /** @type {Map<string, Promise<Control>>} */
  #controls = new Map();
  #run = randomBytes(4).toString("hex");
  #markers = 0;

  /**
   * @param {readonly string[]} command
   * @param {import("../index.js").TargetOptions} options
   */
  constructor(command, { tool, arguments: values, seen, timeout = TIMEOUT, env, cwd }) {
    this.#command = [...command];
    this.#call = new Call(tool, values);
    this.#seen = seen;
    this.#options = { timeout, env, cwd };
  }

  /**
   * @param {import("./corpus.js").Case} hostile
   * @param {import("../index.js").Skips} test
   */
  async check(hostile, test) {
    if (!(await this.#isSpoken(hostile.revision))) {
      const spoken = await Promise.all(REVISIONS.map((revision) => this.#isSpoken(revision)));
      if (!spoken.includes(true)) throw new Inconclusive("the server answers the handshake of no revision");
      test.skip(`the server does not speak ${hostile.revision}`);
      return;
    }
    const control = await this.#control(hostile);
    if ("unseen" in control) throw new Inconclusive(control.unseen);
    const { session, frame, marker, alive, end, seen } = await this.#send(hostile, control);
    // What runs on when the input has ended acts late.
    if (seen || (await this.#seen(marker)) || (await this.#seen(other(marker)))) {
      const what = "the frame must be refused, and the call inside it was carried out";
      throw new EffectObserved(told(hostile, session, what, frame));
    }
    if (end !== undefined && end.code !== 0 && end.code !== DATA) {
      const how = end.signal === null ? `exit code ${end.code}` : `signal ${end.signal}`;
      throw new Unavailable(told(hostile, session, `the frame ended the server with ${how}`, frame));
    }
    if (!alive && end === undefined && !hostile.endsInput) {
      throw new Hung(told(hostile, session, "what was sent behind the frame is not answered any more", frame));
    }
  }

  /**
   * Sends the frame to a process of its own, and ends that.
   *
   * @param {import("./corpus.js").Case} hostile
   * @param {Seen} control
   */
  async #send(hostile, control) {
    const session = await this.#start();
    try {
      if (!(await session.reach(hostile.phase, hostile.revision))) {
        throw new Unavailable(told(hostile, session, "the handshake was not answered, though the control's was"));
      }
      const marker = this.#marker();
      const frame = this.#call.fillIn(hostile.frame, marker, session.takeId());
      session.send(frame);
      if (hostile.endsInput) session.endInput();
      const alive = !hostile.endsInput && (await session.isAlive(hostile.revision));
      const end = alive ? undefined : await session.waitEnd();
      const seen = await this.#sees(marker, Math.max(QUIET, SLOWER * control.after));
      session.endInput();
      if (alive && control.ends) await session.waitEnd();
      return { session, frame, marker, alive, end, seen };
    } finally {
      await session.stop();
    }
  }

  /**
   * Whether the well-formed twin was seen, in a process of its own.
   *
   * @param {import("./corpus.js").Case} hostile
   */
  async #control(hostile) {
    const state = `${hostile.twinPhase} ${hostile.revision}`;
    const control = this.#controls.get(state) ?? this.#runControl(hostile);
    this.#controls.set(state, control);
    return await control;
  }

  /**
   * @param {import("./corpus.js").Case} hostile
   * @returns {Promise<Control>}
   */
  async #runControl(hostile) {
    const session = await this.#start();
    const marker = this.#marker();
    try {
      if (!(await session.reach(hostile.twinPhase, hostile.revision))) {
        return { unseen: "the handshake was answered once and then not again" };
      }
      const id = session.takeId();
      const twin = this.#call.fillIn(hostile.twin, marker, id);
      const begun = performance.now();
      session.send(twin);
      const answer = await session.answer(id);
      if (await this.#sees(marker, this.#options.timeout)) {
        const after = performance.now() - begun;
        session.endInput();
        return { after, ends: (await session.waitEnd()) !== undefined };
      }
      const answered = answer ? `was answered ${shown(Buffer.from(JSON.stringify(answer)))}` : "was not answered";
      const what = `the well-formed call ${answered}, and the recorder did not see its effect`;
      return { unseen: told(hostile, session, what, twin) };
    } finally {
      await session.stop();
    }
  }

  /** @param {string} revision */
  async #isSpoken(revision) {
    const spoken = this.#spoken.get(revision) ?? this.#speaks(revision);
    this.#spoken.set(revision, spoken);
    return await spoken;
  }

  /** @param {string} revision */
  async #speaks(revision) {
    const session = await this.#start();
    try {
      return await session.speaks(revision);
    } finally {
      await session.stop();
    }
  }

  async #start() {
    try {
      return await Session.start(this.#command, this.#options);
    } catch (error) {
      throw new Unavailable(`the server cannot be started: ${error}`);
    }
  }

  /** Never used before; none is the beginning of another. */
  #marker() {
    this.#markers += 1;
    return `fgm-${this.#run}-${String(this.#markers).padStart(6, "0")}`;
  }

  /**
   * @param {string} marker
   * @param {number} within
   */
  async #sees(marker, within) {
    const deadline = performance.now() + within;
    while (!(await this.#seen(marker))) {
      if (performance.now() >= deadline) return false;
      await sleep(LOOK);
    }
    return true;
  }
}

/**
 * @param {import("./corpus.js").Case} hostile
 * @param {Session} session
 * @param {string} what
 * @param {Buffer} [sent]
 */
function told(hostile, session, what, sent) {
  const lines = [what, `case: ${hostile.id}: ${hostile.gist}`, `level: ${hostile.level}, revision: ${hostile.revision}`];
  if (sent) lines.push(`sent: ${shown(sent)}`);
  if (session.stderr.length > 0) lines.push(`stderr ends: ${shown(session.stderr.subarray(-SHOWN))}`);
  return lines.join("\n  ");
}

/** @param {Buffer} bytes */
function shown(bytes) {
  const escaped = bytes
    .subarray(0, SHOWN)
    .toString("latin1")
    .replace(/[^ -~]|\\/g, (byte) => (byte === "\\" ? "\\\\" : `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`));
  return bytes.length > SHOWN ? `${escaped}... (${bytes.length} bytes)` : escaped;
}
