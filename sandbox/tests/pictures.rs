//! Pictures through real worker processes and the programs of this machine: damaged ones,
//! drawings, and the text that stands in them.
//!
//! What needs a program that is not installed is passed over, unless
//! `WILDGYM_REQUIRE_RUNTIME` says that all must be there.

#![expect(clippy::unwrap_used, reason = "the makers of test files are not tests themselves")]

use std::path::PathBuf;
use std::time::Duration;

use wildgym_sandbox::Host;
use wildgym_sandbox::browser::{BrowserSettings, Browsers};
use wildgym_sandbox::media::{Aim, Turn, look, read, read_pages};
use wildgym_sandbox::programs::{Program, Programs, Search};
use wildgym_sandbox::scratch::Scratch;
use wildgym_sandbox::worker::Workers;

/// A host with the programs of this machine; the directory that it lives in comes second.
fn host() -> (Host, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let parent = camino::Utf8Path::from_path(folder.path()).unwrap().to_owned();
    let scratch = Scratch::create(&parent).unwrap();
    let worker = PathBuf::from(env!("CARGO_BIN_EXE_wildgym-sandbox-worker"));
    let search = Search { path: std::env::var_os("PATH").unwrap_or_default(), ..Search::default() };
    let programs =
        Programs::new(worker.clone(), scratch.path().as_std_path().to_owned(), 2, search);
    let browsers =
        Browsers::new(BrowserSettings::new(Err("no browser".into()), worker.clone(), parent));
    let host = Host::new(browsers, scratch, Workers::new(worker, 2), None).with_programs(programs);
    (host, folder)
}

/// Whether these programs are here; where they must be, they are.
fn has(host: &Host, programs: &[Program]) -> bool {
    let all = programs.iter().all(|program| host.programs.has(*program));
    assert!(all || std::env::var_os("WILDGYM_REQUIRE_RUNTIME").is_none(), "a program is missing");
    all
}

/// A drawing of lines of text, 30 dots high.
fn drawing(lines: &[&str], transform: &str) -> Vec<u8> {
    let line = |(line, row): (&&str, u32)| format!("<text x='40' y='{}'>{line}</text>", 60 * row);
    let text = lines.iter().zip(1..).map(line).collect::<Vec<_>>().concat();
    format!(
        "<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' width='900' height='900' \
         viewBox='0 0 900 900'><rect width='900' height='900' fill='white'/>\
         <g font-size='30' font-family='DejaVu Sans, Noto Sans CJK SC, sans-serif' \
         transform='{transform}'>{text}</g></svg>"
    )
    .into_bytes()
}

#[tokio::test]
async fn text_is_recognised_with_its_lines() {
    let (host, _folder) = host();
    if !has(&host, &[Program::Ffmpeg, Program::Tesseract]) {
        return;
    }
    let english = ["Harbour Cafe, Quay Street 14", "Two coffees and one cake", "Total due 42.50"];
    let chinese = ["港口咖啡馆 第十四号", "应付总额 42.50 元", "谢谢您的光临"];
    let table = [
        (drawing(&english, ""), "Total due 42.50", "eng", false, "English"),
        (
            drawing(&chinese, ""),
            "应付总额",
            "chi_sim+eng",
            false,
            "Chinese, without spaces between",
        ),
        (
            drawing(&english, "rotate(180 450 450)"),
            "Two coffees and one cake",
            "eng",
            true,
            "upside down",
        ),
    ];
    for (bytes, want, languages, turned, why) in table {
        let picture = look(&host, "a.svg", bytes, Aim::Read).await.unwrap();
        assert_eq!(picture.format, "SVG");
        let reading = read(&host, &picture).await.unwrap();
        assert!(reading.text.contains(want), "{why}: {reading:?}");
        assert_eq!((reading.languages.as_str(), reading.turned), (languages, turned), "{why}");
        assert!(reading.text.lines().filter(|line| !line.is_empty()).count() >= 3, "{reading:?}");
    }
}

#[tokio::test]
async fn a_picture_without_text_has_none() {
    let (host, _folder) = host();
    if !has(&host, &[Program::Ffmpeg, Program::Tesseract]) {
        return;
    }
    let picture = look(&host, "a.svg", drawing(&[], ""), Aim::Read).await.unwrap();
    let reading = read(&host, &picture).await.unwrap();
    assert_eq!((reading.text.as_str(), reading.words), ("", 0));
    assert_eq!(reading.describe(), "no text was recognised in it");
}

