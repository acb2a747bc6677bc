//! The entity types of the `Framegate` namespace and ids of them.
//!
//! Belongs here: the only places where an entity id is made, always from its two parts (never by parsing
//! text that could hold another type).
//! Does not belong here: what the entities mean to a rule.

use std::sync::LazyLock;

use cedar_policy::{EntityId, EntityTypeName, EntityUid};

static ACTION: LazyLock<EntityTypeName> = LazyLock::new(|| type_name("Framegate::Action"));
static CLIENT: LazyLock<EntityTypeName> = LazyLock::new(|| type_name("Framegate::Client"));
static TARGET: LazyLock<EntityTypeName> = LazyLock::new(|| type_name("Framegate::Target"));

/// The action of this tool.
pub(crate) fn action(tool: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(ACTION.clone(), EntityId::new(tool))
}

/// The client that this process serves.
pub(crate) fn client(name: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(CLIENT.clone(), EntityId::new(name))
}

/// A declared target.
pub(crate) fn target(name: &str) -> EntityUid {
    EntityUid::from_type_name_and_id(TARGET.clone(), EntityId::new(name))
}

#[expect(clippy::expect_used, reason = "three constant names, each parsed in every test that judges")]
fn type_name(name: &'static str) -> EntityTypeName {
    name.parse().expect("the name of an entity type is a Cedar name")
}
