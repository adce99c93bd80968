//! What files of each kind become, and what their members are.

use std::collections::BTreeMap;
use wildgym_sandbox::documents::Part;

use crate::making::{
    DRAWING, FEED, all, bzipped, drawn, gzipped, notebook, pdf, seven, seven_locked, tarred, xlsx,
    xzipped, zipped,
};
use crate::workers;

#[tokio::test]
async fn every_kind_is_read_and_named() {
    let workers = workers();
    let kinds: BTreeMap<String, String> = {
        let mut kinds = BTreeMap::new();
        for (name, bytes) in all() {
            let document = workers.document(&name, None, bytes).await.unwrap();
            assert!(!document.text.is_empty(), "{name} gives text");
            kinds.insert(name, document.kind);
        }
        kinds
    };
    let table = [
        ("a.zip", "ZIP archive"),
        ("a.tar", "tar archive"),
        ("a.tar.gz", "gzip archive"),
        ("a.csv.gz", "CSV in a gzip archive"),
        ("a.csv.bz2", "CSV in a bzip2 archive"),
        ("a.csv.xz", "CSV in a xz archive"),
        ("a.7z", "7z archive"),
        ("a.ipynb", "Jupyter notebook"),
        ("a.rss", "RSS feed"),
        ("a.svg", "SVG drawing"),
        ("a.xml", "XML"),
        ("a.jsonl", "JSON lines"),
        ("a.srt", "SubRip captions"),
        ("a.vtt", "WebVTT captions"),
        ("a.yaml", "YAML"),
        ("a.toml", "TOML"),
        ("a.log", "log"),
        ("a.pdf", "PDF"),
    ];
    for (name, want) in table {
        assert_eq!(kinds[name], want, "{name}");
    }
}

