//! `framegate.toml`: found, judged as a file, read strictly, and checked as a whole.
//!
//! Belongs here: everything between a path and a [`Config`] in which nothing is left to check.
//! Does not belong here: the command line, the environment, secrets, compiling policies, and what is
//! done with a configuration.
//!
//! Every fault is shown with its line, all of them at once. There is no reload.

mod body;
mod code_position;
mod credential;
mod digest;
mod document;
mod fault;
mod file;
mod group;
mod header;
mod load;
mod locate;
mod model;
mod names;
mod origin;
mod parameter;
mod path;
mod proxy;
mod read;
mod request;
mod result;
mod schema;
mod secret;
mod starter;
mod suggest;
mod tables;
mod target;
mod tool;
mod value;

#[cfg(test)]
mod tests;

pub use digest::{Digest, DigestSyntax};
pub use fault::{Fault, Faults, Severity};
pub use file::FileFault;
pub(crate) use file::read as read_trusted;
pub use load::{LoadError, Loaded, PolicyText};
pub use locate::{LocateError, locate};
pub use model::{
    Allow, Auth, Authorities, Config, Journal, LimitSettings, Log, LogFile, LogFormat, LogLevel, Network,
    OnInvalidFrame, Redirects, ResolverChoice, ResultSettings, Save, Session, Target, Tool,
};
pub use schema::schema;
pub use starter::STARTER;
pub use tables::is_client_name;
