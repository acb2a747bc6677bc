//! What the mock server lets pass: names of queries and members that a description does not know, and other
//! media types than it names. A misspelt optional member would otherwise look like one that was accepted.
//!
//! Belongs here: reading the reduced description for names. Does not belong here: types and required members,
//! which the mock server judges.

use std::collections::BTreeSet;
use std::path::Path;

use framegate_e2e::target::Request;
use serde_json::Value;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// A description, reduced to the operations in use (OpenAPI 3.0).
#[derive(Debug)]
pub struct Description(Value);

impl Description {
    /// Reads one.
    pub fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).expect("a description");
        Self(serde_json::from_str(&text).expect("a description"))
    }

    /// Every operation, such as `GET /items/{id}`.
    pub fn operations(&self) -> BTreeSet<String> {
        let paths = self.0["paths"].as_object().expect("paths");
        paths
            .iter()
            .flat_map(|(path, item)| {
                let methods = METHODS.iter().filter(|method| item.get(**method).is_some());
                methods.map(move |method| format!("{} {path}", method.to_uppercase()))
            })
            .collect()
    }

    /// The operation that a request is of, and everything in the request that it has no name for.
    pub fn judge(&self, request: &Request) -> (String, Vec<String>) {
        let line = request.line();
        let [method, target, _] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let template = self.template(method, path).unwrap_or_else(|| panic!("no operation for {line}"));
        let item = &self.0["paths"][template];
        let operation = &item[method.to_lowercase()];

        let mut unknown = Vec::new();
        let both = [&item["parameters"], &operation["parameters"]];
        let known: BTreeSet<&str> = both
            .iter()
            .flat_map(|list| list.as_array().into_iter().flatten())
            .map(|parameter| self.resolve(parameter))
            .filter(|parameter| parameter["in"] == "query")
            .filter_map(|parameter| parameter["name"].as_str())
            .collect();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let name = decoded(pair.split('=').next().unwrap_or_default());
            if !known.contains(name.as_str()) {
                unknown.push(format!("query {name}"));
            }
        }
        if !request.body().is_empty() {
            let sent = request.header("content-type").unwrap_or_default();
            let essence = sent.split(';').next().unwrap_or_default().trim();
            let content = &self.resolve(&operation["requestBody"])["content"];
            match content.get(essence).or_else(|| content.get("*/*")) {
                None => unknown.push(format!("media type {sent}")),
                Some(media) => {
                    let body = match essence {
                        "application/x-www-form-urlencoded" => names_of_form(request.body()),
                        _ => serde_json::from_slice(request.body()).expect("JSON"),
                    };
                    unknown.extend(self.members(&media["schema"], &body, "body"));
                }
            }
        }
        (format!("{method} {template}"), unknown)
    }

    fn template(&self, method: &str, path: &str) -> Option<&str> {
        let fits = |template: &str| {
            template.split('/').count() == path.split('/').count()
                && template
                    .split('/')
                    .zip(path.split('/'))
                    .all(|(one, other)| one == other || one.starts_with('{'))
        };
        let paths = self.0["paths"].as_object()?;
        let mut fitting = paths
            .iter()
            .filter(|(template, item)| item.get(method.to_lowercase()).is_some() && fits(template));
        fitting.next().map(|(template, _)| template.as_str())
    }

    fn resolve<'a>(&'a self, node: &'a Value) -> &'a Value {
        let Some(reference) = node["$ref"].as_str() else { return node };
        let pointer = reference.strip_prefix('#').expect("a reference within the description");
        self.resolve(self.0.pointer(pointer).expect("a reference to something"))
    }

    /// A schema and all that it is composed of.
    fn parts<'a>(&'a self, schema: &'a Value) -> Vec<&'a Value> {
        let schema = self.resolve(schema);
        let mut parts = vec![schema];
        for word in ["allOf", "anyOf", "oneOf"] {
            for part in schema[word].as_array().into_iter().flatten() {
                parts.extend(self.parts(part));
            }
        }
        parts
    }

    /// The places in `value` whose names no part of the schema knows.
    fn members(&self, schema: &Value, value: &Value, place: &str) -> Vec<String> {
        let parts = self.parts(schema);
        match value {
            Value::Object(object) => {
                let closed = parts.iter().any(|part| part["properties"].is_object());
                let others: Vec<&Value> =
                    parts.iter().filter_map(|part| part.get("additionalProperties")).collect();
                let open = !closed || others.iter().any(|other| **other != Value::Bool(false));
                let mut found = Vec::new();
                for (name, member) in object {
                    let place = format!("{place}.{name}");
                    let mut known: Vec<&Value> =
                        parts.iter().filter_map(|part| part["properties"].get(name)).collect();
                    if known.is_empty() {
                        if !open {
                            found.push(place);
                            continue;
                        }
                        known.clone_from(&others);
                    }
                    // Of several schemas for one name, the value fits one.
                    let each = known.iter().map(|schema| self.members(schema, member, &place));
                    found.extend(each.min_by_key(Vec::len).unwrap_or_default());
                }
                found
            }
            Value::Array(items) => {
                let schemas: Vec<&Value> = parts.iter().filter_map(|part| part.get("items")).collect();
                let each = items.iter().enumerate().map(|(index, item)| {
                    let place = format!("{place}.{index}");
                    let each = schemas.iter().map(|schema| self.members(schema, item, &place));
                    each.min_by_key(Vec::len).unwrap_or_default()
                });
                each.flatten().collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        }
    }
}

