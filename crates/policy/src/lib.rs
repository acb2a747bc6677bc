//! Cedar behind the Policy trait of the gate.
