//! The methods that are served, and in which era.
//!
//! Belongs here: names of methods.
//! Does not belong here: state.

/// A request's method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Discover,
    Initialize,
    Ping,
    ToolsCall,
    ToolsList,
}

impl Method {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "server/discover" => Self::Discover,
            "initialize" => Self::Initialize,
            "ping" => Self::Ping,
            "tools/call" => Self::ToolsCall,
            "tools/list" => Self::ToolsList,
            _ => return None,
        })
    }
}

/// A notification's method, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotificationMethod {
    Initialized,
    Cancelled,
    /// Known, and of no consequence.
    Other,
    Unknown,
}

impl NotificationMethod {
    pub(super) fn from_name(name: &str) -> Self {
        match name {
            "notifications/initialized" => Self::Initialized,
            "notifications/cancelled" => Self::Cancelled,
            "notifications/progress" | "notifications/roots/list_changed" => Self::Other,
            _ => Self::Unknown,
        }
    }
}
