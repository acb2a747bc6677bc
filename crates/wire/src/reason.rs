//! Every reason for which Framegate refuses input: one enum, one table.
//!
//! Belongs here: the reason, its stable kebab-case code, the door that gives it, the JSON-RPC error
//! code of its reply, whether it ends the session, the requirement it serves.
//! Does not belong here: how a refusal is detected, worded for a peer, or recorded.
//!
//! Each reason has a page in `docs/reasons/` and at least one frame in the corpus; `cargo xtask reasons`
//! checks both.

use core::fmt;

/// The door at which input was stopped, in the order in which input meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Door {
    /// One bounded UTF-8 line.
    Frame,
    /// RFC 8259 with unique names.
    Json,
    /// The closed JSON-RPC envelope.
    Message,
    /// Legal now, in this revision and era.
    Protocol,
    /// Declared argument types and pure rendering.
    Schema,
    /// The policy's verdict.
    Authorization,
    /// The intent on disk, and a free slot to perform it.
    Record,
}

impl Door {
    /// All doors, in order.
    pub const ALL: [Self; 7] = [
        Self::Frame,
        Self::Json,
        Self::Message,
        Self::Protocol,
        Self::Schema,
        Self::Authorization,
        Self::Record,
    ];

    /// The stable name used in replies, records and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Json => "json",
            Self::Message => "message",
            Self::Protocol => "protocol",
            Self::Schema => "schema",
            Self::Authorization => "authorization",
            Self::Record => "record",
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a refusal does to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Closing {
    /// Framing is lost: the session ends under every profile.
    Always,
    /// Ends the session under `on_invalid_frame = "close"`, goes on under `"continue"`.
    ByProfile,
    /// The session goes on.
    Never,
}

/// JSON-RPC: invalid JSON was received.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: the JSON is not a valid request object.
pub const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: the method does not exist.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC: invalid method parameters.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: internal error.
pub const INTERNAL_ERROR: i32 = -32603;
/// MCP 2026-07-28: unsupported protocol version.
pub const UNSUPPORTED_PROTOCOL_VERSION: i32 = -32022;

macro_rules! reasons {
    ($( $(#[doc = $doc:literal])+ $variant:ident = $code:literal, $door:ident, $rpc:ident, $closing:ident, $requirement:literal; )+) => {
        /// Why input was refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl Reason {
            /// Every reason, in the order of the doors.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The stable kebab-case code used in replies, records, documents and the corpus.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $( Self::$variant => $code, )+ }
            }

            /// The door that gives this reason.
            #[must_use]
            pub const fn door(self) -> Door {
                match self { $( Self::$variant => Door::$door, )+ }
            }

            /// The JSON-RPC error code of the reply, where one is sent.
            #[must_use]
            pub const fn rpc_code(self) -> i32 {
                match self { $( Self::$variant => $rpc, )+ }
            }

            /// What this refusal does to the session.
            #[must_use]
            pub const fn closing(self) -> Closing {
                match self { $( Self::$variant => Closing::$closing, )+ }
            }

            /// The requirement (`requirements/`) that this reason serves.
            #[must_use]
            pub const fn requirement(self) -> &'static str {
                match self { $( Self::$variant => $requirement, )+ }
            }

            /// One sentence saying what was wrong, without any byte of the input.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $( Self::$variant => concat!($($doc),+).trim_ascii(), )+ }
            }
        }
    };
}

