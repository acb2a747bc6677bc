//! The schema room from its door: declarations in, checked calls or refusals out.
//!
//! Belongs here: how the tests of this room declare tools and put calls to them.
//! Does not belong here: sessions, policy.

mod arguments;
mod bodies;
mod faults;
mod open;
mod published;
mod redirects;
mod rendering;
mod types;

use std::sync::Arc;

use framegate_wire::json::Parser;
use framegate_wire::message::{self, Revision};
use framegate_wire::{Limits, Reason};
use serde_json::{Value, json};

use super::{
    BodyDeclaration, Catalog, Checked, DeclarationFault, HttpDeclaration, ParameterDeclaration,
    ParameterType, ResultDeclaration, SchemaRefusal, ToolDeclaration, check,
};
use crate::action::{Action, HttpAction, Origin, Scheme};
use crate::authorization::Principal;
use crate::protocol::{Admission, ProtocolOptions, State};

fn required(name: &str, kind: ParameterType) -> ParameterDeclaration {
    ParameterDeclaration { name: name.to_owned(), description: None, kind, required: true, default: None }
}

fn optional(name: &str, kind: ParameterType) -> ParameterDeclaration {
    ParameterDeclaration { required: false, ..required(name, kind) }
}

fn with_default(name: &str, kind: ParameterType, default: Value) -> ParameterDeclaration {
    ParameterDeclaration { default: Some(default), ..optional(name, kind) }
}

fn word() -> ParameterType {
    ParameterType::Word { max_length: None, pattern: None }
}

fn int() -> ParameterType {
    ParameterType::Int { min: None, max: None, string_form: false }
}

fn text() -> ParameterType {
    ParameterType::Text { max_length: None }
}

fn string(pattern: Option<&str>) -> ParameterType {
    ParameterType::String { min_length: None, max_length: None, pattern: pattern.map(str::to_owned) }
}

fn path() -> ParameterType {
    ParameterType::Path { max_length: None }
}

fn options(values: &[&str]) -> ParameterType {
    ParameterType::Enum { values: values.iter().map(|value| (*value).to_owned()).collect() }
}

fn list(item: ParameterType) -> ParameterType {
    ParameterType::List { item: Box::new(item), min_items: None, max_items: None }
}

/// `POST https://t.test/`, with these parameters and nothing that uses them.
fn bare(parameters: Vec<ParameterDeclaration>) -> ToolDeclaration {
    ToolDeclaration {
        name: "tool".to_owned(),
        title: None,
        description: "does".to_owned(),
        parameters,
        ignore_arguments: Vec::new(),
        result: ResultDeclaration::default(),
        http: HttpDeclaration {
            target: "t".to_owned(),
            origin: Origin::new(Scheme::Https, "t.test".into(), 443),
            method: "POST".to_owned(),
            path: "/".to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            open_query: None,
            cursor: None,
            save: None,
            redirects: Vec::new(),
            body: None,
            reserved_names: Vec::new(),
        },
    }
}

/// A tool whose body holds each parameter as a node of its own type.
fn in_body(parameters: Vec<ParameterDeclaration>) -> ToolDeclaration {
    let nodes =
        parameters.iter().map(|parameter| (parameter.name.clone(), json!(format!("{{{}}}", parameter.name))));
    let body = Value::Object(nodes.collect());
    let mut tool = bare(parameters);
    tool.http.body = Some(BodyDeclaration::Json(body));
    tool
}

fn catalog(tool: ToolDeclaration) -> Arc<Catalog> {
    Arc::new(Catalog::compile(vec![tool]).unwrap())
}

fn compile_faults(tool: ToolDeclaration) -> Vec<DeclarationFault> {
    let found = Catalog::compile(vec![tool]).map(|_| ()).unwrap_err();
    found.into_iter().map(|(_, fault)| fault).collect()
}

/// Calls the tool with these arguments, as JSON text.
fn call(catalog: &Arc<Catalog>, arguments: &str) -> Result<Checked, SchemaRefusal> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"tool","arguments":{arguments},"_meta":{meta}}}}}"#
    );
    let limits = Limits::default();
    let mut parser = Parser::new(&limits);
    let document = parser.parse_text(&line).unwrap_or_else(|refusal| panic!("{refusal:?}: {line}"));
    let options = ProtocolOptions {
        limits: limits.clone(),
        revisions: Revision::ALL.to_vec(),
        max_used_ids: 10,
        principal: Arc::new(Principal::new("client".to_owned(), 1)),
        server_version: "0",
        instructions: None,
    };
    let incoming = message::read(&document, false, &limits).unwrap();
    match State::new(options, Arc::clone(catalog)).admit(incoming) {
        Ok(Admission::Call(admitted)) => check(admitted, catalog),
        other => panic!("not admitted: {other:?}"),
    }
}

fn reason(catalog: &Arc<Catalog>, arguments: &str) -> Reason {
    match call(catalog, arguments) {
        Ok(checked) => panic!("accepted: {:?}", checked.call()),
        Err(refused) => refused.refusal().reason(),
    }
}

fn explanation(catalog: &Arc<Catalog>, arguments: &str) -> String {
    call(catalog, arguments).map(|_| ()).unwrap_err().explanation().to_owned()
}

fn action(catalog: &Arc<Catalog>, arguments: &str) -> HttpAction {
    match call(catalog, arguments).unwrap().call().action() {
        Action::Http(action) => action.clone(),
    }
}
