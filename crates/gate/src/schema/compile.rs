//! From declaration to tool: everything that can be wrong with a declaration is found here, at load.
//!
//! Belongs here: names, references between template and parameters, which type may stand where.
//! Does not belong here: the bounds of single types (`bounds`), files, calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::bounds::compile_parameter;
use super::catalog::Tool;
use super::declaration::{BodyDeclaration, DeclarationFault, HttpDeclaration, ToolDeclaration};
use super::parameter::{Kind, Parameter};
use super::publish::{input_schema, output_schema};
use super::template::{
    BodySource, BodyTemplate, HttpTemplate, MethodTemplate, Piece, SegmentTemplate, TextTemplate,
};
use super::text::is_plain_segment;
use crate::action::Method;

/// Compiles a declaration.
pub(super) fn compile(declaration: ToolDeclaration) -> Result<Tool, Vec<DeclarationFault>> {
    let ToolDeclaration { name, title, description, parameters: declared, ignore_arguments, http, result } =
        declaration;
    let mut faults = Faults(Vec::new());
    if !is_tool_name(&name) {
        faults.add(
            &[],
            format!("`{}` is no tool name", name.escape_default()),
            Some("use 1 to 40 of a-z, 0-9 and `_`"),
        );
    }
    let mut parameters: Vec<Parameter> = Vec::new();
    for parameter in declared {
        let duplicate = parameters.iter().any(|other| other.name() == parameter.name);
        if duplicate {
            faults.add(&["params", &parameter.name], "the parameter is declared twice", None);
        }
        match compile_parameter(parameter) {
            Ok(parameter) => parameters.push(parameter),
            Err(found) => faults.0.extend(found),
        }
    }
    for ignored in &ignore_arguments {
        if parameters.iter().any(|parameter| parameter.name() == ignored) {
            faults.add(&["ignore_arguments"], format!("`{ignored}` is a declared parameter"), None);
        }
    }
    // A template is judged only against parameters that are all sound.
    if !faults.0.is_empty() {
        return Err(faults.0);
    }
    let template = Templates {
        parameters: &parameters,
        used: BTreeSet::new(),
        unreadable: false,
        faults: Faults(Vec::new()),
    }
    .compile(http)?;
    Ok(Tool {
        name: name.into(),
        title,
        description,
        input_schema: input_schema(&parameters),
        parameters,
        ignored: ignore_arguments,
        output_schema: output_schema(&result, &template),
        template,
    })
}

/// `[a-z0-9_]{1,40}`: what every known client shows unchanged (attack B8 of the threat model).
fn is_tool_name(name: &str) -> bool {
    (1..=40).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The media type of a body that says no other.
const JSON: &str = "application/json";

/// Faults found so far.
struct Faults(Vec<DeclarationFault>);

impl Faults {
    fn add(&mut self, place: &[&str], problem: impl Into<String>, hint: Option<&str>) {
        self.0.push(DeclarationFault::new(place, problem, hint));
    }
}

/// Compiles the templates of one tool against its parameters.
struct Templates<'a> {
    parameters: &'a [Parameter],
    used: BTreeSet<Arc<str>>,
    /// Whether a template could not be read, so that nobody knows which parameters it uses.
    unreadable: bool,
    faults: Faults,
}

