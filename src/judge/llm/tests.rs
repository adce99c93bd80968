//! Tests of the judge with a model.
