//! A tool as an operator declares it: plain data, not yet checked.
//!
//! Belongs here: what a configuration can say about a tool, and how a fault in it is named.
//! Does not belong here: reading files, compiling patterns, judging arguments.

use serde_json::Value;

use crate::action::Origin;

/// A declared tool.
#[derive(Clone, Debug)]
pub struct ToolDeclaration {
    /// `[a-z0-9_]{1,40}`, unique.
    pub name: String,
    /// A short title for people.
    pub title: Option<String>,
    /// What the tool does, for the agent.
    pub description: String,
    /// The parameters, in the order in which they are published.
    pub parameters: Vec<ParameterDeclaration>,
    /// Undeclared arguments that some clients add: accepted with any value and dropped.
    pub ignore_arguments: Vec<String>,
    /// The HTTP request that the tool performs.
    pub http: HttpDeclaration,
    /// What an agent sees of the answer.
    pub result: ResultDeclaration,
}

/// What an agent sees of an answer, as far as it is published.
#[derive(Clone, Debug, Default)]
pub struct ResultDeclaration {
    /// The names of the header fields that are shown, in lower case.
    pub headers: Vec<String>,
    /// The members that the shown body is made of; `None` shows the body as it is.
    pub selected: Option<Vec<String>>,
    /// The argument that asks for the rest of a long answer.
    pub cursor: Option<String>,
}

/// A declared parameter.
#[derive(Clone, Debug)]
pub struct ParameterDeclaration {
    /// `[A-Za-z][A-Za-z0-9_]{0,63}`, unique in its tool.
    pub name: String,
    /// What it means, for the agent.
    pub description: Option<String>,
    /// Its type and bounds.
    pub kind: ParameterType,
    /// Whether a call must give it. A parameter with a default is never required.
    pub required: bool,
    /// The value used when a call does not give it.
    pub default: Option<Value>,
}

/// A parameter's type with its bounds. Lengths are in bytes of UTF-8.
#[derive(Clone, Debug)]
pub enum ParameterType {
    /// One line of text in Unicode NFC: no control, format or line-separator characters.
    String {
        /// Least length; 0 by default.
        min_length: Option<usize>,
        /// Greatest length; 1,024 by default, at most 4,096.
        max_length: Option<usize>,
        /// A regular expression that must match the whole value.
        pattern: Option<String>,
    },
    /// `[A-Za-z0-9_][A-Za-z0-9_.~-]*`, never `.` or `..`: safe as a path segment or an argument.
    Word {
        /// Greatest length; 128 by default and at most.
        max_length: Option<usize>,
        /// A regular expression that must match the whole value.
        pattern: Option<String>,
    },
    /// A 64-bit signed integer, written without fraction or exponent.
    Int {
        /// Least value.
        min: Option<i64>,
        /// Greatest value.
        max: Option<i64>,
        /// Also accept the integer written as a string, as some models do; published as such.
        string_form: bool,
    },
    /// A decimal number with at most four fraction digits.
    Number {
        /// Least value, as JSON writes it.
        min: Option<String>,
        /// Greatest value, as JSON writes it.
        max: Option<String>,
    },
    /// `true` or `false`.
    Bool,
    /// One of these strings.
    Enum {
        /// The values; at least one, unique.
        values: Vec<String>,
    },
    /// A relative path of plain segments below a root that the template gives.
    Path {
        /// Greatest length; 1,024 by default and at most.
        max_length: Option<usize>,
    },
    /// An absolute path below one of the roots (lexically: a symbolic link can lead out).
    AbsPath {
        /// Roots such as `/var/log`; at least one.
        roots: Vec<String>,
        /// Greatest length; 1,024 by default and at most.
        max_length: Option<usize>,
    },
    /// A lower-case DNS name (RFC 1123).
    Host,
    /// An absolute URL in canonical form, without userinfo or fragment.
    Url {
        /// Allowed schemes; `https` by default.
        schemes: Vec<String>,
    },
    /// Text of several lines: line feed and tab are allowed, other control characters are not.
    Text {
        /// Greatest length; 4,096 by default, at most 1 MiB.
        max_length: Option<usize>,
    },
    /// Bytes, written in base64 (RFC 4648, 4): padded, and in the one spelling that these bytes have.
    Base64 {
        /// Greatest length of the text; 65,536 by default, at most 1 MiB.
        max_length: Option<usize>,
    },
    /// An absolute path of plain segments within one of the patterns: the open path of a tool.
    RequestPath {
        /// Patterns such as `/repos/{owner}/{repo}/**`; at least one.
        patterns: Vec<String>,
    },
    /// An object of query names and values: the open query of a tool.
    Query,
    /// Any JSON value: the open body of a tool. Rules see its digest only.
    Json,
    /// A list of scalar values.
    List {
        /// The type of each item; not a list.
        item: Box<ParameterType>,
        /// Least count; 0 by default.
        min_items: Option<usize>,
        /// Greatest count; 100 by default, at most 1,000.
        max_items: Option<usize>,
    },
}

