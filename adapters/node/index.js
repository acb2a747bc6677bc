// Framegate's corpus of hostile MCP frames, for the tests of a server's own project.
//
// Belongs here: the names of the package. Does not belong here: what they do.

export { EffectObserved, Failure, Hung, Inconclusive, Target, Unavailable } from "./src/check.js";
export { Case, CorpusError, cases } from "./src/corpus.js";
