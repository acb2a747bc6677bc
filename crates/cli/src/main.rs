//! The `framegate` command.
//!
//! Belongs here: which command runs, and how its end becomes an exit code.
//! Does not belong here: what a command does.

mod args;
mod call;
mod check;
mod context;
mod corpus;
mod demo;
mod failure;
mod history;
mod init;
mod inspect;
mod manual;
mod mcp;
mod out;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, Command, ConfigCommand, CorpusCommand, JournalCommand, PolicyCommand};
use crate::failure::Failure;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let text = error.render().to_string();
            // Help and version were asked for; everything else is a complaint, and may quote any argument.
            if error.use_stderr() {
                out::complain(&out::printable_lines(text.trim_end()));
            } else {
                out::text(&text);
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(framegate_gateway::exit::USAGE));
        }
    };
    match run(arguments.command) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            out::complain(&format!("framegate: {}", failure.text()));
            ExitCode::from(failure.code())
        }
    }
}

fn run(command: Command) -> Result<u8, Failure> {
    match command {
        // The first thing that happens in a session is that stdout gets its one owner.
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Demo => demo::run(),
        Command::Check(arguments) => check::run(&arguments),
        Command::Corpus(CorpusCommand::List) => corpus::list(),
        Command::Corpus(CorpusCommand::Show { id }) => corpus::show(&id),
        Command::Corpus(CorpusCommand::Export { dir }) => corpus::export(&dir),
        Command::Init { path } => init::run(path),
        Command::Config(ConfigCommand::Check { config }) => inspect::check(&config),
        Command::Config(ConfigCommand::Schema) => inspect::config_schema(),
        Command::Tools { config, json } => inspect::tools(&config, json),
        Command::Call { config, client, dry_run, tool, arguments } => {
            call::run(&config, client.as_deref(), &tool, &arguments, dry_run)
        }
        Command::Why { config, id } => history::why(&config, id.as_deref()),
        Command::Journal(JournalCommand::Show { config, dir, json }) => history::show(&config, dir, json),
        Command::Policy(PolicyCommand::Show { config, schema }) => inspect::policy(&config, schema),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { dir } => manual::pages(&dir),
    }
}
