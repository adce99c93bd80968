//! `wildgym agreement`: how far a judge can be trusted.
//!
//! Two measures: labels that people gave to the trials of a run, against the stored
//! verdicts; and pairs whose label is known, against a judge that is asked now. The first
//! changes nothing in a run, the second needs none.

mod labels;
mod pairs;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::judging::ModelsArgs;
use super::start::Shown;
use super::{Code, Failure, data};
use crate::report::{self, AgreementView};

/// Measure a judge against labels: agreement, Cohen's kappa, who said what
///
/// With RUN and LABELS: labels of trials, given by people, against the verdicts stored in
/// the run. LABELS is a CSV file with the columns `trial` and `label` (pass or fail);
/// `--template` prints one to fill in, without verdicts, so that labels are blind.
///
/// With `--pairs`: a judge is asked about labelled pairs of a question and an answer, of
/// which more than 300 come with wildgym, easy and hard, in English and Chinese. Nothing is
/// stored.
#[derive(Debug, Args)]
#[command(mut_arg("judge_base_url", |arg| arg.help(
    "Base URL of the judge's endpoint [default: `OPENAI_BASE_URL`, else \
     `https://api.openai.com/v1`]",
)))]
#[command(mut_arg("judge_api_key_env", |arg| arg.help(
    "Environment variable that holds the key of the judge's endpoint [default: `OPENAI_API_KEY`]",
)))]
pub(super) struct AgreementArgs {
    /// Directory of the run
    #[arg(required_unless_present_any = ["pairs", "print_pairs"],
          conflicts_with_all = ["pairs", "print_pairs"])]
    run: Option<Utf8PathBuf>,

    /// CSV file with labels of the run's trials, see `--template`
    #[arg(required_unless_present_any = ["template", "pairs", "print_pairs"])]
    labels: Option<Utf8PathBuf>,

    /// Print a CSV file to fill in: every answered trial with question, reference and answer
    #[arg(long, requires = "run", conflicts_with_all = ["labels", "json", "judge"])]
    template: bool,

    /// Judge labelled pairs, those of FILE or those that come with wildgym
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    #[expect(clippy::option_option, reason = "the flag without a file is a choice of its own")]
    pairs: Option<Option<Utf8PathBuf>>,

    /// Print the pairs that come with wildgym, as a start for your own
    #[arg(long, conflicts_with_all = ["pairs", "template", "json", "judge"])]
    print_pairs: bool,

    /// With RUN: the judge whose verdicts count, by the name of its file in `verdicts/`
    /// [default: the run's]; with `--pairs`: who judges, `exact`, `llm` or `auto` [default: auto]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,

    /// Ask the judge model about every pair, also those that are decided without one
    #[arg(long)]
    every_pair: bool,

    #[command(flatten)]
    models: ModelsArgs,

    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(args: &AgreementArgs) -> Result<Code, Failure> {
    if args.print_pairs {
        data(wildgym_tasks::judging::SHIPPED);
        return Ok(Code::Done);
    }
    let view = if let Some(file) = &args.pairs {
        pairs::judge(args, file.as_deref())?
    } else {
        // Clap has seen to it that there is a run, and labels where no template is wanted.
        let run = args.run.as_deref().unwrap_or(Utf8Path::new(""));
        let every = args.every_pair.then_some("--every-pair");
        if let Some(flag) = every.or_else(|| args.models.given()) {
            return Err(Failure::usage(format!("`{flag}` has no use with a run"))
                .hint("its verdicts are stored; another judge's come with `wildgym rejudge RUN`"));
        }
        match &args.labels {
            None => return labels::template(run),
            Some(labels) => labels::compare(run, labels, args.judge.as_deref())?,
        }
    };
    print(&view, args.shown.json);
    Ok(if view.unjudged() > 0 { Code::Incomplete } else { Code::Done })
}

fn print(view: &AgreementView, json: bool) {
    if json {
        data(&report::agreement_json(view).to_string());
        return;
    }
    let (width, colour) = super::terminal();
    data(&report::agreement(view, width, colour));
}

/// Reads a text file.
fn text_of(path: &Utf8Path) -> Result<String, Failure> {
    let bytes = std::fs::read(path)
        .map_err(|error| Failure::usage(format!("cannot read `{path}`: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage(format!("`{path}` is not UTF-8"))
            .hint("save it as UTF-8; spreadsheets call that `CSV UTF-8`")
    })?;
    Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
}
