//! Whole outputs, kept as snapshots: what changes in them is seen in the diff.

mod campaign;
mod conduct;
mod curves;
mod rubric;
mod run;
mod taken;
mod trial;
