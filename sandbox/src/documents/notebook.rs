//! Notebooks (Jupyter, formats 3 and 4): the cells in order, with what they put out.
//!
//! Each cell stands under a mark with its number, code in a fence. Pictures are named
//! with their sizes, never written out. What Markdown or HTML a result has wins over its
//! plain form, since tables survive in it.

use std::fmt::Write;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::Document;
use crate::html::to_markdown;

/// Reads a notebook; nothing where the JSON is none.
pub(super) fn read(text: &str) -> Option<Document> {
    let book: Value = serde_json::from_str(text).ok()?;
    book.get("nbformat")?.as_u64()?;
    // Format 3 has its cells in worksheets.
    let sheets = book.get("worksheets").and_then(Value::as_array);
    let cells: Vec<&Value> = match sheets {
        Some(sheets) => sheets.iter().flat_map(|sheet| list(sheet, "cells")).collect(),
        None => list(&book, "cells").collect(),
    };
    let metadata = &book["metadata"];
    let language = metadata["language_info"]["name"]
        .as_str()
        .or_else(|| metadata["kernelspec"]["language"].as_str())
        .unwrap_or("python");
    let mut out = String::new();
    let mut code = 0;
    for (number, cell) in (1..).zip(&cells) {
        code += usize::from(cell["cell_type"] == "code");
        write_cell(&mut out, number, cell, language);
    }
    let mut notes = vec![format!("{} cells, {code} of them code", cells.len())];
    if let Some(kernel) = metadata["kernelspec"]["display_name"].as_str() {
        notes.push(format!("kernel `{kernel}`"));
    }
    let version = metadata["language_info"]["version"].as_str().unwrap_or_default();
    notes.push(format!("language {language} {version}").trim_end().to_owned());
    if let Some(title) = metadata["title"].as_str() {
        notes.push(format!("title: {title}"));
    }
    Some(Document { kind: "Jupyter notebook".into(), text: out.trim().to_owned(), notes })
}

fn write_cell(out: &mut String, number: usize, cell: &Value, language: &str) {
    let kind = cell["cell_type"].as_str().unwrap_or("unknown");
    let count = cell["execution_count"].as_u64().or_else(|| cell["prompt_number"].as_u64());
    let run = count.map(|count| format!(", run as [{count}]")).unwrap_or_default();
    let _ = write!(out, "\n\n## Cell {number}: {kind}{run}\n\n");
    let source = joined(if cell["source"].is_null() { &cell["input"] } else { &cell["source"] });
    match kind {
        "code" => fence(out, language, &source),
        "heading" => {
            let level = cell["level"].as_u64().unwrap_or(1).clamp(1, 6);
            out.extend((0..level).map(|_| '#').chain([' ']));
            out.push_str(&source);
        }
        _ => out.push_str(&without_data(&source)),
    }
    for name in cell["attachments"].as_object().into_iter().flat_map(|files| files.keys()) {
        let _ = write!(out, "\n\n(attached: `{name}`, not shown)");
    }
    for output in list(cell, "outputs") {
        write_output(out, output);
    }
}

fn write_output(out: &mut String, output: &Value) {
    match output["output_type"].as_str().unwrap_or_default() {
        "stream" => {
            let name = output["name"].as_str().or_else(|| output["stream"].as_str());
            let text = joined(&output["text"]);
            let _ = write!(out, "\n\nOutput ({}):\n\n", name.unwrap_or("stdout"));
            fence(out, "", &without_colours(&text));
        }
        "error" | "pyerr" => {
            let name = output["ename"].as_str().unwrap_or("error");
            let value = output["evalue"].as_str().unwrap_or_default();
            let _ = write!(out, "\n\nError: {name}: {value}\n\n");
            let trace: Vec<String> =
                list(output, "traceback").filter_map(Value::as_str).map(without_colours).collect();
            if !trace.is_empty() {
                fence(out, "", &trace.join("\n"));
            }
        }
        _ => {
            // Format 3 keeps the forms of a result beside its type.
            let forms = if output["data"].is_object() { &output["data"] } else { output };
            out.push_str("\n\nResult:\n\n");
            write_result(out, forms);
        }
    }
}

