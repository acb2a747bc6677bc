//! framegate mcp: configuration, ownership of stdio, the pump and the executors.

pub mod net;