reasons! {
    // frame
    /// the line is longer than the frame limit
    FrameTooLong = "frame-too-long", Frame, PARSE_ERROR, ByProfile, "H-35";
    /// the input ended before the line did
    FrameUnterminated = "frame-unterminated", Frame, PARSE_ERROR, Always, "X-04";
    /// the line is not valid UTF-8
    FrameNotUtf8 = "frame-not-utf8", Frame, PARSE_ERROR, ByProfile, "H-26";
    /// the line begins with a byte order mark
    FrameByteOrderMark = "frame-byte-order-mark", Frame, PARSE_ERROR, ByProfile, "H-25";
    /// the line is empty or holds only blanks
    FrameBlank = "frame-blank", Frame, PARSE_ERROR, ByProfile, "H-07";
    /// the line holds a raw control byte
    FrameControlByte = "frame-control-byte", Frame, PARSE_ERROR, ByProfile, "H-29";
    /// the line holds a carriage return that does not end it
    FrameCarriageReturn = "frame-carriage-return", Frame, PARSE_ERROR, ByProfile, "H-05";
    /// the peer sends Content-Length headers: another framing
    FramingContentLength = "framing-content-length", Frame, PARSE_ERROR, Always, "F-01";
    /// the peer sends an HTTP request
    FramingHttp = "framing-http", Frame, PARSE_ERROR, Always, "F-02";
    /// the peer sends a TLS hello
    FramingTls = "framing-tls", Frame, PARSE_ERROR, Always, "F-03";

    // json
    /// the line ends inside a string: a raw newline cut the frame
    FramingNewlineInString = "framing-newline-in-string", Json, PARSE_ERROR, Always, "F-04";
    /// the line does not begin with a JSON value
    JsonNoise = "json-noise", Json, PARSE_ERROR, ByProfile, "H-01";
    /// the JSON text breaks the grammar
    JsonSyntax = "json-syntax", Json, PARSE_ERROR, ByProfile, "H-03";
    /// the JSON text ends too early
    JsonTruncated = "json-truncated", Json, PARSE_ERROR, ByProfile, "H-02";
    /// something follows the JSON value on the same line
    JsonTrailingData = "json-trailing-data", Json, PARSE_ERROR, ByProfile, "H-04";
    /// a string holds an escape that JSON does not have
    JsonEscape = "json-escape", Json, PARSE_ERROR, ByProfile, "H-28";
    /// a string holds half of a surrogate pair
    JsonLoneSurrogate = "json-lone-surrogate", Json, PARSE_ERROR, ByProfile, "H-27";
    /// a number is not written as JSON writes numbers
    JsonNumberSyntax = "json-number-syntax", Json, PARSE_ERROR, ByProfile, "H-32";
    /// a number does not fit 64 bits or a double
    JsonNumberRange = "json-number-range", Json, PARSE_ERROR, ByProfile, "H-33";
    /// a member name occurs twice in one object
    JsonDuplicateMember = "json-duplicate-member", Json, PARSE_ERROR, ByProfile, "H-18";
    /// values are nested deeper than the limit
    JsonDepth = "json-depth", Json, PARSE_ERROR, ByProfile, "H-34";
    /// an object or array has more members than the limit
    JsonMembers = "json-members", Json, PARSE_ERROR, ByProfile, "H-36";
    /// the document has more values than the limit
    JsonNodes = "json-nodes", Json, PARSE_ERROR, ByProfile, "H-37";

    // message
    /// the JSON value is not an object
    MessageNotObject = "message-not-object", Message, INVALID_REQUEST, ByProfile, "H-08";
    /// an array is not a message in this revision
    MessageBatch = "message-batch", Message, INVALID_REQUEST, ByProfile, "H-09";
    /// the envelope holds a member that JSON-RPC does not define
    MessageUnknownMember = "message-unknown-member", Message, INVALID_REQUEST, ByProfile, "H-17";
    /// `jsonrpc` is missing or is not the string 2.0
    MessageVersion = "message-version", Message, INVALID_REQUEST, ByProfile, "H-10";
    /// `id` is neither a string nor an integer of 64 bits
    MessageId = "message-id", Message, INVALID_REQUEST, ByProfile, "H-11";
    /// `id` is longer than the limit
    MessageIdTooLong = "message-id-too-long", Message, INVALID_REQUEST, ByProfile, "H-12";
    /// `method` is not a string
    MessageMethod = "message-method", Message, INVALID_REQUEST, ByProfile, "H-14";
    /// the message is a request and a response at once
    MessageMixed = "message-mixed", Message, INVALID_REQUEST, ByProfile, "H-20";
    /// the message is neither a request, a notification nor a response
    MessageKind = "message-kind", Message, INVALID_REQUEST, ByProfile, "H-16";
    /// the response is malformed
    MessageResponse = "message-response", Message, INVALID_REQUEST, ByProfile, "H-21";
    /// `params` is not an object
    MessageParams = "message-params", Message, INVALID_PARAMS, Never, "H-22";
    /// `tools/call` without an `id`
    CallWithoutId = "call-without-id", Message, INVALID_REQUEST, ByProfile, "H-13";
    /// `params` of `tools/call` is missing or not an object
    CallParams = "call-params", Message, INVALID_PARAMS, ByProfile, "H-23";
    /// `name` of `tools/call` is missing or not a string
    CallName = "call-name", Message, INVALID_PARAMS, ByProfile, "T-05";
    /// `arguments` of `tools/call` is not an object
    CallArguments = "call-arguments", Message, INVALID_PARAMS, ByProfile, "H-24";

    // protocol
    /// the method does not exist here
    MethodUnknown = "method-unknown", Protocol, METHOD_NOT_FOUND, Never, "H-15";
    /// a notification's method was sent with an `id`
    NotificationWithId = "notification-with-id", Protocol, INVALID_REQUEST, Never, "P-01";
    /// one frame claims both the handshake era and the stateless era
    EraBoth = "era-both", Protocol, INVALID_REQUEST, Never, "P-02";
    /// this session already uses the other era
    EraConflict = "era-conflict", Protocol, INVALID_REQUEST, Never, "P-03";
    /// the protocol version asked for is not served
    VersionUnsupported = "version-unsupported", Protocol, UNSUPPORTED_PROTOCOL_VERSION, Never, "M-06";
    /// `_meta` lacks a required member or holds one of the wrong type
    MetaMissing = "meta-missing", Protocol, INVALID_PARAMS, Never, "M-04";
    /// the session is not initialized yet
    NotInitialized = "not-initialized", Protocol, INVALID_REQUEST, Never, "L-08";
    /// `notifications/initialized` has not been received yet
    NotReady = "not-ready", Protocol, INVALID_REQUEST, Never, "L-09";
    /// the session is initialized already
    InitializedAlready = "initialized-already", Protocol, INVALID_REQUEST, Never, "L-10";
    /// the parameters of this method are malformed
    ParamsMalformed = "params-malformed", Protocol, INVALID_PARAMS, Never, "L-07";
    /// the cursor is not one that was given out
    CursorUnknown = "cursor-unknown", Protocol, INVALID_PARAMS, Never, "T-11";
    /// `params` of `tools/call` holds a member that the revision does not define
    CallUnknownMember = "call-unknown-member", Protocol, INVALID_PARAMS, Never, "P-04";
    /// `inputResponses` or `requestState` answer a question that was never asked
    CallNotAsked = "call-not-asked", Protocol, INVALID_PARAMS, Never, "M-14";
    /// a request with this `id` is still being served
    IdInFlight = "id-in-flight", Protocol, INVALID_REQUEST, Never, "H-38";
    /// this `id` was used before in this session
    IdUsed = "id-used", Protocol, INVALID_REQUEST, Never, "P-05";
    /// the session has used as many ids as it can remember
    IdsExhausted = "ids-exhausted", Protocol, INVALID_REQUEST, Never, "P-06";
    /// a batch cannot hold this method
    BatchMethod = "batch-method", Protocol, INVALID_REQUEST, Never, "L-14";
    /// the batch is empty
    BatchEmpty = "batch-empty", Protocol, INVALID_REQUEST, Never, "L-13";
    /// the batch has more members than the limit
    BatchTooLong = "batch-too-long", Protocol, INVALID_REQUEST, Never, "P-07";
    /// two members of the batch share an `id`
    BatchIds = "batch-ids", Protocol, INVALID_REQUEST, Never, "P-08";
    /// the session has reached its limit of refused frames
    RefusalLimit = "refusal-limit", Protocol, INVALID_REQUEST, Always, "P-09";

    // schema
    /// no tool of this name is declared
    ToolUnknown = "tool-unknown", Schema, INVALID_PARAMS, Never, "T-04";
    /// an argument is not declared
    ArgumentUnknown = "argument-unknown", Schema, INVALID_PARAMS, Never, "T-06";
    /// a required argument is missing
    ArgumentMissing = "argument-missing", Schema, INVALID_PARAMS, Never, "T-06";
    /// an argument has the wrong type
    ArgumentType = "argument-type", Schema, INVALID_PARAMS, Never, "T-06";
    /// an argument is out of its bounds
    ArgumentBounds = "argument-bounds", Schema, INVALID_PARAMS, Never, "T-06";
    /// an argument does not match its pattern
    ArgumentPattern = "argument-pattern", Schema, INVALID_PARAMS, Never, "T-06";
    /// an argument is not one of the declared values
    ArgumentEnum = "argument-enum", Schema, INVALID_PARAMS, Never, "T-06";
    /// an argument holds a character that its type does not allow
    ArgumentCharacter = "argument-character", Schema, INVALID_PARAMS, Never, "H-30";
    /// the rendered action does not keep the shape of its template
    RenderShape = "render-shape", Schema, INVALID_PARAMS, Never, "A-01";

    // authorization
    /// no rule allows this action
    PolicyNoRule = "policy-no-rule", Authorization, INVALID_REQUEST, Never, "A-02";
    /// a rule forbids this action
    PolicyForbid = "policy-forbid", Authorization, INVALID_REQUEST, Never, "A-03";
    /// a rule could not be evaluated, which denies
    PolicyError = "policy-error", Authorization, INVALID_REQUEST, Never, "A-04";

    // record
    /// too many calls are waiting
    Busy = "busy", Record, INTERNAL_ERROR, Never, "A-05";
    /// the permission expired before a slot was free
    PermitExpired = "permit-expired", Record, INTERNAL_ERROR, Never, "A-06";
    /// the journal cannot record the intent
    JournalUnavailable = "journal-unavailable", Record, INTERNAL_ERROR, Never, "A-07";
}

impl Reason {
    /// The reason with this code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.code() == code)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_unique_and_kebab_case() {
        let codes: BTreeSet<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), Reason::ALL.len());
        for code in codes {
            assert!(
                code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
                "{code}"
            );
            assert_eq!(Reason::from_code(code).map(Reason::code), Some(code));
        }
    }

    #[test]
    fn reasons_stand_in_the_order_of_the_doors() {
        assert!(Reason::ALL.is_sorted_by_key(|reason| reason.door()));
    }

    #[test]
    fn one_door_has_one_parse_code() {
        for reason in Reason::ALL {
            let parse = matches!(reason.door(), Door::Frame | Door::Json);
            assert_eq!(parse, reason.rpc_code() == PARSE_ERROR, "{reason}");
        }
    }
}