/// A declared HTTP request. `{name}` inserts a parameter; `{{` and `}}` are literal braces.
#[derive(Clone, Debug)]
pub struct HttpDeclaration {
    /// The declared target's name.
    pub target: String,
    /// The target's pinned origin.
    pub origin: Origin,
    /// A method's token, or `{name}` of an enum parameter whose values are all methods.
    pub method: String,
    /// An absolute path, one parameter a segment: `/repos/{owner}/issues`. Or `{name}` of a request path.
    pub path: String,
    /// Query names (literal) and value templates.
    pub query: Vec<(String, String)>,
    /// The name of a query parameter, whose pairs follow the declared ones.
    pub open_query: Option<String>,
    /// Header names (literal) and value templates.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<BodyDeclaration>,
    /// Where the body of a successful answer is saved, instead of being shown.
    pub save: Option<SaveDeclaration>,
    /// The name of a word parameter that asks for the rest of a stored answer instead of a request.
    pub cursor: Option<String>,
    /// The declared targets, with their origins, that a redirect may lead to; none by default.
    pub redirects: Vec<(String, Origin)>,
    /// A header or query name that carries the target's credential: no template may set it.
    pub reserved_names: Vec<String>,
}

/// Where answers are saved.
#[derive(Clone, Debug)]
pub struct SaveDeclaration {
    /// The root, an absolute path.
    pub root: String,
    /// `{name}` of a path parameter: the file beneath the root.
    pub path: String,
}

/// A declared body. Its media type is literal, and so are the names in it.
#[derive(Clone, Debug)]
pub enum BodyDeclaration {
    /// `application/json`: a tree in which a string node `{name}` becomes the parameter's value in its own
    /// type, and a placeholder inside a longer string its text.
    Json(Value),
    /// The same under another media type, such as `application/merge-patch+json`.
    TypedJson {
        /// The media type.
        content_type: String,
        /// The tree.
        tree: Value,
    },
    /// `application/x-www-form-urlencoded`: names and value templates. A list repeats its name.
    Form(Vec<(String, String)>),
    /// Text.
    Text {
        /// The media type.
        content_type: String,
        /// The template.
        text: String,
    },
    /// Bytes.
    Binary {
        /// The media type.
        content_type: String,
        /// `{name}` of a base64 parameter.
        base64: String,
    },
    /// A file beneath a root, read when the request is sent.
    File {
        /// The media type.
        content_type: String,
        /// The root, an absolute path.
        root: String,
        /// `{name}` of a path parameter: the file beneath the root.
        path: String,
    },
}

/// A fault in a declaration, placed so that a configuration reader can point at it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct DeclarationFault {
    /// The keys that lead to the fault within the tool's table, such as `params`, `owner`, `pattern`.
    pub place: Vec<String>,
    /// What is wrong, in one lower-case line.
    pub problem: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl DeclarationFault {
    pub(super) fn new(place: &[&str], problem: impl Into<String>, hint: Option<&str>) -> Self {
        Self {
            place: place.iter().map(|key| (*key).to_owned()).collect(),
            problem: problem.into(),
            hint: hint.map(str::to_owned),
        }
    }
}
