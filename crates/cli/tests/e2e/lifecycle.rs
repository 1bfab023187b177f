//! However the server ends, nothing of it is left.
