//! From an action to a request.
//!
//! Belongs here: the request line, the fields, the body; built from parts, never joined from text.
//! Does not belong here: connections, answers.

use bytes::Bytes;
use framegate_gate::action::HttpAction;
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::uri::PathAndQuery;
use http::{Method, Request, Uri};
use http_body_util::Full;

use super::credential::{Credential, CredentialError};

/// Why no request can be built.
#[derive(Debug, thiserror::Error)]
pub(super) enum BuildError {
    #[error("the credential cannot be used: {0}")]
    Credential(#[from] CredentialError),
    #[error("the action does not make a request")]
    Parts,
}

/// What a request holds beside its action.
pub(super) struct Additions<'a> {
    /// The target's own headers.
    pub(super) literal: &'a [(String, String)],
    /// The name and value of the idempotency key.
    pub(super) idempotency: Option<(&'a str, HeaderValue)>,
    /// Whether the connection may be kept open after the answer.
    pub(super) keep_alive: bool,
    /// The content of the body, if it is a file.
    pub(super) file: Option<Bytes>,
}

/// Builds the request: the action's parts, the declared headers, those that hold the exchange together over them, the
/// credential last.
pub(super) fn build(
    action: &HttpAction,
    additions: Additions<'_>,
    credential: Option<&Credential<'_>>,
) -> Result<Request<Full<Bytes>>, BuildError> {
    let method = Method::from_bytes(action.method().name().as_bytes()).map_err(|_| BuildError::Parts)?;
    let target = action.path_and_query();
    let uri = Uri::builder().path_and_query(target.as_str()).build().map_err(|_| BuildError::Parts)?;
    // What is sent is what was judged: the request target is taken over byte for byte.
    if uri.path_and_query().map(PathAndQuery::as_str) != Some(target.as_str()) {
        return Err(BuildError::Parts);
    }
    let body = additions.file.or_else(|| action.body_bytes().map(Bytes::copy_from_slice));
    let mut request = Request::new(Full::new(body.unwrap_or_default()));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, HeaderValue::from_static("framegate"));
    if let Some(content_type) = action.content_type() {
        let content_type = HeaderValue::from_str(content_type).map_err(|_| BuildError::Parts)?;
        headers.insert(CONTENT_TYPE, content_type);
    }
    for (name, value) in additions.literal.iter().chain(action.headers()) {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| BuildError::Parts)?;
        let value = HeaderValue::from_str(value).map_err(|_| BuildError::Parts)?;
        headers.insert(name, value);
    }
    if let Some((name, value)) = additions.idempotency {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| BuildError::Parts)?;
        headers.insert(name, value);
    }
    let authority = HeaderValue::from_str(&action.origin().authority()).map_err(|_| BuildError::Parts)?;
    headers.insert(HOST, authority);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if !additions.keep_alive {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(credential) = credential {
        let (name, value) = credential.header()?;
        headers.insert(name, value);
    }
    Ok(request)
}
