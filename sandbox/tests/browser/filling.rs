//! Filling inputs of every kind.

use wildgym_sandbox::browser::Action;

use crate::stage::{Server, Stage, html, run};

const FORM: &str = r#"<form onsubmit="document.title='sent';return false">
  <input aria-label=Text value="before" id=t> <input aria-label=Short maxlength=3>
  <input aria-label=Secret type=password> <textarea aria-label=Area>old</textarea>
  <div aria-label=Rich contenteditable>old <b>bold</b></div>
  <input aria-label=Day type=date min=2026-01-01> <input aria-label=Clock type=time>
  <input aria-label=Month type=month> <input aria-label=Week type=week>
  <input aria-label=Moment type=datetime-local> <input aria-label=Colour type=color>
  <input aria-label=Level type=range min=0 max=50 step=5> <input aria-label=Count type=number min=1 max=9>
  <select aria-label=Land><option value=no>Norway<option value=se>Sweden<option disabled>Atlantis<option value=q>Quote "X"</select>
  <select aria-label=Many multiple><option>One<option>Two<option>Three, four</select>
  <input aria-label=Yes type=checkbox> <input aria-label=R1 type=radio name=r><input aria-label=R2 type=radio name=r>
  <input aria-label=Fixed readonly value=f> <input aria-label=Off disabled> <button>Send</button>
  <input aria-label=Stubborn type=checkbox onclick="return false">
  <input aria-label=Doc type=file> <input aria-label=Docs type=file multiple>
</form>
<script>
  window.log = [];
  for (const kind of ['beforeinput', 'input', 'change']) addEventListener(kind, (e) => log.push(kind + ' ' + (e.target.ariaLabel || e.target.getAttribute('aria-label'))), true);
</script>"#;

async fn form() -> (Server, Stage) {
    let server = Server::start([("/", html(FORM))]).await;
    let stage = Stage::at(&server.url("/")).await;
    (server, stage)
}

/// What is there is replaced, in any script, and the page hears of it as of typing.
#[test]
fn text_replaces_text_in_any_script() {
    run(async {
        let (_server, mut stage) = form().await;
        let texts = [
            "plain",
            "it's \"quoted\", <b>&amp;",
            "你好，世界",
            "مرحبا بالعالم",
            "👩‍👩‍👧 emoji 🎉",
            "a\\nb ${x} `y`",
        ];
        for text in texts {
            for (field, script) in [
                ("Text", "t.value"),
                ("Area", "document.querySelector('textarea').value"),
                ("Rich", "document.querySelector('[contenteditable]').innerText"),
            ] {
                stage.fill(field, text).await;
                assert_eq!(stage.page_says(script).await, text, "{field}");
            }
        }
        stage.fill("Area", "two\nlines\n").await;
        assert_eq!(
            stage.page_says("document.querySelector('textarea').value").await,
            "two\nlines\n"
        );
        let log = stage.page_says("[...new Set(log)].join()").await;
        for event in ["beforeinput Text", "input Text", "change Text", "input Rich", "change Area"]
        {
            assert!(log.as_str().unwrap().contains(event), "{event}: {log}");
        }
        stage.fill("Text", "").await;
        assert_eq!(stage.page_says("t.value").await, "");
        stage.fill("Short", "abcdef").await;
        assert!(stage.seen.feedback.contains("it holds `abc` now"), "{}", stage.seen.feedback);
        stage.fill("Secret", "hunter2").await;
        assert!(!stage.seen.to_text().contains("hunter2"), "a password is not repeated");
        assert_eq!(stage.seen.title, "", "Enter is not pressed by itself");
        stage.fill("Text", "with Enter\n").await;
        assert_eq!(stage.seen.title, "sent", "but where the text asks for it");
        stage.close().await;
    });
}

