//! Pages of videos: what they say of the video, and the oEmbed answer made of it.
//!
//! A page is one of a video when it says so as the live sites do: a `VideoObject` in
//! JSON-LD (schema.org). Captions are the `<track>`s of its player. Nothing is taken from
//! the media file itself.

use std::sync::LazyLock;

use jiff::Span;
use regex::Regex;
use serde_json::{Value, json};
use url::Url;

use super::Request;
use super::files::Loaded;
use super::pages::decoded;
use super::reply::{Reply, escape};
use crate::encoding::decode;

/// Where every site answers about its videos (oEmbed, section 2.2).
pub(super) const OEMBED: &str = "/oembed";

/// The size of a player, in pixels, unless less is asked for.
const SIZE: (u64, u64) = (640, 360);

/// What a page says of its video.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Video {
    /// Its title.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// Who made it.
    pub author: Option<String>,
    /// Its length in whole seconds.
    pub seconds: Option<i64>,
    /// The day it was published, as written.
    pub date: Option<String>,
    /// The media file.
    pub media: Option<Url>,
    /// A player without the page around it.
    pub embed: Option<Url>,
    /// A still picture.
    pub thumbnail: Option<Url>,
    /// Caption tracks, each with its language (empty where it has none).
    pub captions: Vec<(String, Url)>,
    /// What is said in it, where the page gives it as data.
    pub transcript: Option<String>,
}

/// Reads what a page says of its video; `None` where it is about none.
#[must_use]
pub(super) fn read(html: &str, page: &Url) -> Option<Video> {
    static DATA: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let pattern = r"(?is)<script\s[^>]*application/ld\+json[^>]*>(.*?)</script\s*>";
        Regex::new(pattern).ok()
    });
    let scripts = DATA.as_ref()?.captures_iter(html);
    let data = scripts.filter_map(|found| serde_json::from_str::<Value>(&found[1]).ok());
    let data = data.into_iter().find_map(|data| object(&data, 8).cloned())?;
    let text = |name: &str| data[name].as_str().map(str::trim).filter(|it| !it.is_empty());
    let url = |value: &Value| {
        let first = value.as_array().and_then(|all| all.first()).unwrap_or(value);
        let written = first.as_str().or_else(|| first["url"].as_str())?;
        page.join(written).ok()
    };
    let author = &data["author"];
    Some(Video {
        title: text("name").unwrap_or_default().to_owned(),
        description: text("description").unwrap_or_default().to_owned(),
        author: author.as_str().or_else(|| author["name"].as_str()).map(ToOwned::to_owned),
        seconds: text("duration").and_then(seconds),
        date: text("uploadDate").map(ToOwned::to_owned),
        media: url(&data["contentUrl"]),
        embed: url(&data["embedUrl"]),
        thumbnail: url(&data["thumbnailUrl"]),
        captions: captions(html, page),
        transcript: text("transcript").map(ToOwned::to_owned),
    })
}

/// Finds the first `VideoObject`, at most `depth` levels deep.
fn object(data: &Value, depth: usize) -> Option<&Value> {
    let depth = depth.checked_sub(1)?;
    match data {
        Value::Array(all) => all.iter().find_map(|one| object(one, depth)),
        Value::Object(fields) => {
            let kind = &data["@type"];
            let is = |kind: &Value| kind == "VideoObject";
            if is(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is)) {
                return Some(data);
            }
            fields.values().find_map(|one| object(one, depth))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Reads a length as ISO 8601 writes it: `PT3M20S`.
fn seconds(written: &str) -> Option<i64> {
    let span: Span = written.parse().ok()?;
    let seconds =
        span.total((jiff::Unit::Second, jiff::SpanRelativeTo::days_are_24_hours())).ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "spans of jiff have fewer seconds")]
    (seconds >= 0.0).then_some(seconds.round() as i64)
}

/// Returns the caption and subtitle tracks of a page.
fn captions(html: &str, page: &Url) -> Vec<(String, Url)> {
    static TRACK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?is)<track\s([^>]{0,400})>").ok());
    static ATTRIBUTE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?is)([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"#).ok()
    });
    let (Some(track), Some(attribute)) = (TRACK.as_ref(), ATTRIBUTE.as_ref()) else {
        return Vec::new();
    };
    let read = |tag: regex::Captures<'_>| {
        let attributes = tag.get(1)?.as_str();
        let named = |name: &str| {
            attribute.captures_iter(attributes).find_map(|found| {
                let value = found.get(2).or(found.get(3)).or(found.get(4))?.as_str();
                found[1].eq_ignore_ascii_case(name).then(|| value.to_owned())
            })
        };
        let kind = named("kind").unwrap_or_else(|| "subtitles".to_owned());
        let source = page.join(&named("src")?).ok()?;
        ["captions", "subtitles"]
            .contains(&kind.to_ascii_lowercase().as_str())
            .then(|| (named("srclang").unwrap_or_default(), source))
    };
    track.captures_iter(html).filter_map(read).collect()
}