/// A form as an object of its names: their values are the mock server's to judge.
fn names_of_form(body: &[u8]) -> Value {
    let text = std::str::from_utf8(body).expect("a form is ASCII");
    let names = text.split('&').map(|pair| decoded(pair.split('=').next().unwrap_or_default()));
    names.map(|name| (name, Value::Null)).collect()
}

/// Without percent-encoding.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        let code = (first == b'%').then(|| others.get(..2)).flatten();
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &others[2..] } else { others };
    }
    String::from_utf8(bytes).expect("UTF-8")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judge(line: &str, body: &str) -> (String, Vec<String>) {
        let closed = json!({ "properties": { "name": {}, "tags": { "items": { "$ref": "#/components/schemas/Tag" } } } });
        let description = Description(json!({
            "paths": { "/items/{id}": {
                "parameters": [{ "$ref": "#/components/parameters/Page" }],
                "get": { "parameters": [{ "in": "query", "name": "sort" }, { "in": "header", "name": "h" }] },
                "patch": { "requestBody": { "content": { "application/json": { "schema": { "oneOf": [
                    closed, { "properties": { "labels": { "additionalProperties": { "type": "string" }, "properties": {} } } },
                ] } } } } },
            } },
            "components": {
                "parameters": { "Page": { "in": "query", "name": "page" } },
                "schemas": { "Tag": { "properties": { "key": {} } } },
            },
        }));
        assert_eq!(
            description.operations().into_iter().collect::<Vec<_>>(),
            ["GET /items/{id}", "PATCH /items/{id}"]
        );
        let head = format!("{line} HTTP/1.1\r\ncontent-type: application/json\r\n\r\n");
        description.judge(&Request { raw: format!("{head}{body}").into_bytes(), body_at: head.len() })
    }

    #[test]
    fn what_a_description_has_no_name_for_is_found() {
        let (operation, unknown) = judge("GET /items/7?page=2&sort=a&sorted=b&h=1", "");
        assert_eq!(
            (operation.as_str(), unknown),
            ("GET /items/{id}", vec!["query sorted".into(), "query h".into()])
        );
        let good = r#"{"name":"a","tags":[{"key":1}],"labels":{"any":"thing"}}"#;
        assert_eq!(judge("PATCH /items/7", good).1, Vec::<String>::new());
        let wrong = r#"{"nam":"a","tags":[{"key":1},{"kye":1}]}"#;
        assert_eq!(judge("PATCH /items/7", wrong).1, ["body.nam", "body.tags.1.kye"]);
        assert_eq!(judge("GET /items/7?%70age=2&%3Cpage=2", "").1, ["query <page"]);
        assert_eq!(names_of_form(b"a%3E=1&b=&b=2"), json!({ "a>": null, "b": null }));
        assert_eq!(judge("GET /items/7", "{}").1, ["media type application/json"]);
    }
}