#[tokio::test]
async fn what_cannot_be_converted_says_what_is_missing() {
    let (host, _folder) = host();
    let bare = Host::new(host.browsers, host.scratch, host.workers, None);
    let heic = b"\0\0\0\x1cftypheic\0\0\0\0mif1heic\0\0\0\0".to_vec();
    let table = [
        (heic, "photo.jpg", "libheif-examples", "a phone's picture under another name"),
        (drawing(&[], ""), "a.svg", "`ffmpeg`", "a drawing"),
        (b"<html><body>403".to_vec(), "a.png", "a page of HTML", "a server's message"),
        (b"%PDF-1.7".to_vec(), "a.png", "`extract_document_content`", "a document"),
        (b"ID3\x04\0".to_vec(), "a.png", "`audio2text`", "a sound"),
    ];
    for (bytes, name, want, why) in table {
        let error = look(&bare, name, bytes, Aim::Look).await.unwrap_err().to_string();
        assert!(error.contains(want) && error.contains(name), "{why}: {error}");
    }
    let error = read_pages(&bare, b"%PDF", &[1], Duration::from_secs(1)).await.unwrap_err();
    assert!(error.to_string().contains("poppler-utils"), "{error}");
}

/// Formats that a program converts, written by the same programs.
#[tokio::test]
async fn pictures_of_other_formats_are_converted() {
    let (host, _folder) = host();
    if !has(&host, &[Program::Ffmpeg]) {
        return;
    }
    for suffix in ["jp2", "tiff", "bmp", "gif", "webp", "jpg", "png"] {
        let out = format!("out.{suffix}");
        let arguments =
            ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x200", "-frames:v", "1", &out];
        let limits = wildgym_sandbox::programs::Limits::default();
        let ran = host.programs.run(Program::Ffmpeg, &arguments, &[], &limits).await.unwrap();
        let bytes = ran.files_out[0].1.clone();
        let picture = look(&host, &out, bytes, Aim::Look).await.unwrap();
        assert_eq!((picture.width, picture.height), (320, 200), "{suffix}: {picture:?}");
    }
}

/// Damaged files of every format end in a picture or a reason, and the pool goes on.
#[tokio::test]
async fn damaged_pictures_cost_one_call() {
    let (host, _folder) = host();
    let workers = &host.workers;
    let image = image::DynamicImage::ImageRgb8(image::RgbImage::from_fn(40, 30, |x, y| {
        image::Rgb([u8::try_from(x * 6).unwrap(), u8::try_from(y * 8).unwrap(), 90])
    }));
    let mut seeds = Vec::new();
    for format in [image::ImageFormat::Png, image::ImageFormat::Jpeg, image::ImageFormat::Tiff] {
        let mut bytes = Vec::new();
        image.write_to(&mut std::io::Cursor::new(&mut bytes), format).unwrap();
        seeds.push(bytes);
    }
    let mut webp = Vec::new();
    let dots = image.as_rgb8().unwrap().as_raw();
    image_webp::WebPEncoder::new(&mut webp)
        .encode(dots, 40, 30, image_webp::ColorType::Rgb8)
        .unwrap();
    seeds.push(webp);
    let mut gif = Vec::new();
    {
        let palette: Vec<u8> = (0..=255).flat_map(|value| [value, value, 90]).collect();
        let mut encoder = gif::Encoder::new(&mut gif, 40, 30, &palette).unwrap();
        let buffer: Vec<u8> = dots.chunks(3).map(|dot| dot[0]).collect();
        let frame =
            gif::Frame { width: 40, height: 30, buffer: buffer.into(), ..gif::Frame::default() };
        encoder.write_frame(&frame).unwrap();
    }
    seeds.push(gif);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for round in 0..400 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..=random(6) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = u8::try_from(random(256)).unwrap(),
                1 => bytes[at] = 0xff,
                2 => bytes.truncate(at.max(12)),
                _ => bytes.insert(at, 0),
            }
        }
        let ended = workers.picture("x", bytes, Aim::Look, Turn::AsSaid).await;
        if let Err(error) = ended {
            assert!(error.to_string().starts_with("cannot read `x`: "), "{error}");
        }
    }
    let good = workers.picture("x", seeds[0].clone(), Aim::Look, Turn::AsSaid).await.unwrap();
    assert_eq!((good.width, good.height), (40, 30));
}
