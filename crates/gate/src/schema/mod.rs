//! Are the arguments what the tool declares, and what action do they make?
//!
//! Belongs here: declared tools and their parameters, checking, defaults, pure rendering, the published
//! JSON Schema.
//! Does not belong here: who asks, whether it is allowed, how an action is performed.

mod bounds;
mod call;
mod catalog;
mod check;
mod compile;
mod declaration;
mod follow;
mod kind;
mod open;
mod parameter;
mod pattern;
mod publish;
mod render;
mod template;
mod text;

pub use call::{Call, Checked, ProgressToken};
pub use catalog::{Catalog, Tool};
pub use check::{SchemaRefusal, check};
pub use declaration::{
    BodyDeclaration, DeclarationFault, HttpDeclaration, ParameterDeclaration, ParameterType,
    ResultDeclaration, SaveDeclaration, ToolDeclaration,
};
pub(crate) use follow::follow;
pub use parameter::{Parameter, Shape};

#[cfg(test)]
mod tests;
