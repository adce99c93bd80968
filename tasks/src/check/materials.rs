//! Everything that the agent is given, as text.

use camino::{Utf8Path, Utf8PathBuf};

use crate::environment::Site;
use crate::suite::Suite;
use crate::task::Task;

/// A text that the agent can read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    /// Names of the place: `instruction:<variant>`, `file:<path>`, `web:<host>/<path>`.
    /// A page has one for each path at which it is served.
    pub places: Vec<String>,
    /// The text.
    pub text: String,
}

/// Returns all that a task gives to the agent in any variant: requests, names and
/// texts of attachments, and the web except blocked hosts.
///
/// `extract` returns the text of a file that is a document (a workbook, a page of
/// HTML), or nothing. What is UTF-8 is read as it stands, too, so nothing hides in
/// markup.
pub fn materials(
    suite: &Suite,
    task: &Task,
    extract: impl Fn(&Utf8Path) -> Option<String>,
) -> Vec<Material> {
    let mut all = Vec::new();
    for variant in task.variants() {
        if let Ok(given) = task.given(&variant) {
            let places = vec![format!("instruction:{variant}")];
            all.push(Material { places, text: given.instruction });
        }
    }
    let added = task.overlays.values().flat_map(|overlay| &overlay.files);
    for (path, file) in task.files.iter().chain(added) {
        read(vec![format!("file:{path}")], file, &extract, &mut all);
    }
    if task.meta.environment.web.is_some() {
        for site in suite.sites.values().filter(|site| !is_blocked(task, site)) {
            of_site(&suite.folder, site, &extract, &mut all);
        }
    }
    all
}

fn is_blocked(task: &Task, site: &Site) -> bool {
    let blocked = &task.meta.blocked_hosts;
    blocked.contains(&site.host) || site.meta.aliases.iter().any(|alias| blocked.contains(alias))
}

fn of_site(
    folder: &Utf8Path,
    site: &Site,
    extract: &impl Fn(&Utf8Path) -> Option<String>,
    all: &mut Vec<Material>,
) {
    let place = |path: &str| format!("web:{}{path}", site.host);
    let mut served: std::collections::BTreeMap<&Utf8PathBuf, Vec<String>> =
        std::collections::BTreeMap::new();
    for (path, file) in &site.pages {
        served.entry(file).or_default().push(place(path));
    }
    for (file, places) in served {
        read(places, file, extract, all);
    }
    for article in &site.articles {
        let text = [article.meta.title.as_str(), article.body.as_str()].join("\n");
        all.push(Material { places: vec![place(&article.path())], text });
    }
    for service in &site.meta.services {
        let file = folder.join("sites").join(&site.host).join(&service.table);
        read(vec![place(&service.path)], &file, extract, all);
    }
}

/// Adds a file: its name and its text, as far as it has one.
fn read(
    places: Vec<String>,
    file: &Utf8Path,
    extract: &impl Fn(&Utf8Path) -> Option<String>,
    all: &mut Vec<Material>,
) {
    let raw = std::fs::read(file).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let name = Some(places.join("\n"));
    let texts: Vec<String> = [name, raw, extract(file)].into_iter().flatten().collect();
    all.push(Material { places, text: texts.join("\n\n") });
}
