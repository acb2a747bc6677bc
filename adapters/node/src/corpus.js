// The exported corpus: its index, its frames, and how their holes are filled in.
//
// Belongs here: what `framegate corpus export` writes. Does not belong here: processes, verdicts.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The version of `index.json` that is read. */
const FORMAT = 3;
/** @type {readonly import("../index.js").Level[]} */
const DEFAULT_LEVELS = ["must", "should"];
const HOLE = /\$\{(tool|arguments|arguments_text|members|other_members|escaped_members|marker|id|next)\}/g;

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
    this.#tool = inString(String(tool));
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
    const json = this.#json.replaceAll("{marker}", marker);
    const beside = this.#json.replaceAll("{marker}", other(marker));
    const escaped = Object.entries(JSON.parse(beside)).map(
      ([name, value]) => `"${allEscaped(name)}":${JSON.stringify(value)}`,
    );
    /** @type {Record<string, string>} */
    const values = {
      tool: this.#tool,
      arguments: json,
      arguments_text: inString(json),
      members: json.slice(1, -1),
      other_members: beside.slice(1, -1),
      escaped_members: escaped.join(","),
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

/**
 * Stands for the marker in arguments that are given beside the frame's own.
 *
 * @param {string} marker
 */
export function other(marker) {
  return `${marker}-other`;
}

/**
 * The text as the content of a JSON string.
 *
 * @param {string} text
 */
function inString(text) {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * The same, every UTF-16 unit written as an escape.
 *
 * @param {string} text
 */
function allEscaped(text) {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
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