impl Templates<'_> {
    fn compile(mut self, http: HttpDeclaration) -> Result<HttpTemplate, Vec<DeclarationFault>> {
        let method = self.method(&http.method);
        let path = self.path(&http.path);
        let query = self.pairs("query", &http.query, &http.reserved_names);
        let headers = self.pairs("headers", &http.headers, &http.reserved_names);
        let open_query = self.open_query(http.open_query.as_deref(), &http.reserved_names);
        let save = http.save.and_then(|save| {
            let is_path = |kind: &Kind| matches!(kind, Kind::Path { .. });
            let parameter = self.whole(&save.path, &["result", "save"], "path", is_path)?;
            Some((Arc::from(save.root), parameter))
        });
        let cursor = http.cursor.as_deref().and_then(|name| self.cursor(name));
        let body_place = http.body.as_ref().map(key_of);
        let body = http.body.and_then(|body| self.body(body, &http.reserved_names));
        let bodyless = method.as_ref().and_then(|method| self.bodyless(method));
        // A body that a call can leave out is refused with the call that gives it all the same.
        let optional =
            body.as_ref().and_then(BodySource::whole_parameter).is_some_and(|name| self.is_optional(name));
        let chosen = matches!(method, Some(MethodTemplate::Parameter { .. }));
        if let (Some(key), Some(method), false) = (body_place, bodyless, optional && chosen) {
            self.faults.add(
                &[key],
                format!("a {method} request carries no body"),
                Some("use query parameters, or another method"),
            );
        }
        for parameter in self.parameters {
            if !self.unreadable && !self.used.contains(parameter.name()) {
                let hint = format!(
                    "put `{{{}}}` into the path, query, headers or body, or remove it",
                    parameter.name()
                );
                self.faults.add(&["params", parameter.name()], "the parameter is used nowhere", Some(&hint));
            }
        }
        match (method, self.faults.0.is_empty()) {
            (Some(method), true) => Ok(HttpTemplate {
                target: http.target.into(),
                origin: http.origin,
                method,
                path,
                query,
                open_query,
                headers,
                body,
                cursor,
                save,
                redirects: http.redirects.into_iter().map(|(name, origin)| (name.into(), origin)).collect(),
            }),
            (Some(_) | None, _) => Err(self.faults.0),
        }
    }

    /// The declared parameter of this name; a fault at `place` if there is none.
    fn parameter(&mut self, name: &Arc<str>, place: &[&str]) -> Option<&'_ Parameter> {
        let parameter = self.parameters.iter().find(|parameter| parameter.name() == &**name);
        if parameter.is_some() {
            self.used.insert(Arc::clone(name));
        } else {
            let hint = format!("declare it under `params.{name}`");
            self.faults.add(place, format!("`{{{name}}}` is no parameter of this tool"), Some(&hint));
        }
        parameter
    }

    fn method(&mut self, text: &str) -> Option<MethodTemplate> {
        const HINT: &str =
            "use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, or `{name}` of an enum of them";
        let place = ["method"];
        let template = self.text(text, &place)?;
        let Some(name) = template.whole_parameter().cloned() else {
            let method = Method::from_name(text);
            if method.is_none() {
                self.faults.add(
                    &place,
                    format!("`{}` is no method that can be declared", text.escape_default()),
                    Some(HINT),
                );
            }
            return method.map(MethodTemplate::Literal);
        };
        let parameter = self.parameter(&name, &place)?;
        let methods = methods(&parameter.kind).filter(|_| parameter.is_always_present());
        let Some(methods) = methods else {
            self.faults.add(
                &place,
                format!("`{name}` must be a required enum whose values are all methods"),
                Some(HINT),
            );
            return None;
        };
        Some(MethodTemplate::Parameter { name, safe: methods.into_iter().all(Method::is_safe) })
    }

    /// A method that the tool can use and that carries no body (RFC 9110, 9.3.1 and 9.3.2).
    fn bodyless(&self, method: &MethodTemplate) -> Option<Method> {
        let carries_none = |method: &Method| matches!(method, Method::Get | Method::Head);
        match method {
            MethodTemplate::Literal(method) => Some(*method).filter(carries_none),
            MethodTemplate::Parameter { name, .. } => {
                let parameter = self.parameters.iter().find(|parameter| parameter.name() == &**name)?;
                methods(&parameter.kind)?.into_iter().find(carries_none)
            }
        }
    }

    fn text(&mut self, text: &str, place: &[&str]) -> Option<TextTemplate> {
        match TextTemplate::read(text) {
            Ok(template) => Some(template),
            Err(problem) => {
                self.unreadable = true;
                self.faults.add(place, problem, None);
                None
            }
        }
    }

    fn is_optional(&self, name: &str) -> bool {
        let parameter = self.parameters.iter().find(|parameter| parameter.name() == name);
        parameter.is_some_and(|parameter| !parameter.is_always_present())
    }

    fn cursor(&mut self, name: &str) -> Option<Arc<str>> {
        let name = Arc::from(name);
        let parameter = self.parameter(&name, &["result", "cursor"])?;
        let fits = matches!(parameter.kind, Kind::Word { .. }) && !parameter.is_always_present();
        if !fits {
            self.faults.add(&["result", "cursor"], format!("`{name}` must be an optional word"), None);
        }
        fits.then_some(name)
    }

    fn open_query(&mut self, name: Option<&str>, reserved: &[String]) -> Option<(Arc<str>, Vec<String>)> {
        let name = Arc::from(name?);
        let parameter = self.parameter(&name, &["query"])?;
        if !matches!(parameter.kind, Kind::Query) {
            self.faults.add(&["query"], format!("`{name}` is no query parameter"), None);
            return None;
        }
        Some((name, reserved.iter().map(|name| fold(name)).collect()))
    }

    fn path(&mut self, text: &str) -> Vec<SegmentTemplate> {
        let place = ["path"];
        if let Some(name) = TextTemplate::read(text).ok().as_ref().and_then(TextTemplate::whole_parameter) {
            let parameter = self.parameter(name, &place);
            if parameter.is_some_and(|parameter| {
                matches!(parameter.kind, Kind::RequestPath { .. }) && parameter.is_always_present()
            }) {
                return vec![SegmentTemplate::Request(Arc::clone(name))];
            }
        }
        let Some(relative) = text.strip_prefix('/') else {
            self.unreadable = true;
            self.faults.add(&place, "the path must begin with `/`", None);
            return Vec::new();
        };
        let mut segments = Vec::new();
        let mut parts = relative.split('/').peekable();
        while let Some(part) = parts.next() {
            // Only the last segment may be empty: a path that ends in `/`.
            if part.is_empty() && parts.peek().is_some() {
                self.faults.add(&place, "the path has an empty segment", Some("write single slashes"));
            } else if let Some(template) = self.text(part, &place) {
                segments.extend(self.segment(template, &place));
            }
        }
        segments
    }

    fn segment(&mut self, template: TextTemplate, place: &[&str]) -> Option<SegmentTemplate> {
        let literal = match template.0.as_slice() {
            [] => Some(String::new()),
            [Piece::Literal(text)] => Some(text.clone()),
            _ => None,
        };
        if let Some(text) = literal {
            if !text.is_empty() && !is_plain_segment(&text) {
                self.faults.add(
                    place,
                    format!("`{}` cannot be a path segment", text.escape_default()),
                    Some("write the segment decoded, without `% ; \\ ? #` and dot segments"),
                );
            }
            return Some(SegmentTemplate::Literal(text));
        }
        let names: Vec<_> = template.parameters().cloned().collect();
        if names.len() > 1 {
            self.used.extend(names);
            self.faults.add(
                place,
                "a path segment holds one parameter at most",
                Some("two parameters in one segment are ambiguous to policy"),
            );
            return None;
        }
        let alone = template.whole_parameter().is_some();
        for name in &names {
            let parameter = self.parameter(name, place)?;
            let present = parameter.is_always_present();
            let fits = match &parameter.kind {
                Kind::Word { .. } | Kind::Int { .. } | Kind::Host => true,
                Kind::Enum { values } => values.iter().all(|value| is_plain_segment(value)),
                Kind::String { pattern, .. } => alone && pattern.is_some(),
                Kind::Path { .. } => alone,
                Kind::Number { .. }
                | Kind::Bool
                | Kind::AbsPath { .. }
                | Kind::Url { .. }
                | Kind::Text { .. }
                | Kind::Base64 { .. }
                | Kind::RequestPath { .. }
                | Kind::Query
                | Kind::Json
                | Kind::List { .. } => false,
            };
            let is_path = matches!(&parameter.kind, Kind::Path { .. });
            if !fits {
                self.faults.add(place, format!("`{name}` has a type that cannot stand in this path segment"), Some("use word, int, host or enum, or a string with a pattern or a path as a segment of its own"));
            } else if !present {
                self.faults.add(
                    place,
                    format!("`{name}` is optional, and a path needs it"),
                    Some("make it required or give it a default"),
                );
            } else if is_path {
                return Some(SegmentTemplate::Path(Arc::clone(name)));
            }
        }
        Some(SegmentTemplate::Text(template))
    }

    fn pairs(
        &mut self,
        table: &str,
        pairs: &[(String, String)],
        reserved: &[String],
    ) -> Vec<(String, TextTemplate)> {
        let mut compiled = Vec::new();
        for (name, text) in pairs {
            let place = [table, name.as_str()];
            if reserved.iter().any(|reserved| fold(reserved) == fold(name)) {
                self.faults.add(
                    &place,
                    format!("`{}` carries the target's credential", name.escape_default()),
                    Some("remove it: the gateway sets it"),
                );
            }
            let Some(template) = self.text(text, &place) else {
                continue;
            };
            self.placeholders(&template, &place, table != "headers");
            compiled.push((name.clone(), template));
        }
        compiled
    }

    fn body(&mut self, declared: BodyDeclaration, reserved: &[String]) -> Option<BodySource> {
        match declared {
            BodyDeclaration::Json(tree) => {
                let tree = self.json(&tree, &["body"])?;
                Some(BodySource::Json { content_type: JSON.into(), tree })
            }
            BodyDeclaration::TypedJson { content_type, tree } => {
                let tree = self.json(&tree, &["raw", "json"])?;
                Some(BodySource::Json { content_type: content_type.into(), tree })
            }
            BodyDeclaration::Form(pairs) => Some(BodySource::Form(self.pairs("form", &pairs, reserved))),
            BodyDeclaration::Text { content_type, text } => {
                let place = ["raw", "text"];
                let text = self.text(&text, &place)?;
                self.placeholders(&text, &place, false);
                Some(BodySource::Text { content_type: content_type.into(), text })
            }
            BodyDeclaration::Binary { content_type, base64 } => {
                let is_base64 = |kind: &Kind| matches!(kind, Kind::Base64 { .. });
                let parameter = self.whole(&base64, &["raw", "base64"], "base64", is_base64)?;
                Some(BodySource::Binary { content_type: content_type.into(), parameter })
            }
            BodyDeclaration::File { content_type, root, path } => {
                let is_path = |kind: &Kind| matches!(kind, Kind::Path { .. });
                let parameter = self.whole(&path, &["raw", "file"], "path", is_path)?;
                Some(BodySource::File { content_type: content_type.into(), root: root.into(), parameter })
            }
        }
    }

    /// The one parameter of a kind that a text must be.
    fn whole(&mut self, text: &str, place: &[&str], kind: &str, fits: fn(&Kind) -> bool) -> Option<Arc<str>> {
        let template = self.text(text, place)?;
        if let Some(name) = template.whole_parameter() {
            // An undeclared one is a fault already.
            let parameter = self.parameter(name, place)?;
            if fits(&parameter.kind) {
                return Some(Arc::clone(name));
            }
        }
        let hint = format!("write `{{name}}` of a parameter of type `{kind}`");
        self.faults.add(place, format!("this is one {kind} parameter and nothing else"), Some(&hint));
        None
    }

    fn json(&mut self, tree: &serde_json::Value, place: &[&str]) -> Option<BodyTemplate> {
        match BodyTemplate::read(tree) {
            Ok(body) => {
                let mut texts = Vec::new();
                let mut root: Vec<_> = place.iter().map(|key| (*key).to_owned()).collect();
                body.visit_texts(&mut root, &mut |place, text| texts.push((place.to_vec(), text)));
                for (place, text) in texts {
                    let place: Vec<_> = place.iter().map(String::as_str).collect();
                    self.placeholders(text, &place, true);
                }
                Some(body)
            }
            Err((below, problem)) => {
                self.unreadable = true;
                let place: Vec<_> = place.iter().copied().chain(below.iter().map(String::as_str)).collect();
                self.faults.add(&place, problem, None);
                None
            }
        }
    }

    /// Checks the placeholders of a text: known, not optional inside longer text, no list inside text.
    fn placeholders(&mut self, template: &TextTemplate, place: &[&str], lists: bool) {
        let alone = template.whole_parameter().is_some();
        let names: Vec<_> = template.parameters().cloned().collect();
        for name in names {
            let Some(parameter) = self.parameter(&name, place) else {
                continue;
            };
            let present = parameter.is_always_present();
            let is_list = matches!(parameter.kind, Kind::List { .. });
            let is_open = matches!(parameter.kind, Kind::Query | Kind::RequestPath { .. } | Kind::Json);
            if is_open && !(alone && place == ["body"] && matches!(parameter.kind, Kind::Json)) {
                self.faults.add(
                    place,
                    format!("`{name}` is an open parameter, which cannot stand here"),
                    None,
                );
                continue;
            }
            if !present && !alone {
                self.faults.add(
                    place,
                    format!("`{name}` is optional inside longer text"),
                    Some("make it required, give it a default, or let it stand alone"),
                );
            }
            if is_list && !(alone && lists) {
                self.faults.add(
                    place,
                    format!("`{name}` is a list and must stand alone in a query value or body node"),
                    None,
                );
            }
        }
    }
}

