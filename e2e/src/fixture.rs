//! The corpus's configuration, made to fit one stage.
//!
//! Belongs here: what its placeholders stand for. Does not belong here: the text (crate `corpus`).

use std::net::SocketAddr;

use crate::stage::OnInvalidFrame;
use crate::target::tls;

/// What differs from stage to stage.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The target's port.
    pub port: u16,
    /// The name server.
    pub resolver: SocketAddr,
    /// What a refused frame does to the session.
    pub on_invalid_frame: OnInvalidFrame,
}

/// The configuration's text.
///
/// # Panics
/// If a placeholder is left over.
#[must_use]
pub fn config(place: &Place) -> String {
    let profile = match place.on_invalid_frame {
        OnInvalidFrame::Close => "close",
        OnInvalidFrame::Continue => "continue",
    };
    // Paths are relative to the configuration's folder.
    let text = framegate_corpus::FIXTURE_CONFIG
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| format!("{line}\n"))
        .collect::<String>()
        .replace("${profile}", profile)
        .replace("${client}", "corpus")
        .replace("${journal}", "journal")
        .replace("${resolver}", &place.resolver.to_string())
        .replace("${origin}", &format!("https://{}:{}", tls::NAME, place.port))
        .replace("${ca}", "ca.pem")
        .replace("${secret_file}", "secret");
    assert!(!text.contains("${"), "a placeholder of the fixture is not filled in:\n{text}");
    text
}

/// The policy's text.
#[must_use]
pub fn policy() -> &'static str {
    framegate_corpus::FIXTURE_POLICY
}

/// A tool that no rule of the fixture allows.
pub const DENIED_TOOL: &str = "probe_unruled";
