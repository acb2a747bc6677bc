//! The command line.
//!
//! Belongs here: names, help texts, which option goes with which command.
//! Does not belong here: what a command does. No environment variable sets any option.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// A boundary for AI agents: an MCP stdio server that performs declared actions with credentials that the
/// agent never sees. Every byte of stdout belongs to the protocol; every refused frame performs nothing.
#[derive(Debug, Parser)]
#[command(
    name = "framegate",
    version,
    about,
    long_about,
    propagate_version = true,
    arg_required_else_help = true
)]
#[command(
    after_help = "Exit codes, the worst of all servers: 0 clean, 1 findings, 2 usage, 65 a refused frame closed the session, \
69 a needed service is missing, 70 internal error, 74 input or output failed, 78 faulty configuration."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve one MCP session on stdin and stdout
    Mcp(McpArguments),
    /// Play a session against an embedded target and show what reaches it; needs nothing
    Demo,
    /// Judge any stdio MCP server by the bytes it writes and the effects it has
    Check(Box<CheckArguments>),
    /// Look at the hostile frames that come with this program
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Write a commented starter configuration
    Init {
        /// The file to create; by default where `framegate mcp` looks for it
        path: Option<PathBuf>,
    },
    /// Look at the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Show the tools as an agent would see them
    Tools {
        #[command(flatten)]
        config: ConfigArgument,
        /// Print the `tools/list` result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Take one call through every door, and perform it
    Call {
        #[command(flatten)]
        config: ConfigArgument,
        /// The policy principal, instead of the one in the configuration
        #[arg(long, value_name = "NAME")]
        client: Option<String>,
        /// Show the doors, the rule and the masked request; send nothing
        #[arg(long)]
        dry_run: bool,
        /// The tool's name
        tool: String,
        /// The arguments: a JSON object
        #[arg(default_value = "{}")]
        arguments: String,
    },
    /// Explain a call or a refusal from the journal
    Why {
        #[command(flatten)]
        config: ConfigArgument,
        /// An intent's or a request's id; without it, the last refusal
        id: Option<String>,
    },
    /// Read the journal
    #[command(subcommand)]
    Journal(JournalCommand),
    /// Look at the policy
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one for each command
    Man {
        /// A folder that does not exist yet
        dir: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgument {
    /// The configuration; by default `framegate/framegate.toml` in the user's configuration folder, never
    /// the working folder
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArgument,
    /// The policy principal, instead of the one in the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
    /// Write actions to a new file instead of performing them; the configuration must allow it
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Refuse any configuration whose digest (`framegate config check` prints it) is another one
    #[arg(long, value_name = "SHA256")]
    pub(crate) expect_config: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the configuration and the policy; print which rule could allow which tool
    Check {
        #[command(flatten)]
        config: ConfigArgument,
    },
    /// Print the JSON Schema of the configuration
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Merge and show the journals of all processes, oldest first
    Show {
        #[command(flatten)]
        config: ConfigArgument,
        /// The journal's folder, instead of the one in the configuration
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print the rules in force, those generated from `allow` included
    Show {
        #[command(flatten)]
        config: ConfigArgument,
        /// Print the Cedar schema that rules are validated against
        #[arg(long)]
        schema: bool,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Hostile frames are sent only with a call inside that you allow with --call, and prove something only if an observer sees \
the same call when it is well-formed:
  framegate check --call 'write_file={\"path\": \"{effect.file}\", \"content\": \"x\"}' -- my-server {effect.dir}

A client's configuration is known by what is in it: mcpServers (Claude, Cursor, Gemini CLI, Windsurf, Copilot CLI, LM Studio, \
Cline, Kiro), VS Code, Codex, Zed, goose, opencode. Nothing hostile is sent to its servers unless --profile says so:
  framegate check --config .mcp.json --server files --profile quick

Placeholders, in the command and in calls: {marker}, {effect.url}, {effect.host}, {effect.port} of a loopback HTTP recorder, \
{effect.dir}, {effect.file} of a watched folder, new for each process; {effect.ssh}, {effect.ssh-port}, {effect.ssh-known-hosts}, \
{effect.ssh-fingerprint} of a loopback SSH recorder. Where they name the program framegate-marker, it is on the target's PATH and \
its calls are recorded.

Exit codes, the worst of all servers: 0 clean, 1 a case failed or a given call was seen by nobody, 2 usage, 69 the target could not be started or does not answer, 130 interrupted.")]
pub(crate) struct CheckArguments {
    /// A tool that may be called, and its arguments; may be given several times
    #[arg(long = "call", value_name = "TOOL={JSON}")]
    pub(crate) calls: Vec<String>,
    /// Start targets with a temporary home and a network that is loopback only, which production does not; not for package
    /// runners, which then find nothing
    #[arg(long)]
    pub(crate) isolate: bool,
    /// Make up calls of every tool that the target lists, not only of one that says that it reads; only with
    /// --yes-side-effects
    #[arg(long, requires = "yes_side_effects", conflicts_with_all = ["calls", "config"])]
    pub(crate) all_tools: bool,
    /// What these calls do may really be done: the target holds nothing that may not be lost
    #[arg(long, requires = "all_tools")]
    pub(crate) yes_side_effects: bool,
    /// How much is run: `stdout` sends nothing hostile; by default `quick`, with --config `stdout`
    #[arg(long, value_enum)]
    pub(crate) profile: Option<ProfileName>,
    /// Only cases of this id, whatever the profile; `*` stands for any characters; may be given several times
    #[arg(long, value_name = "ID")]
    pub(crate) only: Vec<String>,
    /// Only this revision of the protocol, such as 2025-06-18; may be given several times
    #[arg(long = "revision", value_name = "REVISION")]
    pub(crate) revisions: Vec<String>,
    /// Print the ids of the cases that would be run, and run none
    #[arg(long)]
    pub(crate) list: bool,
    /// A plain session under a launch of your own: a script for /bin/sh in which the target is "$@", such as
    /// 'stale-lock=touch lock; exec "$@"'; may be given several times
    #[arg(long = "launch", value_name = "NAME=SCRIPT")]
    pub(crate) launches: Vec<String>,
    /// A variable of the environment that gets no canary, where its value may come out; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) no_canary: Vec<String>,
    /// How many targets run at once; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// How many seconds an answer, or an end, may take
    #[arg(long, value_name = "SECONDS", default_value_t = framegate_bench::Options::DEFAULT_TIMEOUT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(crate) timeout: u64,
    /// Also send calls whose bytes are changed at random, for so many seconds; only with --call
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) fuzz: Option<u64>,
    /// What the random changes depend on: the same seed changes the same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Check every stdio server that this configuration of an MCP client starts, as it starts them
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub(crate) config: Option<PathBuf>,
    /// Only the server of this name in the configuration; may be given several times
    #[arg(long = "server", value_name = "NAME")]
    pub(crate) servers: Vec<String>,
    /// Start the target, and introduce the bench to it, as this client library does
    #[arg(long = "as", value_name = "CLIENT", value_enum, default_value_t = ClientName::Production)]
    pub(crate) client: ClientName,
    /// Also write the report as `html`, `json`, `junit`, `md`, `sarif` or `tap`, or, with `github` alone, annotate a run of
    /// GitHub Actions; may be given several times. {server} in FILE is the server's name in the configuration
    #[arg(long = "report", value_name = "FORM=FILE")]
    pub(crate) reports: Vec<String>,
    /// Failures that are allowed for, with reasons: a TOML file, which must list every failure and no other
    #[arg(long, value_name = "FILE")]
    pub(crate) expect: Option<PathBuf>,
    /// Write such a file for the failures of this run; the reasons are to be read
    #[arg(long, value_name = "FILE", conflicts_with = "expect")]
    pub(crate) write_expect: Option<PathBuf>,
    /// By what system calls are observed; by default `seccomp`, or `strace` where that is refused
    #[arg(long, value_enum, value_name = "OBSERVER")]
    pub(crate) observer: Option<ObserverName>,
    /// What must have seen a well-formed call; if nothing of the kind did, the run is not clean
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) require_proof: Option<ProofName>,
    /// Keep the bytes of every case that is not clean: a folder that does not exist yet
    #[arg(long, value_name = "DIR")]
    pub(crate) evidence: Option<PathBuf>,
    /// The target's command, exactly as production starts it; without one, this program's own gateway
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ProfileName {
    /// Plain sessions under several launches: bytes, ends, processes
    Stdout,
    /// That, and hostile frames around the calls that the texts forbid
    Quick,
    /// That, and those about which the texts are silent; every frame also in pieces and byte by byte
    Boundary,
    /// The plain sessions, and what each revision's text asks for; nothing hostile is sent
    Conformance,
    /// Everything
    Full,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ClientName {
    /// With the whole environment of this shell
    Production,
    /// With HOME, LOGNAME, PATH, SHELL, TERM and USER only, and what the configuration sets
    TypescriptSdk,
    /// The same; the client is called `mcp`
    PythonSdk,
    /// With the whole environment; the client is called `rmcp`
    RustSdk,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ObserverName {
    /// The kernel announces them to the bench (Linux 5.8)
    Seccomp,
    /// strace, from the PATH: slower
    Strace,
    /// Nothing: only recorders see effects
    None,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ProofName {
    /// Observed system calls
    Syscalls,
    /// Any other observer: the HTTP or SSH recorder, the marker program, the watched folder
    Recorder,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CorpusCommand {
    /// One line for each frame: id, reason, what is wrong
    List,
    /// One frame: its bytes, its twin, what must come of it
    Show {
        /// Its id, as `list` prints it
        id: String,
    },
    /// Write every frame and its twin as files, with an index; those for any server's tool have holes
    /// (`${tool}`, `${arguments}`, `${marker}`, `${id}`, `${next}`), which the adapters for pytest and node:test fill in
    Export {
        /// A folder that does not exist yet
        dir: PathBuf,
    },
}
