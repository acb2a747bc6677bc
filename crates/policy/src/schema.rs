//! The Cedar schema of the declared tools: what a rule may speak of.
//!
//! Belongs here: one action a tool with the closed type of its context, as text that operators can read.
//! Does not belong here: values, rules.
//!
//! A path is a record of its segments, never a plain string: `like "reports/*"` over a path would match
//! `reports/../admin`, so it does not type. The peer's own name for itself is text in the context; no
//! entity exists for it, so no rule can take it for the principal.

use core::fmt::Write as _;
use std::collections::BTreeSet;

use framegate_gate::schema::{Catalog, Parameter, Shape, Tool};

/// The types that every action shares.
const COMMON: &str = r"  // A client by the name that `--client` or the configuration gives it.
  entity Client;

  // A path, by its segments: order and repetition are not part of it.
  type Path = {
    segments: Set<String>,
    first: String,
    depth: Long,
  };

  // The rendered action. `body_sha256` is of the exact bytes, in lower-case hexadecimal.
  type Request = {
    method: String,
    scheme: String,
    host: String,
    port: Long,
    path_segments: Set<String>,
    query_names: Set<String>,
    has_body: Bool,
    body_sha256?: String,
  };
";

/// The schema of these tools, in Cedar's own syntax, the same for the same tools in every process.
#[must_use]
pub fn schema_text(catalog: &Catalog) -> String {
    let mut text = String::from("namespace Framegate {\n");
    text.push_str(COMMON);
    let targets: BTreeSet<&str> = catalog.iter().map(|tool| tool.target()).collect();
    if !targets.is_empty() {
        let names: Vec<String> = targets.iter().map(|name| quoted(name)).collect();
        text.push_str("\n  // The targets that tools are bound to.\n");
        line(&mut text, format_args!("  entity Target enum [{}];", names.join(", ")));
        text.push_str("\n  // One action a tool. `claimed_client` is what the peer calls itself: anyone can claim any name.\n");
        text.push_str("  // `user` is the operating system user of this process.\n");
    }
    for tool in catalog.iter() {
        action(&mut text, tool);
    }
    text.push_str("}\n");
    text
}

fn action(text: &mut String, tool: &Tool) {
    line(text, format_args!("\n  action {} appliesTo {{", quoted(tool.name())));
    text.push_str("    principal: Client,\n    resource: Target,\n    context: {\n      arguments: {\n");
    for parameter in tool.parameters() {
        let optional = if parameter.is_always_present() { "" } else { "?" };
        let kind = attribute_type(parameter);
        line(text, format_args!("        {}{optional}: {kind},", quoted(parameter.name())));
    }
    text.push_str("      },\n      request: Request,\n      claimed_client?: String,\n      user: Long,\n    },\n  };\n");
}

fn attribute_type(parameter: &Parameter) -> String {
    match (parameter.shape(), parameter.item_shape()) {
        (Shape::List, Some(item)) => format!("Set<{}>", scalar_type(item)),
        (shape, _) => scalar_type(shape).to_owned(),
    }
}

const fn scalar_type(shape: Shape) -> &'static str {
    match shape {
        Shape::Boolean => "Bool",
        Shape::Integer => "Long",
        Shape::Decimal => "decimal",
        Shape::Path => "Path",
        Shape::ClosedText | Shape::Name | Shape::Url | Shape::FreeText | Shape::List => "String",
    }
}

/// A Cedar string literal of this text: Cedar takes the escapes that Rust writes.
pub(crate) fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn line(text: &mut String, arguments: core::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = text.write_fmt(arguments);
    text.push('\n');
}
