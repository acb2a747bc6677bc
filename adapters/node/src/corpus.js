// The exported corpus: its index, its frames, and how their holes are filled in.
//
// Belongs here: what `framegate corpus export` writes. Does not belong here: processes, verdicts.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The version of `index.json` that is read. */
const FORMAT = 2;
/** @type {readonly import("../index.js").Level[]} */
const DEFAULT_LEVELS = ["must", "should"];
const HOLE = /\$\{(tool|arguments|marker|id|next)\}/g;

export class CorpusError extends Error {
  name = "CorpusError";
}

/** A well-formed call of the server's own tool. */
export class Call {
  #tool;
  /** A JSON object in which `{marker}` stands for the marker. @type {string} */
  #json;

  /**
   * @param {string} tool
   * @param {Record<string, unknown>} values
   */
  constructor(tool, values) {
    this.#tool = JSON.stringify(String(tool)).slice(1, -1);
    this.#json = asJson(values);
    if (!this.#json.includes("{marker}")) {
      throw new CorpusError(
        "no argument holds {marker}, so that no effect could be told from another: write it where the effect will show it",
      );
    }
  }

  /**
   * The bytes to send.
   *
   * @param {Buffer} template
   * @param {string} marker
   * @param {number} id
   */
  fillIn(template, marker, id) {
    /** @type {Record<string, string>} */
    const values = {
      tool: this.#tool,
      arguments: this.#json.replaceAll("{marker}", marker),
      marker,
      id: String(id),
      next: String(id + 1),
    };
    // In `latin1` every byte is one character, and comes back as it was.
    const bytes = template
      .toString("latin1")
      .replace(HOLE, (_, name) => Buffer.from(values[name], "utf8").toString("latin1"));
    return Buffer.from(bytes, "latin1");
  }
}

/** @param {Record<string, unknown>} values */
function asJson(values) {
  try {
    const text = JSON.stringify(values);
    if (text?.startsWith("{")) return text;
  } catch (error) {
    throw new CorpusError(`the arguments are no JSON: ${error}`);
  }
  throw new CorpusError("the arguments are no JSON object");
}

/** @implements {Pick<import("../index.js").Case, keyof import("../index.js").Case>} */
export class Case {
  /**
   * @param {string} folder
   * @param {Record<string, any>} entry
   */
  constructor(folder, entry) {
    /** @type {string} */
    this.id = entry.id;
    /** @type {string} */
    this.gist = entry.gist;
    /** @type {import("../index.js").Level} */
    this.level = entry.level;
    /** @type {string} */
    this.revision = entry.revision;
    /** @type {string} */
    this.phase = entry.phase;
    /** @type {string} */
    this.twinPhase = entry.twin_phase;
    /** @type {boolean} */
    this.endsInput = entry.ends_input;
    this.frame = readFileSync(join(folder, entry.frame));
    this.twin = readFileSync(join(folder, entry.twin));
  }

  /**
   * @param {import("../index.js").Target} target
   * @param {import("../index.js").Skips} test
   */
  async check(target, test) {
    await /** @type {import("./check.js").Target} */ (target).check(this, test);
  }
}

/**
 * @param {string} folder
 * @param {import("../index.js").Selection} [selection]
 */
export function cases(folder, { levels = DEFAULT_LEVELS, revisions } = {}) {
  const index = join(folder, "index.json");
  const selected = readCases(folder, index).filter(
    (entry) =>
      entry.general &&
      entry.must_refuse &&
      levels.includes(entry.level) &&
      (revisions === undefined || revisions.includes(entry.revision)),
  );
  if (selected.length === 0) {
    throw new CorpusError(`${index}: no frame is of these levels and revisions: nothing would be tested`);
  }
  return selected.map((entry) => new Case(folder, entry));
}

/**
 * @param {string} folder
 * @param {string} index
 * @returns {Record<string, any>[]}
 */
function readCases(folder, index) {
  let read;
  try {
    read = JSON.parse(readFileSync(index, "utf8"));
  } catch (error) {
    throw new CorpusError(`${folder} is no exported corpus: ${error}; \`framegate corpus export DIR\` writes one`);
  }
  if (read?.format !== FORMAT || !Array.isArray(read.cases)) {
    throw new CorpusError(`${index}: not of format ${FORMAT}: export the corpus anew, or update this package`);
  }
  return read.cases;
}
