//! Sounds and videos: who hears them, what is told of it, and what is refused.
//!
//! A scripted endpoint writes down and answers; the sounds are tones and silence made here.
//! What needs `ffmpeg`, or the engine of the machine, is tried where that is there.

#![expect(clippy::unwrap_used, reason = "what fails here fails the story")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{Place, Ran, timeless, transcripts};
use serde_json::{Value, json};
use wildgym::model::{Endpoint, Exchange, Model, ModelError, Retrying, Secret, Settings, Sound};
use wildgym_support::{
    Request, Response, ScriptedServer, calls, cut, final_answer, hang, heard, in_turn,
    json as body, raw, says, status,
};

/// Returns a WAV file of 8 kHz mono in which each stretch of so many seconds is a tone or
/// silent.
fn wav(stretches: &[(f64, bool)]) -> Vec<u8> {
    const RATE: f64 = 8000.0;
    let mut samples = Vec::new();
    for (seconds, tone) in stretches {
        let mut at = 0.0;
        while at < seconds * RATE {
            let turn = (at * 440.0 / RATE).fract();
            // A square wave is as good as any.
            samples.push(if !tone {
                128_u8
            } else if turn < 0.5 {
                190
            } else {
                66
            });
            at += 1.0;
        }
    }
    let length = u32::try_from(samples.len()).unwrap();
    let mut wav = b"RIFF".to_vec();
    wav.extend((36 + length).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    wav.extend([1, 0, 1, 0]);
    wav.extend(8000_u32.to_le_bytes());
    wav.extend(8000_u32.to_le_bytes());
    wav.extend([1, 0, 8, 0]);
    wav.extend(b"data");
    wav.extend(length.to_le_bytes());
    wav.extend(samples);
    wav
}

/// A place with a workspace, a cache that holds no engine, and files in it.
fn place(files: &[(&str, &[u8])]) -> Place {
    let place = Place::new();
    fs::create_dir(place.path().join("w")).unwrap();
    for (name, bytes) in files {
        fs::write(place.path().join("w").join(name), bytes).unwrap();
    }
    place
}

/// Tells whether a program is there, and says what is not tried otherwise.
fn is_there(program: &str) -> bool {
    Command::new(program).arg("-version").output().is_ok()
}

/// Calls a tool by hand, on a machine without the engine.
fn call(place: &Place, tool: &str, arguments: &Value, more: &[&str]) -> Ran {
    let arguments = arguments.to_string();
    let fixed = ["tools", "call", tool, &arguments, "--workspace", "w"];
    let output = place
        .command(&[&fixed, more].concat())
        .env("WILDGYM_CACHE", place.path().join("cache"))
        .output()
        .unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

async fn server(
    script: impl Fn(&Request) -> Response + Send + Sync + 'static,
) -> (ScriptedServer, String) {
    let server = ScriptedServer::start(script).await;
    let url = server.base_url();
    (server, url)
}

fn speaking(url: &str) -> [&str; 4] {
    ["--speech-model", "w", "--speech-base-url", url]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_is_written_down_with_its_times() {
    if !is_there("ffmpeg") {
        return;
    }
    let place = place(&[("a.mp3", &wav(&[(2.0, true)]))]);
    let (server, url) =
        server(|_| heard([(0.0, 0.8, " The ferry"), (0.8, 2.0, "leaves at six.")])).await;
    let ran = call(&place, "audio2text", &json!({ "audio_path": "a.mp3" }), &speaking(&url));
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    for part in [
        "`a.mp3`: WAV / WAVE",
        "2.0 s, sound pcm_u8 mono 8000 Hz",
        "- heard by the speech model `w`, language: english",
        "[00:00.0–00:00.8] The ferry\n[00:00.8–00:02.0] leaves at six.",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].body["response_format"], "verbose_json");
    assert_eq!(requests[0].body["file"]["seconds"], 2.0, "16 kHz mono, whatever it was");
    assert_eq!(server.violations(), [] as [&str; 0]);
    let read = json!({ "document_path": "a.mp3" });
    let ran = call(&place, "extract_document_content", &read, &speaking(&url));
    assert!(ran.out.contains("heard by the speech model `w`"), "a document too: {}", ran.out);
    assert!(ran.out.contains("[00:00.8–00:02.0] leaves at six."), "{}", ran.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_recording_is_cut_at_silence_and_heard_whole() {
    if !is_there("ffmpeg") {
        return;
    }
    // Silence around 9:20 and 18:00; the whole is 21:40.
    let long = wav(&[(559.0, true), (2.0, false), (518.0, true), (2.0, false), (219.0, true)]);
    let place = place(&[("long.wav", &long)]);
    let (server, url) = server(|request| {
        let word = ["one", "two", "three"][request.number - 1];
        heard([(1.0, 2.0, word)])
    })
    .await;
    let ran = call(&place, "audio2text", &json!({ "audio_path": "long.wav" }), &speaking(&url));
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("heard in 3 pieces, cut at silence"), "{}", ran.out);
    let lengths: Vec<f64> = server
        .requests()
        .iter()
        .map(|request| request.body["file"]["seconds"].as_f64().unwrap())
        .collect();
    assert!((lengths.iter().sum::<f64>() - 1300.0).abs() < 0.1, "nothing is lost: {lengths:?}");
    assert!((lengths[0] - 560.0).abs() < 1.0, "the middle of the silence: {lengths:?}");
    assert_eq!(server.violations(), [] as [&str; 0], "each below the limit of 25 MB");
    for (word, minute) in [("one", "00:01"), ("two", "09:2"), ("three", "18:0")] {
        let line = ran.out.lines().find(|line| line.ends_with(word)).unwrap();
        assert!(line.starts_with(&format!("[{minute}")), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_without_times_is_asked_for_words_alone() {
    if !is_there("ffmpeg") {
        return;
    }
    let place = place(&[("a.wav", &wav(&[(1.0, true)]))]);
    let (server, url) = server(|request| {
        if request.body["response_format"] == "verbose_json" {
            let words = "response_format 'verbose_json' is not compatible with model 'w'";
            return status(400).edit(|body| body["error"]["message"] = words.into());
        }
        let usage = json!({ "type": "tokens", "input_tokens": 14, "output_tokens": 5 });
        body(json!({ "text": "Half past six.", "usage": usage }))
    })
    .await;
    let ran = call(&place, "audio2text", &json!({ "audio_path": "a.wav" }), &speaking(&url));
    assert!(ran.out.contains("[00:00.0–00:01.0] Half past six."), "{}{}", ran.out, ran.err);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_heard_is_refused_with_its_reason() {
    if !is_there("ffmpeg") {
        return;
    }
    let sound = wav(&[(1.0, true)]);
    let place = place(&[
        ("empty.mp3", b""),
        ("text.mp3", b"This is a letter and no sound at all.\n"),
        ("zeros.wav", &[0; 4096]),
        ("head.wav", &sound[..44]),
        ("broken.m4a", b"\0\0\0\x20ftypM4A \0\0\0\0M4A mp42isom\0\0\0\0\0\0\0\x08free"),
        ("noise.ogg", b"OggS\0\x02\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x03\x04OggSOggS"),
        ("good.wav", &sound),
        ("list.m3u8", b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:9,\n/etc/passwd\n"),
    ]);
    let silent = Command::new("ffmpeg")
        .args(["-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:duration=1"])
        .args(["-pix_fmt", "yuv420p", "w/silent.mp4"])
        .current_dir(place.path())
        .status()
        .unwrap();
    assert!(silent.success());
    let (server, url) = server(|_| heard([(0.0, 1.0, "x")])).await;
    let of = |path: &str| json!({ "audio_path": path });
    let asked = |path: &str, question: &str| json!({ "audio_path": path, "question": question });
    let video = |path: &str| json!({ "video_path": path, "question": "who?" });
    let (hear, ask, watch) = ("audio2text", "ask_question_about_audio", "ask_question_about_video");
    let table = [
        (hear, of("empty.mp3"), "`empty.mp3` is empty", "nothing in it"),
        (hear, of("text.mp3"), "no sound", "a text"),
        (hear, of("zeros.wav"), "no sound or video that can be read", "zeros"),
        (hear, of("head.wav"), "head.wav", "a head without a body"),
        (hear, of("broken.m4a"), "moov atom not found", "cut off"),
        (hear, of("noise.ogg"), "noise.ogg", "a mark and noise"),
        (hear, of("list.m3u8"), "list.m3u8", "a list of others"),
        (hear, of("silent.mp4"), "is a video without sound", "no sound track"),
        (hear, of("none.wav"), "none.wav", "no file"),
        (hear, of("../a.wav"), "workspace", "outside"),
        (hear, of("https://nowhere.example/a.mp3"), "nowhere.example", "an unknown host"),
        (hear, json!({}), "audio_path", "no argument"),
        (hear, json!({ "audio_path": 7 }), "audio_path", "a number"),
        (ask, asked("good.wav", " "), "the question is empty", "no question"),
        (ask, asked("text.mp3", "who?"), "no sound", "a text"),
        (ask, asked("silent.mp4", "who?"), "is a video without sound", "no sound track"),
        (ask, of("good.wav"), "question", "no question at all"),
        (watch, video("good.wav"), "`ask_question_about_audio`", "a sound"),
        (watch, video("text.mp3"), "text.mp3", "a text"),
        (watch, video("none.mp4"), "none.mp4", "no file"),
        (watch, video("silent.mp4"), "`--tool-model NAME`", "pictures that nobody sees"),
        (watch, json!({ "question": "who?" }), "`video_path`", "no page is open"),
        (watch, json!({ "question": "", "video_path": "silent.mp4" }), "is empty", "no question"),
    ];
    for (tool, arguments, expected, why) in table {
        let ran = call(&place, tool, &arguments, &speaking(&url));
        assert_eq!(ran.code, Some(1), "{why}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(expected), "{why}: {}", ran.out);
        assert!(!ran.out.contains("root:"), "{why}: nothing of the machine: {}", ran.out);
    }
    assert_eq!(server.requests().len(), 0, "nothing of it reached the model");
}

#[test]
fn without_anybody_who_hears_the_error_says_what_to_do() {
    let place = place(&[("a.wav", &wav(&[(1.0, true)]))]);
    let ran = call(&place, "audio2text", &json!({ "audio_path": "a.wav" }), &[]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let ears = ["`--speech-model NAME`", "`--speech-base-url URL`", "`wildgym setup --speech`"];
    let missing = ["install the package `ffmpeg`"; 3];
    let wanted = if is_there("ffmpeg") { ears } else { missing };
    assert!(wanted.iter().all(|part| ran.out.contains(part)), "{}", ran.out);
    assert!(ran.err.contains("unavailable"), "{}", ran.err);
    // A machine without decoders: a setting that leads nowhere is the same.
    let arguments = json!({ "audio_path": "a.wav" }).to_string();
    let output = place
        .command(&["tools", "call", "audio2text", &arguments, "--workspace", "w"])
        .env("WILDGYM_CACHE", place.path().join("cache"))
        .env("WILDGYM_FFPROBE", "/nonexistent")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("install the package `ffmpeg`"), "{said}");
    assert!(said.contains("`wildgym doctor`"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_goes_to_who_hears_else_to_who_reads() {
    if !is_there("ffmpeg") {
        return;
    }
    let place = place(&[("a.wav", &wav(&[(1.0, true)]))]);
    let (server, url) = server(|request| {
        if request.route == "audio/transcriptions" {
            return heard([(0.0, 1.0, "The code is seven.")]);
        }
        let parts = request.messages()[1]["content"].to_string();
        match (request.body["model"].as_str().unwrap(), parts.contains("input_audio")) {
            ("ears", true) => says("It is seven; I heard it."),
            ("deaf", true) => status(400)
                .edit(|body| body["error"]["message"] = "unknown part input_audio".into()),
            (_, _) if parts.contains("The code is seven.") => says("Seven, it reads."),
            (_, _) => says("nothing is there"),
        }
    })
    .await;
    let asked = json!({ "audio_path": "a.wav", "question": "Which code?" });
    let ask = |model: &str, more: &[&str]| {
        let flags = ["--tool-model", model, "--tool-base-url", &url];
        call(&place, "ask_question_about_audio", &asked, &[&flags, more].concat())
    };
    let both = ["--hears", "--speech-model", "w"];
    let table = [
        ("ears", &both[..1], "I heard it.\n[heard by the model itself; 1.0 s]", "ears"),
        (
            "ears",
            &both[1..],
            "from the words alone, heard by the speech model `w`",
            "not said to hear",
        ),
        ("deaf", &both[..], "Seven, it reads.\n[from the words alone", "refused, then read"),
        ("deaf", &both[..1], "`--speech-model NAME`", "refused, and nobody writes down"),
    ];
    for (model, more, expected, why) in table {
        let ran = ask(model, more);
        assert!(ran.out.contains(expected), "{why}: {}{}", ran.out, ran.err);
    }
    let ran = call(&place, "ask_question_about_audio", &asked, &speaking(&url));
    assert!(ran.out.starts_with("[no model answers tools here"), "{}", ran.out);
    assert!(ran.out.contains("The code is seven."), "{}", ran.out);
    assert_eq!(server.violations(), [] as [&str; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_video_is_seen_read_and_heard() {
    if !is_there("ffmpeg") {
        return;
    }
    let subtitles = "1\n00:00:01,000 --> 00:00:02,500\nThe quay is empty.\n";
    let place = place(&[("v.srt", subtitles.as_bytes())]);
    let scenes = "color=red:size=320x240:duration=3[a];color=blue:size=320x240:duration=3[b];\
                  [a][b]concat=n=2:v=1[v]";
    let made = Command::new("ffmpeg")
        .args(["-v", "error", "-f", "lavfi", "-i", "sine=frequency=440:duration=6", "-i", "v.srt"])
        .args(["-filter_complex", scenes, "-map", "[v]", "-map", "0:a", "-map", "1:s"])
        .args(["-c:s", "srt", "-metadata:s:s:0", "language=eng", "v.mkv"])
        .current_dir(place.path().join("w"))
        .status()
        .unwrap();
    assert!(made.success());
    let (server, url) = server(|request| match request.route {
        "audio/transcriptions" => heard([(0.0, 2.0, "A long tone.")]),
        _ => says("At 3 s it turns blue."),
    })
    .await;
    let asked = json!({ "question": "When does it turn blue?", "video_path": "v.mkv" });
    for mode in ["delegated", "direct"] {
        let flags = [
            "--browser",
            mode,
            "--tool-model",
            "eyes",
            "--tool-base-url",
            &url,
            "--speech-model",
            "w",
        ];
        let ran = call(&place, "ask_question_about_video", &asked, &flags);
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        assert!(ran.out.starts_with("At 3 s it turns blue.\n[`v.mkv`: Matroska"), "{}", ran.out);
        let requests = server.requests();
        let parts = requests.last().unwrap().messages()[1]["content"].clone();
        let pictures = parts.as_array().unwrap().iter().filter(|part| part["type"] == "image_url");
        assert_eq!(pictures.count(), 2, "a red one and a blue one, once each");
        let text = parts[0]["text"].as_str().unwrap();
        for part in
            ["Subtitles (eng):", "The quay is empty.", "Speech:", "A long tone.", "0.0 s, 3.0 s"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let ran = call(&place, "ask_question_about_video", &asked, &[]);
    assert!(ran.out.contains("these are the captions"), "nobody looks: {}{}", ran.out, ran.err);
    assert!(ran.out.contains("The quay is empty."), "{}", ran.out);
    assert!(ran.out.contains("its sound was not heard"), "{}", ran.out);
}

/// A suite with one task whose attachment is a sound, and a model that hears it.
async fn run_that_hears() -> (Place, std::path::PathBuf, ScriptedServer, String) {
    let place = Place::new();
    let suite = place.suite(1);
    fs::write(suite.join("tasks/t-000/files/a.wav"), wav(&[(1.5, true)])).unwrap();
    let (server, url) = server(|request| {
        if request.route == "audio/transcriptions" {
            return heard([(0.0, 1.5, "It is done.")])
                .edit(|body| body["usage"] = json!({ "input_tokens": 11, "output_tokens": 4 }));
        }
        if request.round == 1 {
            return calls([("a", "audio2text", json!({ "audio_path": "a.wav" }))]);
        }
        let told = request.results()[0].contains("It is done.");
        final_answer(if told { "done" } else { "not heard" })
    })
    .await;
    (place, suite, server, url)
}

fn comparable(run: &Path) -> Vec<(String, String)> {
    transcripts(run).into_iter().map(|(path, text)| (path, timeless(&text))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_heard_is_stored_counted_and_replayed() {
    if !is_there("ffmpeg") {
        return;
    }
    let (place, suite, server, url) = run_that_hears().await;
    let run = |name: &str, url: &str, more: &[&str]| {
        let fixed = ["-k", "1", "--name", name, "-q", "--json", "--speech-model", "w"];
        place.wildgym(&Place::asking(&suite, url, &[&fixed, more].concat()))
    };
    let recorded = run("a", &url, &["--record-models", "tape"]);
    assert_eq!(recorded.code, Some(0), "{}{}", recorded.out, recorded.err);
    let text = transcripts(&place.path().join("runs/a")).into_values().next().unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let written = lines
        .iter()
        .find(|line| line.to_string().contains(r#""purpose":"transcribe""#))
        .expect("the exchange is in the transcript");
    assert!(written.to_string().contains("\"role\":\"audio2text\""), "{written}");
    let usage = written["usage"].clone();
    assert_eq!(
        (usage["input"].as_u64(), usage["output"].as_u64()),
        (Some(11), Some(4)),
        "{written}"
    );
    assert!(!text.contains("RIFF"), "the sound itself is in the workspace");
    let config = fs::read_to_string(place.path().join("runs/a/run.toml")).unwrap();
    assert!(config.contains("speech_model"), "{config}");
    let count = server.requests().len();
    let replayed = run("b", &url, &["--replay-models", "tape"]);
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.out, replayed.err);
    assert_eq!(server.requests().len(), count, "no endpoint is asked");
    let runs = place.path().join("runs");
    assert_eq!(comparable(&runs.join("a")), comparable(&runs.join("b")));
    // Another sound is another question.
    fs::write(suite.join("tasks/t-000/files/a.wav"), wav(&[(2.5, true)])).unwrap();
    let other = run("c", &url, &["--replay-models", "tape"]);
    let text = transcripts(&runs.join("c")).into_values().next().unwrap();
    assert!(text.contains("diverged at round 1"), "{}{}", other.out, other.err);
}

#[test]
fn an_agent_without_a_model_takes_no_speech_model() {
    let place = Place::new();
    let suite = place.suite(1);
    let suite = suite.to_str().unwrap();
    for flag in [&["--speech-model", "w"][..], &["--hears"]] {
        let ran = place.wildgym(&[&["run", suite, "--agent", "guess"], flag].concat());
        assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
        assert!(ran.err.contains("is for nobody"), "{}", ran.err);
    }
    let ran = place.wildgym(&["run", suite, "--speech-base-url", "http://127.0.0.1:9/v1"]);
    assert!(ran.err.contains("--speech-model"), "a base URL of whom? {}", ran.err);
}

fn client(server: &ScriptedServer) -> Model {
    let key = Secret::new("TEST_KEY", "sk-test-key");
    let endpoint = Endpoint::new(&server.base_url(), "w", Some(key), 1).unwrap();
    let (base, cap) = (Duration::from_millis(1), Duration::from_millis(2));
    let retrying = Retrying { tries: 3, format_tries: 3, base, cap };
    let request_timeout = Duration::from_secs(2);
    Model::new(endpoint, Settings { request_timeout, retrying, ..Settings::default() }).unwrap()
}

fn sound() -> Sound {
    let mut wav = wav(&[(0.1, true)]);
    // What endpoints are sent has 16 kHz.
    wav[24..28].copy_from_slice(&16_000_u32.to_le_bytes());
    let wav = wav.into();
    Sound { source: "0".repeat(64), start_ms: 0, length_ms: 100, wav, timed: true }
}

/// What the endpoint answers in turn, the words that come of it or the error, how many
/// requests that takes, and why.
type Course<'a> = (Vec<Response>, Result<&'a str, &'a str>, usize, &'a str);

/// Every way for the endpoint to fail, and to recover.
#[tokio::test]
async fn an_endpoint_that_fails_is_asked_again_and_given_up_in_words() {
    let good = || heard([(0.0, 0.1, "yes")]);
    let table: Vec<Course> = vec![
        (vec![good()], Ok("yes"), 1, "good"),
        (vec![status(500), status(503), good()], Ok("yes"), 3, "two errors, then good"),
        (vec![status(429).retry_after(0), good()], Ok("yes"), 2, "busy"),
        (vec![cut("{"), good()], Ok("yes"), 2, "the connection breaks"),
        (vec![raw("<html>"), good()], Ok("yes"), 2, "a page"),
        (vec![raw(r#"{"choices":[]}"#)], Err("no transcript"), 3, "another route's answer"),
        (vec![raw(r#"{"text":7}"#)], Err("no transcript"), 3, "a text that is none"),
        (vec![status(500)], Err("in 3 tries"), 3, "never well"),
        (vec![hang()], Err("no reply within 2 s"), 3, "silence"),
        (vec![status(401)], Err("check the key in `TEST_KEY`"), 1, "the key"),
        (vec![status(404)], Err("check the model's name `w`"), 1, "the route"),
        (vec![status(413)], Err("413"), 1, "too large"),
        (
            vec![raw(r#"{"error":{"message":"sk-test-key is bad","code":401}}"#)],
            Err("[key]"),
            1,
            "the key is kept secret",
        ),
    ];
    for (responses, want, count, why) in table {
        let server = ScriptedServer::start(in_turn(responses)).await;
        let ended: Result<Exchange, ModelError> = client(&server).transcribe(&sound(), None).await;
        match (&ended, want) {
            (Ok(exchange), Ok(text)) => {
                assert_eq!(exchange.reply.content.as_deref(), Some(text), "{why}");
            }
            (Err(error), Err(words)) => {
                assert!(error.to_string().contains(words), "{why}: {error}");
            }
            (ended, want) => panic!("{why}: {ended:?}, not {want:?}"),
        }
        assert_eq!(server.requests().len(), count, "{why}");
        assert_eq!(server.violations(), [] as [&str; 0], "{why}");
    }
}

/// The engine of the machine, where it is installed and something can speak.
#[test]
fn the_engine_of_this_machine_hears_the_same_words_twice() {
    let place = place(&[]);
    let doctor = place.wildgym(&["doctor", "--json"]).json();
    let installed = !doctor["media"]["programs"]["speech"].is_null();
    let spoken = Command::new("espeak-ng")
        .args(["-w", "w/said.wav", "The ferry to the island leaves at half past six."])
        .current_dir(place.path())
        .status();
    if !installed || !spoken.is_ok_and(|status| status.success()) {
        return;
    }
    let arguments = json!({ "audio_path": "said.wav" }).to_string();
    let hear =
        || place.wildgym(&["tools", "call", "audio2text", &arguments, "--workspace", "w"]).out;
    let text = hear();
    assert!(text.contains("heard by the speech engine of this machine"), "{text}");
    assert!(text.contains("language: en") && text.to_lowercase().contains("ferry"), "{text}");
    assert_eq!(hear(), text);
}
