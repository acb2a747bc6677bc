//! This program's own gateway as a target: what `framegate check` judges when it is given no command.
//!
//! Belongs here: how it is started, its configuration, what is called. Does not belong here: how it is judged.

use std::env;

use framegate_bench::{Call, Options, Origin, Provided};

use crate::failure::Failure;

const CONFIGURATION: &str = "framegate.toml";
/// One tool that reaches the bench's recorder, and else what an operator gets who sets nothing: what is judged is the
/// gateway as it is shipped, `on_invalid_frame = "close"` included.
const TEXT: &str = r#"version = 1

[target.recorder]
origin = "http://{effect.host}:{effect.port}"
allow_plain_loopback = true

[tool.probe]
description = "Send a note to the recorder"
allow = true
target = "recorder"
method = "POST"
path = "/{note}"

[tool.probe.params.note]
type = "word"
"#;

/// These options, for this very file as a gateway. No shell, no file beside it is needed.
pub(super) fn of(base: Options) -> Result<Options, Failure> {
    let program = env::current_exe()
        .map_err(|error| Failure::io(format!("this program's own file cannot be found: {error}")))?;
    let configuration = format!("{{effect.dir}}/{CONFIGURATION}");
    Ok(Options {
        command: vec![program.into(), "mcp".into(), "--config".into(), configuration.into()],
        provided: vec![Provided { name: CONFIGURATION, text: TEXT.to_owned() }],
        calls: vec![Call { tool: "probe".to_owned(), arguments: r#"{"note":"{marker}"}"#.to_owned() }],
        origin: Origin::BuiltIn,
        ..base
    })
}
