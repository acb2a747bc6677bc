//! Hostile frames as data, each with its twin, the door and the reason that must stop it.