#[tokio::test]
async fn archives_list_members_and_read_documents() {
    let workers = workers();
    let inner = tarred(&[("deep/feed.xml", FEED.as_bytes()), ("d.svg", DRAWING.as_bytes())]);
    let picture = b"\x89PNG\r\n\x1a\n....".as_slice();
    let archive = zipped(&[
        ("inbox/1.ipynb", &notebook()),
        ("fees.csv", b"fee,berth\n12,3\n7,4\n"),
        ("in.tar.gz", &gzipped(&inner)),
        ("../../climbs.txt", b"only a name"),
        ("photo.png", picture),
        ("nothing.txt", b""),
        ("__MACOSX/fees.csv", b"x"),
    ]);
    let got = workers.document("mail.zip", None, archive.clone()).await.unwrap();
    for want in [
        "| `inbox/1.ipynb` |",
        "| `in.tar.gz!/deep/feed.xml` |",
        "## Member `fees.csv`: CSV",
        "## Member `in.tar.gz!/deep/feed.xml`: RSS feed",
        "## Member `../../climbs.txt`: text",
        "only a name",
        "not read: it is an image",
        "not read: the file is empty",
        "left by a system, not read",
        "2026-02-02",
    ] {
        assert!(got.text.contains(want), "{want} is missing in {}", got.text);
    }
    let table = [
        ("fees.csv", Ok("fee,berth\n12,3\n7,4\n")),
        ("./in.tar.gz!/deep/feed.xml", Ok(FEED)),
        ("../../climbs.txt", Ok("only a name")),
        ("fees.tsv", Err("`fees.tsv` is no member of it; it holds `fees.csv`,")),
        ("inbox", Err("`inbox` is a folder in it; it holds `inbox/1.ipynb`")),
        ("fees.csv!/x", Err("is no archive, so it has no member `x`")),
        ("a!/b!/c!/d!/e!/f", Err("nest deeper than 5")),
    ];
    for (path, want) in table {
        let got = workers.member("mail.zip", path, archive.clone()).await;
        match want {
            Ok(text) => assert_eq!(got.unwrap(), text.as_bytes(), "{path}"),
            Err(reason) => {
                let error = got.unwrap_err().to_string();
                assert!(error.contains(reason), "{path}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn packed_tables_are_tables() {
    let workers = workers();
    let csv = b"fee,berth\n12,3\n".as_slice();
    for (name, bytes) in
        [("fees.csv.gz", gzipped(csv)), ("fees.csv.bz2", bzipped(csv)), ("fees.csv.xz", xzipped())]
    {
        let document = workers.document(name, None, bytes.clone()).await.unwrap();
        assert_eq!(document.text.as_bytes(), csv, "{name}");
        let book = workers.workbook(name, bytes, Part::default()).await.unwrap().to_markdown();
        assert!(book.contains("| 2 | 12 | 3 |"), "{name}: {book}");
    }
    let error = workers
        .workbook("a.zip", zipped(&[("b.xlsx", &xlsx())]), Part::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("name the workbook in it"), "{error}");
}

#[tokio::test]
async fn what_is_locked_or_broken_is_listed_with_its_reason() {
    let workers = workers();
    let got = workers.document("a.7z", None, seven()).await.unwrap().text;
    assert!(got.contains("## Member `notes/tides.txt`: text\n\nSpring tides."), "{got}");
    let locked = workers.document("locked.7z", None, seven_locked()).await.unwrap().text;
    assert!(locked.contains("| `fees.csv` | 15 |"), "{locked}");
    assert!(locked.contains("not read: it is protected by a password"), "{locked}");
    let error = workers.member("locked.7z", "fees.csv", seven_locked()).await.unwrap_err();
    assert!(error.to_string().contains("protected by a password"), "{error}");
    let tar = tarred(&[("a.txt", b"first"), ("b.txt", &[b'x'; 2000])]);
    let half = workers.document("half.tar", None, tar[..1800].into()).await.unwrap().text;
    assert!(half.contains("first") && half.contains("not read: it is damaged"), "{half}");
    let zeros = gzipped(&vec![0; 80 << 20]);
    let error = workers.document("bomb.gz", None, zeros.clone()).await.unwrap_err();
    assert!(error.to_string().contains("decompression bomb"), "{error}");
    let nested = zipped(&[("bomb.gz", &zeros), ("good.txt", b"still read")]);
    let got = workers.document("nested.zip", None, nested).await.unwrap().text;
    assert!(got.contains("it unpacks to more than") && got.contains("still read"), "{got}");
    let gz = (0..8).fold(b"x".to_vec(), |inner, _| gzipped(&inner));
    let error = workers.document("deep.gz", None, gz).await.unwrap_err();
    assert!(error.to_string().contains("nest too deep"), "{error}");
}

#[tokio::test]
async fn pages_keep_their_order_and_structure() {
    let mut page = drawn(24, 50, 740, "Harbour report");
    page += &drawn(11, 50, 700, "See the tables for spring tides.");
    for (row, cells) in [["Port", "Fee"], ["Ellery", "12"], ["Quay", "7"]].iter().enumerate() {
        let y = 660 - 20 * u32::try_from(row).unwrap();
        page += &drawn(11, 50, y, cells[0]);
        page += &drawn(11, 200, y, cells[1]);
    }
    page += &drawn(11, 50, 580, "\\225 first berth");
    page += &drawn(11, 50, 565, "\\225 second berth");
    page += &drawn(11, 50, 530, "A line that breaks at the hy-");
    page += &drawn(11, 50, 517, "phen goes on.");
    // Two columns of prose, drawn row by row as some programs do.
    let mut columns = String::new();
    for row in 0..6 {
        let y = 700 - row * 14;
        columns += &drawn(11, 50, y, &format!("left column number {row} runs on"));
        columns += &drawn(11, 320, y, &format!("right column number {row} runs on"));
    }
    let file = pdf(&[page, columns]);
    let workers = workers();
    let second = workers.document_from("a.pdf", None, 2, file.clone()).await.unwrap();
    assert!(second.text.starts_with("## Page 2"), "from a page on: {}", second.text);
    let beyond = workers.document_from("a.pdf", None, 3, file.clone()).await.unwrap_err();
    assert!(beyond.to_string().contains("a PDF of 2 pages, without page 3"), "{beyond}");
    let got = workers.document("a.pdf", None, file).await.unwrap();
    let text = &got.text;
    for want in [
        "Contents:\n\n- Tides (page 1)",
        "## Page 1\n\n# Harbour report\n\n",
        "](https://a.test/t)",
        "| Port | Fee |\n| --- | --- |\n| Ellery | 12 |\n| Quay | 7 |",
        "- first berth\n- second berth",
        "hyphen goes on.",
        "> Comment: Check this (Ben)",
        "## Page 2\n\nleft column number 0",
    ] {
        assert!(text.contains(want), "{want:?} is missing in {text}");
    }
    let (left, right) = (text.find("left column number 5"), text.find("right column number 0"));
    assert!(left < right && left.is_some(), "columns are read one after the other: {text}");
    for want in ["2 pages", "title: Harbour report", "author: Ana"] {
        assert!(got.notes.iter().any(|note| note == want), "{want} in {:?}", got.notes);
    }
}
