//! Tests of the workspace as its users see it; hostile cases are in `tests/containment`.