/// The key that a body is declared under.
const fn key_of(body: &BodyDeclaration) -> &'static str {
    match body {
        BodyDeclaration::Json(_) => "body",
        BodyDeclaration::Form(_) => "form",
        BodyDeclaration::TypedJson { .. }
        | BodyDeclaration::Text { .. }
        | BodyDeclaration::Binary { .. }
        | BodyDeclaration::File { .. } => "raw",
    }
}

/// The values of an enum, if all of them are methods.
fn methods(kind: &Kind) -> Option<Vec<Method>> {
    match kind {
        Kind::Enum { values } => values.iter().map(|value| Method::from_name(value)).collect(),
        Kind::String { .. }
        | Kind::Word { .. }
        | Kind::Int { .. }
        | Kind::Number { .. }
        | Kind::Bool
        | Kind::Path { .. }
        | Kind::AbsPath { .. }
        | Kind::Host
        | Kind::Url { .. }
        | Kind::Text { .. }
        | Kind::Base64 { .. }
        | Kind::RequestPath { .. }
        | Kind::Query
        | Kind::Json
        | Kind::List { .. } => None,
    }
}

/// Names that some servers read as one: without regard to case, `-`, `_`, `.` and space.
pub(super) fn fold(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '_', '.', ' ', '+'], "_")
}
