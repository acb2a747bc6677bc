//! The configurations in `examples/`: as they are, and end to end against mock servers that are made from
//! the published descriptions of these APIs.
//!
//! Belongs here: what each example must do, call by call. Does not belong here: how a call is judged
//! (`examples/world.rs`), what else the gateway does with hostile frames.
//!
//! The mock server and the descriptions are installed by `e2e/mocks/setup.sh`. Where they are not, the
//! tests say so loudly; with FRAMEGATE_SHARED set, as in CI, they fail instead.

#[path = "examples/check.rs"]
mod check;
#[path = "examples/description.rs"]
mod description;
#[path = "examples/gateway.rs"]
mod gateway;
#[path = "examples/github.rs"]
mod github;
#[path = "examples/jira.rs"]
mod jira;
#[path = "examples/kubernetes.rs"]
mod kubernetes;
#[path = "examples/mock.rs"]
mod mock;
#[path = "examples/powerdns.rs"]
mod powerdns;
#[path = "examples/relay.rs"]
mod relay;
#[path = "examples/twilio.rs"]
mod twilio;
#[path = "examples/world.rs"]
mod world;
