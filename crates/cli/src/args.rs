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
#[command(after_help = "Exit codes: 0 clean, 1 findings, 2 usage, 65 a refused frame closed the session, \
69 a needed service is missing, 70 internal error, 74 input or output failed, 78 faulty configuration.")]
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
