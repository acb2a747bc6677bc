// One process of the server: raw pipes, the handshake of either era, a sign of life.
//
// Belongs here: bytes, sound messages, waiting. Does not belong here: hostile frames, verdicts.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The revision whose requests stand alone, without a handshake. */
const MODERN = "2026-07-28";
/** The revisions that frames are written for. */
export const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN];

const META = {
  _meta: { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} },
};
/** How long a pipe that a descendant holds open is read after the end, in milliseconds. */
const PIPES = 2000;
const LINE_END = 0x0a;

/**
 * How a process ended.
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null }} End
 */

/** A running server, in a process group of its own. `stop` ends it, whatever it does. */
export class Session {
  #process;
  #timeout;
  #nextId = 1;
  /** What came on stdout and is no whole line yet. @type {Buffer[]} */
  #partial = [];
  /** Answers by their id. @type {Map<number, Record<string, any>>} */
  #answers = new Map();
  /** @type {Set<() => void>} */
  #waiting = new Set();
  /** @type {Buffer[]} */
  #stderr = [];
  #closed = false;
  /** @type {End | undefined} */
  #end;
  /** @type {Promise<unknown>} */
  #allClosed;

  /**
   * @param {readonly string[]} command
   * @param {{ timeout: number, env?: NodeJS.ProcessEnv, cwd?: string }} options `timeout`: of one answer, in milliseconds
   */
  constructor([program, ...parameters], { timeout, env, cwd }) {
    this.#process = spawn(program, parameters, { env, cwd, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    this.#timeout = timeout;
    const { stdin, stdout, stderr } = this.#process;
    // That it reads no more is seen by what it does not answer.
    stdin.on("error", () => {});
    stdout.on("data", (piece) => this.#read(piece));
    stdout.on("close", () => {
      this.#closed = true;
      this.#wake();
    });
    stderr.on("data", (piece) => this.#stderr.push(piece));
    this.#process.on("exit", (code, signal) => {
      this.#end = { code, signal };
      this.#wake();
    });
    this.#allClosed = new Promise((resolve) => this.#process.on("close", resolve));
  }

  /**
   * A server that was started.
   *
   * @param {readonly string[]} command
   * @param {{ timeout: number, env?: NodeJS.ProcessEnv, cwd?: string }} options
   */
  static async start(command, options) {
    const session = new Session(command, options);
    await once(session.#process, "spawn");
    return session;
  }

  /** What came on stderr by now. */
  get stderr() {
    return Buffer.concat(this.#stderr);
  }

  /** A request id that was not used, nor the one above it. */
  takeId() {
    const taken = this.#nextId;
    this.#nextId += 2;
    return taken;
  }

  /** @param {Buffer | string} bytes */
  send(bytes) {
    if (this.#process.stdin.writable) this.#process.stdin.write(bytes);
  }

  /** Ends its input behind what was sent. */
  endInput() {
    this.#process.stdin.end();
  }

  /**
   * A request and its answer, if one comes in time.
   *
   * @param {string} method
   * @param {Record<string, unknown>} [params]
   */
  async ask(method, params) {
    const id = this.takeId();
    this.send(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return await this.answer(id);
  }

  /** @param {number} id */
  async answer(id) {
    await this.#until(() => this.#answers.has(id) || this.#closed);
    return this.#answers.get(id);
  }

  /**
   * Says what has been said in this phase; whether the server answered in this revision.
   *
   * @param {string} phase
   * @param {string} revision
   */
  async reach(phase, revision) {
    if (phase === "new") return true;
    if (revision === MODERN) {
      const reply = await this.ask("tools/list", META);
      return reply?.result !== undefined;
    }
    const clientInfo = { name: "framegate-corpus", version: "0" };
    const reply = await this.ask("initialize", { protocolVersion: revision, capabilities: {}, clientInfo });
    if (reply?.result?.protocolVersion !== revision) return false;
    if (phase === "ready") this.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return true;
  }

  /**
   * Whether the server speaks the revision. For a process of its own: the answer may pin the era.
   *
   * @param {string} revision
   */
  async speaks(revision) {
    if (revision !== MODERN) return await this.reach("ready", revision);
    const reply = await this.ask("server/discover", META);
    return reply?.result !== undefined;
  }

  /**
   * Whether it still answers, whatever it says.
   *
   * @param {string} revision
   */
  async isAlive(revision) {
    const reply = revision === MODERN ? await this.ask("server/discover", META) : await this.ask("ping");
    return reply !== undefined;
  }

  /** How it ended, if it does in time. */
  async waitEnd() {
    await this.#until(() => this.#end !== undefined);
    return this.#end;
  }

  /** Kills the process group, and reads its pipes to their end. */
  async stop() {
    this.endInput();
    try {
      process.kill(-(/** @type {number} */ (this.#process.pid)), "SIGKILL");
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
    }
    const stopWaiting = new AbortController();
    const waited = sleep(PIPES, undefined, { signal: stopWaiting.signal }).catch(() => {});
    await Promise.race([this.#allClosed, waited]);
    stopWaiting.abort();
    this.#process.stdout.destroy();
    this.#process.stderr.destroy();
  }

  /**
   * Waits until something is so, at most as long as an answer may take.
   *
   * @param {() => boolean} isSo
   */
  async #until(isSo) {
    const { promise, resolve } = deferred();
    const look = () => isSo() && resolve();
    const timer = setTimeout(resolve, this.#timeout);
    this.#waiting.add(look);
    look();
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(look);
  }

  #wake() {
    for (const look of this.#waiting) look();
  }

  /** @param {Buffer} piece */
  #read(piece) {
    let rest = piece;
    for (let end = rest.indexOf(LINE_END); end >= 0; end = rest.indexOf(LINE_END)) {
      this.#partial.push(rest.subarray(0, end));
      this.#keep(Buffer.concat(this.#partial));
      this.#partial = [];
      rest = rest.subarray(end + 1);
    }
    this.#partial.push(rest);
    this.#wake();
  }

  /** @param {Buffer} line */
  #keep(line) {
    let message;
    try {
      message = JSON.parse(line.toString("utf8"));
    } catch {
      return;
    }
    if (typeof message?.id === "number" && !("method" in message)) this.#answers.set(message.id, message);
  }
}

function deferred() {
  /** @type {() => void} */
  let resolve = () => {};
  const promise = /** @type {Promise<void>} */ (new Promise((done) => (resolve = () => done(undefined))));
  return { promise, resolve };
}
