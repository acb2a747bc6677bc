//! Where a line ends, how long it may be, and that it is UTF-8.