/// Writes the form of a result that reads best, and names the pictures.
fn write_result(out: &mut String, forms: &Value) {
    let form = |names: &[&str]| {
        let found = names.iter().map(|name| joined(&forms[*name]));
        found.into_iter().find(|text| !text.trim().is_empty())
    };
    let html = form(&["text/html", "html"]).filter(|html| html.contains("<table"));
    if let Some(text) = form(&["text/markdown"]) {
        out.push_str(&without_data(&text));
    } else if let Some(text) = html.and_then(|html| to_markdown(&html)) {
        out.push_str(&without_data(text.trim()));
    } else if let Some(text) = form(&["text/plain", "text", "text/latex", "latex"]) {
        fence(out, "", &without_colours(&text));
    } else if let Some(value) = forms.get("application/json") {
        fence(out, "json", &value.to_string());
    } else if let Some(text) = form(&["text/html", "html"]) {
        out.push_str(&without_data(&to_markdown(&text).unwrap_or_default()));
    }
    for (kind, data) in forms.as_object().into_iter().flatten() {
        if kind.starts_with("image/") || matches!(kind.as_str(), "png" | "jpeg" | "svg") {
            let _ = write!(
                out,
                "\n\n(a picture, {kind}, {} characters, not shown)",
                joined(data).len()
            );
        }
    }
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// Joins what may be one text or a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// Writes a fence that is longer than any in the text.
fn fence(out: &mut String, language: &str, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(3.max(longest + 1));
    out.extend([&marks, language, "\n", text.trim_end_matches('\n'), "\n", &marks]);
}

/// Takes out the colours of terminals.
fn without_colours(text: &str) -> String {
    static COLOUR: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\x1b\[[0-9;?]*[A-Za-z]").ok());
    COLOUR.as_ref().map_or_else(|| text.to_owned(), |it| it.replace_all(text, "").into_owned())
}

/// Shortens files that are written into a text.
pub(super) fn without_data(text: &str) -> String {
    static DATA: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"data:([a-zA-Z0-9.+-]+/[a-zA-Z0-9.+-]+)((?:;[a-zA-Z0-9=-]+)*),[A-Za-z0-9+/=%_.-]{32,}",
        )
        .ok()
    });
    DATA.as_ref()
        .map_or_else(|| text.to_owned(), |it| it.replace_all(text, "data:$1$2...").into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_stand_in_order_with_what_they_put_out() {
        let picture = "iVBOR".repeat(40);
        let book = json!({
            "nbformat": 4, "nbformat_minor": 5,
            "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python"},
                "language_info": {"name": "python", "version": "3.12.1"}},
            "cells": [
                {"cell_type": "markdown", "source": ["# Tides\n", "of the north"]},
                {"cell_type": "code", "execution_count": 3, "source": "print('```')", "outputs": [
                    {"output_type": "stream", "name": "stderr", "text": ["\u{1b}[31mhigh\u{1b}[0m\n"]},
                    {"output_type": "execute_result", "data": {
                        "text/plain": "   m\n0  4.2",
                        "text/html": "<table><tr><th>m</th></tr><tr><td>4.2</td></tr></table>"}},
                    {"output_type": "display_data", "data": {
                        "text/plain": "<Figure>", "image/png": picture}},
                    {"output_type": "error", "ename": "KeyError", "evalue": "'x'",
                        "traceback": ["\u{1b}[0;31mKeyError\u{1b}[0m: 'x'"]}]},
                {"cell_type": "markdown",
                    "source": format!("![p](data:image/png;base64,{picture})")}
            ]
        });
        let got = read(&book.to_string()).unwrap();
        assert_eq!(
            got.notes,
            ["3 cells, 1 of them code", "kernel `Python 3`", "language python 3.12.1"]
        );
        for want in [
            "## Cell 1: markdown\n\n# Tides\nof the north",
            "## Cell 2: code, run as [3]\n\n````python\nprint('```')\n````",
            "Output (stderr):\n\n```\nhigh\n```",
            "| m   |",
            "(a picture, image/png, 200 characters, not shown)",
            "Error: KeyError: 'x'\n\n```\nKeyError: 'x'\n```",
            "![p](data:image/png;base64...)",
        ] {
            assert!(got.text.contains(want), "{want} in {}", got.text);
        }
        assert!(!got.text.contains("iVBORiVBOR"), "pictures are not written out");
        assert!(read("{\"cells\": []}").is_none(), "no notebook without its format");
    }

    #[test]
    fn the_old_format_is_read_too() {
        let book = json!({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [
            {"cell_type": "heading", "level": 2, "source": "Old"},
            {"cell_type": "code", "input": "1+1", "prompt_number": 1,
                "outputs": [{"output_type": "pyout", "text": "2"}]}]}]});
        let text = read(&book.to_string()).unwrap().text;
        for want in ["## Old", "```python\n1+1\n```", "Result:\n\n```\n2\n```"] {
            assert!(text.contains(want), "{want} in {text}");
        }
    }
}
