//! Message to permit: protocol state, typed arguments, pure rendering, authorization. No I/O.
