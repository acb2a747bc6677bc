//! Secrets: the type, its providers and the redactor.
