// Framegate's corpus of hostile MCP frames, for the tests of a server's own project.
//
// Belongs here: the types of the package. Does not belong here: what is not exported.

/** How binding the rule is that a frame breaks. `policy`: the texts are silent. */
export type Level = "must" | "should" | "policy";

/** What the frame's test can be skipped with: `TestContext` of node:test. */
export interface Skips {
  skip(why?: string): void;
}

/** A hostile frame: a whole call of any tool that must be refused, with its well-formed twin. */
export declare class Case {
  private constructor();
  /** `REASON/NAME`, as `framegate corpus list` prints it. */
  readonly id: string;
  /** What is wrong with the frame, in one line. */
  readonly gist: string;
  readonly level: Level;
  /** The protocol revision of the session. */
  readonly revision: string;
  /** What was said before the frame: `new`, `initializing`, `ready` or `modern`. */
  readonly phase: string;
  /** The same for the twin. */
  readonly twinPhase: string;
  /** Whether the input ends right behind the frame. */
  readonly endsInput: boolean;
  /** The frame, with holes. */
  readonly frame: Buffer;
  /** The twin, with holes. */
  readonly twin: Buffer;
  /**
   * Resolves if the server refuses the frame, and rejects with a `Failure` otherwise. The test is skipped if the server
   * speaks other revisions only.
   */
  check(target: Target, test: Skips): Promise<void>;
}

export interface Selection {
  /** By default `must` and `should`: levels at which an effect is a defect by any reading. */
  levels?: readonly Level[];
  /** Protocol revisions, by default all. */
  revisions?: readonly string[];
}

/**
 * The hostile frames of a folder that `framegate corpus export` wrote, those that fit any server.
 *
 * Throws a `CorpusError` if the folder is no such export, or if no frame is left.
 */
export declare function cases(folder: string, selection?: Selection): Case[];

export interface TargetOptions {
  /** The tool that hostile frames call. */
  tool: string;
  /**
   * Arguments that are valid for it. `{marker}` in them stands for a text that names the frame: ASCII letters, digits
   * and `-`.
   */
  arguments: Record<string, unknown>;
  /**
   * The recorder: whether what the tool does happened with this marker. It must look at the effect, and not at a log,
   * where a refused frame may be quoted.
   */
  seen(marker: string): boolean | Promise<boolean>;
  /** How long an answer, an effect of the control, or an end may take, in milliseconds; 5000 unless given. */
  timeout?: number;
  /** As in `child_process.spawn`. */
  env?: NodeJS.ProcessEnv;
  /** As in `child_process.spawn`. */
  cwd?: string;
}

/**
 * A server's command, a call of one of its tools, and a recorder of the effect.
 *
 * It keeps the controls that were seen: one that several tests share starts one process for each frame.
 */
export declare class Target {
  /** Throws a `CorpusError` if the arguments are no JSON or do not hold `{marker}`. */
  constructor(command: readonly string[], options: TargetOptions);
}

/** The folder is no export that this version reads, or the call does not fit its frames. */
export declare class CorpusError extends Error {}

/** Why a case did not pass. Bytes of the server are escaped in the text. */
export declare class Failure extends Error {}

/** The frame must be refused, and the call inside it was carried out. */
export declare class EffectObserved extends Failure {}

/** The well-formed twin was not seen, so that nothing can be said of the frame. */
export declare class Inconclusive extends Failure {}

/** The server cannot be started, or ended with a failure. */
export declare class Unavailable extends Failure {}

/** What was sent behind the frame is not answered, and the server did not end. */
export declare class Hung extends Failure {}
