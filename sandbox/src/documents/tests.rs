//! What documents of each kind become, in this process; hostile ones go through workers
//! in `tests/documents.rs`.

use super::*;

#[test]
fn control_characters_are_taken_out() {
    let mut text = "a\r\nb\rc\u{1b}[31m\u{7}\td".to_owned();
    clean(&mut text);
    assert_eq!(text, "a\nb\nc[31m\td");
}

#[test]
fn a_long_text_is_cut_and_says_so() {
    let bytes = "汉".repeat(TEXT_LIMIT / 3 + 100).into_bytes();
    let got = document("a.txt", None, 1, bytes).unwrap();
    assert!(got.text.len() <= TEXT_LIMIT);
    assert!(got.notes[0].contains("is cut after"), "{:?}", got.notes);
}

#[test]
fn a_name_that_lies_is_noted() {
    let got = document("report.pdf", None, 1, b"<html><p>404 not found".into()).unwrap();
    assert_eq!(got.kind, "HTML");
    assert_eq!(got.notes, ["the name ends in `.pdf`, but the content is HTML"]);
}

#[test]
fn a_table_is_also_a_workbook() {
    let book = workbook("q.csv", "a;b\n1;\n\n;4\n".into(), &Part::default()).unwrap();
    let text = book.to_markdown();
    assert!(text.contains("| 1 | a | b |\n| 2 | 1 |  |\n| 3 |  | 4 |"), "{text}");
    let refused = workbook("a.txt", b"a note".into(), &Part::default()).unwrap_err().to_string();
    assert!(refused.contains("extract_document_content"), "{refused}");
}
