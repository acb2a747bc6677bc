//! A catalog of tools to write rules over.

use std::sync::Arc;

use framegate_gate::action::{Origin, Scheme};
use framegate_gate::schema::{
    BodyDeclaration, Catalog, HttpDeclaration, ParameterDeclaration, ParameterType, ResultDeclaration,
    ToolDeclaration,
};
use framegate_policy::{Allow, CedarPolicy, Place, PolicyFault, Sources};

pub(crate) fn parameter(name: &str, kind: ParameterType, required: bool) -> ParameterDeclaration {
    ParameterDeclaration { name: name.to_owned(), description: None, kind, required, default: None }
}

pub(crate) fn string() -> ParameterType {
    ParameterType::String { min_length: None, max_length: None, pattern: None }
}

pub(crate) fn word() -> ParameterType {
    ParameterType::Word { max_length: None, pattern: None }
}

pub(crate) fn integer() -> ParameterType {
    ParameterType::Int { min: None, max: None, string_form: false }
}

pub(crate) fn number() -> ParameterType {
    ParameterType::Number { min: None, max: None }
}

pub(crate) fn values(values: &[&str]) -> ParameterType {
    ParameterType::Enum { values: values.iter().map(|value| (*value).to_owned()).collect() }
}

pub(crate) fn list(item: ParameterType) -> ParameterType {
    ParameterType::List { item: Box::new(item), min_items: None, max_items: None }
}

/// A tool whose every parameter goes into the query, but for those that the path or body names.
pub(crate) fn tool(
    name: &str,
    target: &str,
    method: &str,
    path: &str,
    parameters: Vec<ParameterDeclaration>,
) -> ToolDeclaration {
    let query = parameters
        .iter()
        .filter(|parameter| !path.contains(&format!("{{{}}}", parameter.name)))
        .filter(|parameter| !matches!(parameter.kind, ParameterType::List { .. }))
        .map(|parameter| (parameter.name.clone(), format!("{{{}}}", parameter.name)))
        .collect();
    let lists: serde_json::Map<String, serde_json::Value> = parameters
        .iter()
        .filter(|parameter| matches!(parameter.kind, ParameterType::List { .. }))
        .map(|parameter| (parameter.name.clone(), format!("{{{}}}", parameter.name).into()))
        .collect();
    ToolDeclaration {
        name: name.to_owned(),
        title: None,
        description: "a tool".to_owned(),
        parameters,
        ignore_arguments: Vec::new(),
        result: ResultDeclaration::default(),
        http: HttpDeclaration {
            target: target.to_owned(),
            origin: Origin::new(Scheme::Https, Arc::from("api.example.test"), 443),
            method: method.to_owned(),
            path: path.to_owned(),
            query,
            headers: Vec::new(),
            open_query: None,
            cursor: None,
            save: None,
            redirects: Vec::new(),
            body: (!lists.is_empty()).then(|| BodyDeclaration::Json(lists.into())),
            reserved_names: Vec::new(),
        },
    }
}

pub(crate) fn catalog(tools: Vec<ToolDeclaration>) -> Catalog {
    Catalog::compile(tools).unwrap_or_else(|faults| panic!("the tools of a test compile: {faults:?}"))
}

/// Three tools over two targets: `read_file` (GET), `deploy` (POST), `pay` (POST, on `bank`).
pub(crate) fn three_tools() -> Catalog {
    catalog(vec![
        tool(
            "read_file",
            "forge",
            "GET",
            "/files/{file}",
            vec![
                parameter("file", ParameterType::Path { max_length: None }, true),
                parameter("revision", word(), false),
            ],
        ),
        tool(
            "deploy",
            "forge",
            "POST",
            "/deploy",
            vec![
                parameter("env", string(), true),
                parameter("stage", values(&["dev", "test", "prod"]), true),
                parameter("owner", word(), true),
                parameter(
                    "branch",
                    ParameterType::Word { max_length: None, pattern: Some("[a-z-]+".to_owned()) },
                    false,
                ),
                parameter("hook", ParameterType::Url { schemes: vec!["https".to_owned()] }, false),
                parameter("force", ParameterType::Bool, false),
                parameter("labels", list(word()), false),
                parameter("paths", list(ParameterType::Path { max_length: None }), false),
            ],
        ),
        tool(
            "pay",
            "bank",
            "POST",
            "/pay",
            vec![
                parameter("amount", number(), true),
                parameter("count", integer(), true),
                parameter("note", string(), false),
            ],
        ),
    ])
}

pub(crate) fn sources(text: &str, allows: &[(&str, Allow)]) -> Sources {
    Sources {
        files: vec![("policy.cedar".to_owned(), text.to_owned())],
        allows: allows.iter().map(|(tool, allow)| ((*tool).to_owned(), *allow)).collect(),
    }
}

pub(crate) fn compile(text: &str, allows: &[(&str, Allow)]) -> Result<CedarPolicy, Vec<PolicyFault>> {
    CedarPolicy::compile(sources(text, allows), &three_tools())
}

/// The faults of a text that must have some.
pub(crate) fn faults(text: &str, allows: &[(&str, Allow)]) -> Vec<PolicyFault> {
    match compile(text, allows) {
        Ok(_) => panic!("accepted: {text}"),
        Err(faults) => faults,
    }
}

/// The text that a fault points at.
pub(crate) fn marked(text: &str, fault: &PolicyFault) -> String {
    match &fault.place {
        Place::Allow { .. } | Place::Schema => panic!("not in a file: {fault}"),
        Place::File { line, column, length, .. } => {
            text.lines().nth(line - 1).unwrap().chars().skip(column - 1).take(*length).collect()
        }
    }
}
