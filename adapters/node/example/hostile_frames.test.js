// A server's own test: hostile frames around a call of its tool must have no effect.
//
// EXAMPLE_CORPUS is the exported folder; EXAMPLE_SERVER the server's command as a JSON array, in which `{folder}` stands
// for the folder that its tool `probe_write` makes files in; EXAMPLE_SELECTION, if set, levels and revisions as JSON, and
// EXAMPLE_TIMEOUT how long the server may take to answer, in milliseconds.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { Target, cases } from "framegate-corpus";

const { EXAMPLE_CORPUS = "", EXAMPLE_SERVER = "[]", EXAMPLE_SELECTION = "{}", EXAMPLE_TIMEOUT = "5000" } = process.env;
const folder = mkdtempSync(join(tmpdir(), "effects-"));
after(() => rmSync(folder, { recursive: true }));

/** @type {string[]} */
const command = JSON.parse(EXAMPLE_SERVER);
const target = new Target(
  command.map((part) => part.replaceAll("{folder}", folder)),
  {
    tool: "probe_write",
    arguments: { marker: "{marker}" },
    seen: (marker) => existsSync(join(folder, marker)),
    timeout: Number(EXAMPLE_TIMEOUT),
  },
);

for (const hostile of cases(EXAMPLE_CORPUS, JSON.parse(EXAMPLE_SELECTION))) {
  test(hostile.id, (t) => hostile.check(target, t));
}