/// Answers an oEmbed request about a page of the same site; `page` finds its file.
///
/// As the standard says: 404 where the page is about no video, 501 for another format
/// than JSON, and 400 where `url` is missing. Returns `None`, which is the site's usual
/// 404, for a request that asks nothing.
pub(super) fn oembed<'a>(
    request: &Request,
    page: impl Fn(&str) -> Option<&'a Loaded>,
) -> Option<Reply> {
    let parameter = |name: &str| {
        let found = request.url.query_pairs().find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned())
    };
    request.url.query()?;
    let failure = |status, error: &str| Some(Reply::json(status, &json!({ "error": error })));
    if !matches!(request.method, http::Method::GET | http::Method::HEAD) {
        return Some(Reply::method_not_allowed(&request.method, "GET, HEAD"));
    }
    if parameter("format").is_some_and(|format| format != "json") {
        return failure(501, "only `format=json` is served");
    }
    let Some(written) = parameter("url") else { return failure(400, "missing parameter `url`") };
    let url = Url::parse(&written).or_else(|_| request.url.join(&written));
    let Ok(url) = url else { return failure(400, "`url` is no URL") };
    let bare = |url: &Url| url.host_str().map(|host| host.trim_start_matches("www.").to_owned());
    let file = page(&decoded(url.path())).filter(|_| bare(&url) == bare(&request.url));
    let video = file.and_then(|file| {
        let html = decode(&file.body, Some(&file.content_type)).text;
        read(&html, &url)
    });
    let Some(video) = video else { return failure(404, "there is no video at `url`") };
    let size = |name: &str, most: u64| {
        let asked = parameter(name).and_then(|size| size.parse().ok());
        asked.map_or(most, |asked: u64| asked.clamp(1, most))
    };
    Some(Reply::json(
        200,
        &described(&video, &url, size("maxwidth", SIZE.0), size("maxheight", SIZE.1)),
    ))
}

/// Writes a video as oEmbed does (section 2.3.4.2), with `duration` and `upload_date` as
/// live services add them.
fn described(video: &Video, page: &Url, width: u64, height: u64) -> Value {
    let host = page.host_str().unwrap_or_default();
    let player = match (&video.embed, &video.media) {
        (Some(embed), _) => format!(
            "<iframe width=\"{width}\" height=\"{height}\" src=\"{}\" allowfullscreen></iframe>",
            escape(embed.as_str())
        ),
        (None, media) => format!(
            "<video width=\"{width}\" height=\"{height}\" controls src=\"{}\"></video>",
            escape(media.as_ref().unwrap_or(page).as_str())
        ),
    };
    let mut answer = json!({
        "version": "1.0", "type": "video", "title": video.title, "provider_name": host,
        "provider_url": format!("{}://{host}/", page.scheme()),
        "width": width, "height": height, "html": player,
    });
    let optional = [
        ("author_name", video.author.as_deref().map(Value::from)),
        ("thumbnail_url", video.thumbnail.as_ref().map(|url| json!(url.as_str()))),
        ("duration", video.seconds.map(Value::from)),
        ("upload_date", video.date.as_deref().map(Value::from)),
        ("description", Some(json!(video.description)).filter(|_| !video.description.is_empty())),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            answer[name] = value;
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_video_is_read_off_its_page() {
        let page = Url::parse("https://film.test/watch/choir").unwrap();
        let html = r#"<script type="application/ld+json">{"@graph": [{"@type": "WebPage"},
            {"@type": ["VideoObject"], "name": "Choir in fog", "duration": "PT1M30.4S",
             "contentUrl": "/media/choir.webm", "thumbnailUrl": ["/t.png"],
             "author": {"name": "Ida Holm"}}]}</script>
            <video src=/media/choir.webm><track kind="captions" srclang=en src="choir.vtt">
            <track kind=chapters src=x.vtt><track src='/zh.vtt'></video>"#;
        let video = read(html, &page).unwrap();
        assert_eq!((video.title.as_str(), video.seconds), ("Choir in fog", Some(90)));
        assert_eq!(video.author.as_deref(), Some("Ida Holm"));
        let captions: Vec<_> =
            video.captions.iter().map(|(language, url)| (language.as_str(), url.path())).collect();
        assert_eq!(captions, [("en", "/watch/choir.vtt"), ("", "/zh.vtt")]);
        let answer = described(&video, &page, 320, 180);
        assert_eq!(answer["duration"], 90);
        assert_eq!(answer["thumbnail_url"], "https://film.test/t.png");
        assert!(answer["html"].as_str().unwrap().contains("https://film.test/media/choir.webm"));
    }

    #[test]
    fn what_is_no_video_is_none() {
        let page = Url::parse("https://film.test/").unwrap();
        let deep = format!("{}{{\"@type\":\"VideoObject\"}}{}", "[".repeat(99), "]".repeat(99));
        for data in ["", "{", "[]", "{\"@type\": \"Movie\"}", "\"VideoObject\"", &deep] {
            let html = format!("<script type=application/ld+json>{data}</script>");
            assert_eq!(read(&html, &page), None, "{data}");
        }
        assert_eq!(seconds("PT-5S"), None, "no length");
        assert_eq!(seconds("3 minutes and more"), None);
    }
}