/// Inputs with a format of their own take it and nothing else, and say which.
#[test]
fn formats_are_kept_and_told() {
    run(async {
        let (_server, mut stage) = form().await;
        let good = [
            ("Day", "2026-03-09", "2026-03-09"),
            ("Clock", "14:05", "14:05"),
            ("Month", "2026-03", "2026-03"),
            ("Week", "2026-W11", "2026-W11"),
            ("Moment", "2026-03-09T14:05", "2026-03-09T14:05"),
            ("Colour", "#FF8800", "#ff8800"),
            ("Level", "35", "35"),
            ("Count", "7", "7"),
            ("Land", "Sweden", "Sweden"),
            ("Land", "no", "Norway"),
            ("Land", "quote \"x\"", "Quote \"X\""),
            ("Many", "One, Two", "One, Two"),
            ("Many", "[\"Three, four\"]", "Three, four"),
            ("Many", "Three, four", "Three, four"),
        ];
        for (field, text, want) in good {
            stage.fill(field, text).await;
            assert_eq!(stage.element(field).value.as_deref(), Some(want), "{field} {text}");
        }
        let bad = [
            ("Day", "09/03/2026", "a date as YYYY-MM-DD, such as 2026-03-09"),
            ("Day", "2026-02-31", "YYYY-MM-DD"),
            ("Day", "2025-12-31", "nothing before 2026-01-01"),
            ("Clock", "2 PM", "HH:MM, 24 hours"),
            ("Month", "March", "YYYY-MM"),
            ("Week", "11", "YYYY-Www"),
            ("Moment", "2026-03-09", "YYYY-MM-DDTHH:MM"),
            ("Colour", "red", "#rrggbb"),
            ("Level", "51", "from 0 to 50"),
            ("Level", "33", "steps of 5"),
            ("Level", "loud", "takes a number"),
            ("Count", "many", "takes a number"),
            ("Count", "10", "from 1 to 9"),
            ("Land", "Narnia", "no option \"Narnia\"; it has \"Norway\", \"Sweden\""),
            ("Land", "Atlantis", "is disabled"),
            ("Many", "One; Five", "no option \"Five\""),
            ("Yes", "perhaps", "give `true` or `false`"),
            ("R1", "false", "another of its group"),
            ("Stubborn", "true", "did not let it be checked"),
            ("Fixed", "x", "it can only be read"),
            ("Off", "x", "it is disabled"),
            ("Send", "x", "it is a button; click it"),
        ];
        for (field, text, word) in bad {
            let before = stage.element(field).value.clone();
            let id = stage.id(field);
            let why = stage.refused(Action::FillInputId { id, text: text.into() }).await;
            assert!(why.contains(word), "{field} {text}: {why}");
            stage.look().await;
            assert_eq!(stage.element(field).value, before, "{field} keeps what it held");
        }
        let why = stage.refused(Action::FillInputId { id: 500, text: "x".into() }).await;
        assert!(why.contains("no element [500]"), "{why}");
        stage.close().await;
    });
}

#[test]
fn boxes_are_checked_as_wanted() {
    run(async {
        let (_server, mut stage) = form().await;
        for (field, text, state) in [
            ("Yes", "true", "checked"),
            ("Yes", "on", "checked"),
            ("Yes", "false", "unchecked"),
            ("R2", "true", "checked"),
            ("R1", "yes", "checked"),
        ] {
            stage.fill(field, text).await;
            assert_eq!(
                stage.element(field).states[0],
                state,
                "{field} {text}: {}",
                stage.seen.feedback
            );
        }
        assert_eq!(stage.element("R2").states[0], "unchecked");
        stage.close().await;
    });
}

/// Only files of the workspace go out, and what is in the way is said.
#[test]
fn files_come_from_the_workspace_only() {
    run(async {
        let (_server, mut stage) = form().await;
        stage.put("in/report.txt", "words".as_bytes());
        stage.put("b.txt", b"b");
        std::os::unix::fs::symlink("/etc/passwd", stage.folder.join("link")).unwrap();
        stage.fill("Doc", "in/report.txt").await;
        assert_eq!(stage.element("Doc").value.as_deref(), Some("report.txt"));
        let read = stage.page_says("document.querySelector('[type=file]').files[0].text()").await;
        assert_eq!(read, "words");
        stage.fill("Docs", "in/report.txt\nb.txt").await;
        assert_eq!(stage.element("Docs").value.as_deref(), Some("report.txt, b.txt"));
        let table = [
            ("Doc", "/etc/passwd", "outside the workspace"),
            ("Doc", "../../etc/passwd", "outside the workspace"),
            ("Doc", "link", "not a regular file"),
            ("Doc", "in", "not a regular file"),
            ("Doc", "none.txt", "there is no file"),
            ("Doc", "b.txt\nin/report.txt", "at most 1 file"),
            ("Doc", "", "takes a file"),
        ];
        for (field, path, word) in table {
            let id = stage.id(field);
            let why = stage.refused(Action::FillInputId { id, text: path.into() }).await;
            assert!(why.contains(word), "{path}: {why}");
        }
        stage.close().await;
    });
}

/// What is attached is what arrives when the form is sent.
#[test]
fn an_attached_file_arrives() {
    run(async {
        let page = "<form method=post action=/up enctype=multipart/form-data><input type=file name=f aria-label=File><button>Send</button></form>";
        let server = Server::start([("/", html(page)), ("/up", html("<h1>Thanks</h1>"))]).await;
        let mut stage = Stage::at(&server.url("/")).await;
        stage.put("数据/表.csv", "海,7\n".as_bytes());
        stage.fill("File", "数据/表.csv").await;
        stage.click("Send").await;
        assert!(stage.seen.text.contains("Thanks"), "{}", stage.seen.to_text());
        let sent = server.requests().into_iter().find(|one| one.starts_with("POST /up")).unwrap();
        assert!(sent.contains("filename=\"表.csv\"") && sent.contains("海,7"), "{sent}");
        stage.close().await;
    });
}
