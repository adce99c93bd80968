//! Who judges: from flags and variables to a judge that has shown that it can.
//!
//! A judge with a model is asked three trivial questions before anything is made or run, so
//! that a wrong key or name costs seconds and not a night.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use url::Url;

use super::beside::Beside;
use super::{Failure, environment, start};
use crate::judge::Judge;
use crate::judge::llm::rubric::{self, Raters};
use crate::judge::llm::{self, Panel, PanelError, PreflightError};
use crate::model::{Cassette, Model};
use crate::runner::Left;
use crate::store::{JudgeConfig, ModelConfig, RunConfig, Store, TaskData};

/// Most tokens of a judge's reply: a verdict needs few, thinking before it more.
const MAX_TOKENS: u32 = 4096;

/// What is said of a line of verdicts that cannot be read.
pub(super) const BAD_LINE: &str = "this line counts as no verdict";

/// Who judges.
#[derive(Debug, Args)]
#[command(next_help_heading = "Judge")]
pub(super) struct JudgeArgs {
    /// Who judges answers: equality alone, or a model where equality does not decide; with
    /// `rubric` the model rates too how the work was done. `auto` is `llm` where a judge model
    /// is named, else `exact` [default: auto]
    #[arg(long, value_enum, value_name = "WHO")]
    judge: Option<JudgeName>,

    #[command(flatten)]
    models: ModelsArgs,
}

/// The models of a judge.
#[derive(Debug, Args)]
#[command(next_help_heading = "Judge")]
pub(super) struct ModelsArgs {
    /// Model that judges, by the name its endpoint knows; several take turns
    /// [default: `WILDGYM_JUDGE_MODEL`]
    #[arg(id = "judge_model", long = "judge-model", value_name = "NAME")]
    models: Vec<String>,

    /// Votes on an answer, an odd number; more than half must agree
    /// [default: 1 (5 with `--judge rubric`), or the next odd number that lets every model vote]
    #[arg(id = "judge_votes", long = "judge-votes", value_name = "COUNT")]
    votes: Option<u32>,

    /// More fields of every request to the judge, as a JSON object
    #[arg(id = "judge_extra", long = "judge-extra", value_name = "JSON")]
    extra: Option<String>,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Where a judge is and how fast it is asked: what moves no verdict.
#[derive(Debug, Args)]
#[command(next_help_heading = "Judge")]
struct PlaceArgs {
    /// Base URL of the judge's endpoint [default: the agent's, else `OPENAI_BASE_URL`, else
    /// `https://api.openai.com/v1`]
    #[arg(id = "judge_base_url", long = "judge-base-url", value_name = "URL")]
    base_url: Option<String>,

    /// Environment variable that holds the key of the judge's endpoint
    /// [default: the agent's at the agent's endpoint, else `OPENAI_API_KEY`]
    #[arg(id = "judge_api_key_env", long = "judge-api-key-env", value_name = "NAME")]
    api_key_env: Option<String>,

    /// Requests in flight at the judge's endpoint at once [default: 16]
    #[arg(id = "judge_requests", long = "judge-requests", value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(1..))]
    requests: Option<u32>,

    /// How long a request to the judge may take, in seconds [default: 300]
    #[arg(id = "judge_request_seconds", long = "judge-request-seconds", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..))]
    request_seconds: Option<u64>,
}

/// The same flags for a run whose judge has moved.
#[derive(Debug, Args)]
#[command(next_help_heading = "Judge")]
pub(super) struct MovedArgs {
    /// Base URL of the judge's endpoint, where the judge has moved
    #[arg(id = "judge_base_url", long = "judge-base-url", value_name = "URL")]
    base_url: Option<String>,

    /// Environment variable that holds the key of the judge's endpoint, where it is another now
    #[arg(id = "judge_api_key_env", long = "judge-api-key-env", value_name = "NAME")]
    api_key_env: Option<String>,

    /// Requests in flight at the judge's endpoint at once [default: the run's]
    #[arg(id = "judge_requests", long = "judge-requests", value_name = "COUNT",
          value_parser = clap::value_parser!(u32).range(1..))]
    requests: Option<u32>,

    /// How long a request to the judge may take, in seconds [default: the run's]
    #[arg(id = "judge_request_seconds", long = "judge-request-seconds", value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..))]
    request_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum JudgeName {
    /// Equality with the reference or an accepted form
    Exact,
    /// A model where equality does not decide
    Llm,
    /// The same, and votes on how the work was done: six scores and three means
    Rubric,
    /// `llm` where a judge model is named, else `exact`
    Auto,
}

impl JudgeArgs {
    /// Returns the judge that is meant. `agent` is the model that acts, where there is one:
    /// without other words the judge is asked where it is.
    pub(super) fn config(&self, agent: Option<&ModelConfig>) -> Result<JudgeConfig, Failure> {
        self.models.config(self.judge, agent)
    }
}

impl ModelsArgs {
    /// Returns the judge that is meant by these flags and by what `judge` says of them, see
    /// [`JudgeArgs::config`].
    pub(super) fn config(
        &self,
        judge: Option<JudgeName>,
        agent: Option<&ModelConfig>,
    ) -> Result<JudgeConfig, Failure> {
        let mut names = self.models.clone();
        if names.is_empty() && judge != Some(JudgeName::Exact) {
            names.extend(environment::get(environment::JUDGE_MODEL));
        }
        if names.is_empty() || judge == Some(JudgeName::Exact) {
            return self.exact(judge, &names);
        }
        if let Some(name) = names.iter().find(|name| name.trim().is_empty()) {
            return Err(Failure::usage(format!("`{name}` is no model's name"))
                .hint("name the judge's model with `--judge-model NAME`"));
        }
        let extra = self.extra()?.unwrap_or_default();
        let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let models =
            names.into_iter().map(|name| self.place.model(name, extra.clone(), agent)).collect();
        let rubric = judge == Some(JudgeName::Rubric);
        voting(models, self.votes.unwrap_or_else(|| usual(count, rubric)), rubric)
    }

    /// Returns the judge that is meant for a stored run: its own, moved or changed as the
    /// flags say, or another one, which is asked where the run's judge is, else where its
    /// agent is. `WILDGYM_JUDGE_MODEL` counts only where `llm` or `rubric` is asked for and the
    /// run's judge has no model.
    pub(super) fn for_run(
        &self,
        judge: Option<JudgeName>,
        run: &RunConfig,
    ) -> Result<JudgeConfig, Failure> {
        let own = &run.judge;
        let rubric = match judge {
            Some(JudgeName::Rubric) => true,
            Some(JudgeName::Exact | JudgeName::Llm) => false,
            Some(JudgeName::Auto) | None => own.rubric,
        };
        let asked = matches!(judge, Some(JudgeName::Llm | JudgeName::Rubric));
        let another = judge == Some(JudgeName::Exact) || (asked && own.models.is_empty());
        if another || !self.models.is_empty() {
            let agent = run.conditions.values().find_map(|condition| condition.model.as_ref());
            return self.config(judge, own.models.first().or(agent));
        }
        let changed =
            [(self.votes.is_some(), "--judge-votes"), (self.extra.is_some(), "--judge-extra")];
        let changed = changed.into_iter().find(|(given, _)| *given).map(|(_, flag)| flag);
        if let Some(flag) = changed.filter(|_| own.models.is_empty()) {
            return Err(Failure::usage(format!(
                "the run's judge is `{}`, which takes no `{flag}`",
                own.name
            ))
            .hint("name the model too with `--judge-model NAME`"));
        }
        let mut own = own.clone();
        self.place.apply(&mut own)?;
        if changed.is_none() && rubric == own.rubric {
            check_prompts(run)?;
            return Ok(own);
        }
        if let Some(extra) = self.extra()? {
            own.models.iter_mut().for_each(|model| model.extra.clone_from(&extra));
        }
        let count = u32::try_from(own.models.len()).unwrap_or(u32::MAX);
        let votes = if rubric == own.rubric { own.votes } else { usual(count, rubric) };
        voting(own.models, self.votes.unwrap_or(votes), rubric)
    }

    /// Reads `--judge-extra`, where it is given.
    fn extra(&self) -> Result<Option<serde_json::Map<String, serde_json::Value>>, Failure> {
        let Some(text) = &self.extra else { return Ok(None) };
        serde_json::from_str(text).map(Some).map_err(|error| {
            Failure::usage(format!("`--judge-extra` is not a JSON object: {error}"))
        })
    }

    /// Returns the exact judge, unless a flag asks for more than it can.
    fn exact(&self, judge: Option<JudgeName>, names: &[String]) -> Result<JudgeConfig, Failure> {
        let needs = match judge {
            Some(JudgeName::Llm) => Some("llm"),
            Some(JudgeName::Rubric) => Some("rubric"),
            Some(JudgeName::Exact | JudgeName::Auto) | None => None,
        };
        if let Some(name) = needs {
            return Err(Failure::usage(format!("`--judge {name}` needs a model")).hint(format!(
                "name one with `--judge-model NAME` or in `{}`, and its endpoint with \
                 `--judge-base-url URL`",
                environment::JUDGE_MODEL
            )));
        }
        let model = (!names.is_empty()).then_some("--judge-model");
        match model.or_else(|| self.given()) {
            None => Ok(JudgeConfig::exact()),
            Some(flag) => Err(Failure::usage(format!("judge `exact` takes no `{flag}`"))
                .hint("name a judge model with `--judge-model NAME`, without `--judge exact`")),
        }
    }

    /// Returns the first of these flags that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let place = &self.place;
        let given = [
            (!self.models.is_empty(), "--judge-model"),
            (self.votes.is_some(), "--judge-votes"),
            (self.extra.is_some(), "--judge-extra"),
            (place.base_url.is_some(), "--judge-base-url"),
            (place.api_key_env.is_some(), "--judge-api-key-env"),
            (place.requests.is_some(), "--judge-requests"),
            (place.request_seconds.is_some(), "--judge-request-seconds"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, flag)| flag)
    }
}

impl PlaceArgs {
    fn model(
        &self,
        name: String,
        extra: serde_json::Map<String, serde_json::Value>,
        agent: Option<&ModelConfig>,
    ) -> ModelConfig {
        let beside = Beside {
            base_url: self.base_url.as_ref(),
            key_env: self.api_key_env.as_ref(),
            requests: self.requests,
            request_seconds: self.request_seconds,
            max_tokens: MAX_TOKENS,
        };
        beside.model(name, extra, agent)
    }

    fn apply(&self, config: &mut JudgeConfig) -> Result<(), Failure> {
        let Self { base_url, api_key_env, requests, request_seconds } = self;
        let given = base_url.is_some() || api_key_env.is_some();
        let given = given || requests.is_some() || request_seconds.is_some();
        if given && config.models.is_empty() {
            return Err(Failure::usage(format!(
                "the run's judge is `{}`, which asks no endpoint",
                config.name
            ))
            .hint("judge with a model by `wildgym rejudge RUN --judge-model NAME`"));
        }
        for model in &mut config.models {
            if let Some(url) = base_url {
                model.base_url.clone_from(url);
            }
            if let Some(name) = api_key_env {
                model.key_env.clone_from(name);
            }
            model.requests = requests.unwrap_or(model.requests);
            model.request_seconds = request_seconds.unwrap_or(model.request_seconds);
        }
        Ok(())
    }
}

impl MovedArgs {
    /// Applies what moves no verdict: where the judge is and how fast it is asked.
    pub(super) fn apply(&self, config: &mut JudgeConfig) -> Result<(), Failure> {
        let Self { base_url, api_key_env, requests, request_seconds } = self;
        let (base_url, api_key_env) = (base_url.clone(), api_key_env.clone());
        let (requests, request_seconds) = (*requests, *request_seconds);
        PlaceArgs { base_url, api_key_env, requests, request_seconds }.apply(config)
    }
}

/// Returns the votes of so many models where nobody says a number.
fn usual(models: u32, rubric: bool) -> u32 {
    let least = models | 1;
    if rubric { least.max(rubric::VOTES) } else { least }
}

/// Returns the judge in which `models` cast `votes`, and rate too where there is a `rubric`.
fn voting(models: Vec<ModelConfig>, votes: u32, rubric: bool) -> Result<JudgeConfig, Failure> {
    Panel::check(models.len(), votes).map_err(|error| {
        Failure::usage(error.to_string())
            .hint("give `--judge-votes` an odd number that lets every judge model vote")
    })?;
    let name = if rubric { llm::name_of_rubric(&models, votes) } else { llm::name(&models, votes) };
    Ok(JudgeConfig { name, models, votes, prompts: prompts(rubric), rubric })
}

/// Returns the digest of the prompts of a judge.
fn prompts(rubric: bool) -> String {
    if rubric { rubric::prompts() } else { llm::prompts() }
}

/// Which tasks a run has, by who decides on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decided {
    /// All by an answer, which a judge reads.
    Answer,
    /// All by calls and state, which gates decide on without any judge.
    Gates,
    /// Some so and some so.
    Both,
}

impl Decided {
    /// Looks at the tasks of a run; where they cannot be read, which is told elsewhere, all
    /// are taken for the usual ones.
    pub(super) fn in_run(store: &Store, config: &RunConfig) -> Self {
        config.tasks(&store.blobs()).map_or(Self::Answer, |tasks| Self::of(&tasks))
    }

    fn of(tasks: &BTreeMap<String, TaskData>) -> Self {
        let gated = tasks.values().filter(|task| task.scenario_file.is_some()).count();
        match gated {
            0 => Self::Answer,
            all if all == tasks.len() => Self::Gates,
            _ => Self::Both,
        }
    }
}

/// Returns what the first line of a run says about its judge: its name, and where tasks and
/// answers are sent.
pub(super) fn label(config: &JudgeConfig, replayed: bool, decided: Decided) -> String {
    let gates = "deterministic gates";
    match (decided, config.models.is_empty()) {
        (Decided::Answer, true) => format!("{} (no judge model: a lower bound)", config.name),
        (Decided::Answer, false) => by_model(config, replayed),
        (Decided::Gates, true) => format!("{gates} (no judge model: no rubric is read)"),
        (Decided::Gates, false) => format!("{gates}, rubrics by {}", by_model(config, replayed)),
        (Decided::Both, true) => {
            format!("{gates}; answers by {} (no judge model: a lower bound)", config.name)
        }
        (Decided::Both, false) => {
            format!("{gates}; answers and rubrics by {}", by_model(config, replayed))
        }
    }
}

/// Returns the name of a judge with models, and where they are asked.
fn by_model(config: &JudgeConfig, replayed: bool) -> String {
    if replayed {
        return config.name.clone();
    }
    let mut hosts: Vec<String> = Vec::new();
    for model in &config.models {
        let host = host(&model.base_url);
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    format!("{} at {}", config.name, hosts.join(", "))
}

/// Returns the host of an address, with its port where it has one; else the address.
fn host(address: &str) -> String {
    let Ok(url) = Url::parse(address) else { return address.to_owned() };
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => address.to_owned(),
    }
}

/// Makes a judge without asking anybody.
fn judge(config: &JudgeConfig, cassette: Option<&Arc<Cassette>>) -> Result<Judge, Failure> {
    if config.models.is_empty() {
        return Ok(Judge::Exact);
    }
    let models = clients(config, cassette)?;
    let unfit = |error: PanelError| Failure::usage(error.to_string());
    let panel = Panel::new(models.clone(), config.votes).map_err(unfit)?;
    if config.rubric {
        let raters = Raters::new(&models, config.votes).map_err(unfit)?;
        return Ok(Judge::Rubric(panel, raters));
    }
    Ok(Judge::Llm(panel))
}

/// Makes the panel of a judge with models.
pub(super) fn panel(
    config: &JudgeConfig,
    cassette: Option<&Arc<Cassette>>,
) -> Result<Panel, Failure> {
    Panel::new(clients(config, cassette)?, config.votes)
        .map_err(|error| Failure::usage(error.to_string()))
}

/// Makes the clients of the models of a judge.
fn clients(config: &JudgeConfig, cassette: Option<&Arc<Cassette>>) -> Result<Vec<Model>, Failure> {
    let clients = config.models.iter().map(|model| start::client(model, cassette));
    let clients = clients.collect::<Result<Vec<_>, _>>();
    // The one hint is about the key, in the words of the agent's flags.
    clients.map_err(|failure| match failure.hint {
        Some(_) => failure.hint(
            "set it, name another variable with `--judge-api-key-env`, or an endpoint with \
             `--judge-base-url`",
        ),
        None => failure,
    })
}

/// Makes a judge and has it judge a right and two wrong answers.
pub(super) fn checked(
    config: &JudgeConfig,
    cassette: Option<&Arc<Cassette>>,
) -> Result<Judge, Failure> {
    if config.models.is_empty() {
        return Ok(Judge::Exact);
    }
    // Connections live with the runtime they were made in, so the panel that stays is another.
    let (first, lasting) = (panel(config, cassette)?, judge(config, cassette)?);
    for model in &config.models {
        start::check_endpoint(model, cassette).map_err(|failure| {
            failure.hint("start the judge's endpoint, or name another with `--judge-base-url`")
        })?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::usage(format!("cannot start: {error}")))?;
    let done = runtime.block_on(first.preflight());
    runtime.shutdown_timeout(Duration::ZERO);
    done.map_err(|error| {
        if let Some(cassette) = cassette {
            cassette.forget_asides();
        }
        failed_first(&error, cassette)
    })?;
    if let Judge::Llm(panel) | Judge::Rubric(panel, _) = &lasting {
        panel.set_plain(&first.plain());
    }
    Ok(lasting)
}

/// Says why a judge failed its first questions: of a replayed one that is the cassette's
/// matter, and no endpoint's.
fn failed_first(error: &PreflightError, cassette: Option<&Arc<Cassette>>) -> Failure {
    let met = cassette.filter(|cassette| cassette.is_replayed()).map(|cassette| cassette.met());
    let differs = met.is_some_and(|met| met.diverged + met.missing > 0);
    if let (PreflightError::NoReply { model, reason, .. }, true) = (error, differs) {
        return Failure::usage(format!(
            "judge model `{model}` is not asked what the cassette holds: {reason}"
        ))
        .hint(
            "replay with the judge that was recorded (`--judge-model`, `--judge-extra`) and the \
             version of wildgym that recorded it; `--judge exact` needs no judge model",
        );
    }
    Failure::usage(format!("the judge failed its first questions: {error}")).hint(
        "check `--judge-model`, `--judge-base-url` and the key, or take another judge; \
         `--judge exact` needs none",
    )
}

/// Makes the judge that a stored run names, and checks it where something is left to judge.
pub(super) fn for_stored(
    store: &Store,
    config: &RunConfig,
    cassette: Option<&Arc<Cassette>>,
) -> Result<Judge, Failure> {
    let left = Left::find(store, config, &config.judge.name)?;
    super::say_damaged(&left.bad_lines, BAD_LINE);
    if left.to_try.is_empty() && left.skipped.is_empty() && left.to_judge.is_empty() {
        return judge(&config.judge, cassette);
    }
    check_prompts(config)?;
    check_questions(store, config, &config.judge)?;
    if let Some(cassette) = cassette {
        cassette.claim(&config.created.to_string());
    }
    checked(&config.judge, cassette)
}

/// Refuses to go on with a judge whose prompts this program does not have.
pub(super) fn check_prompts(config: &RunConfig) -> Result<(), Failure> {
    let judge = &config.judge;
    if judge.models.is_empty() || judge.prompts == prompts(judge.rubric) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "this version of wildgym asks judges in other words than judge `{}` was asked in",
        judge.name
    ))
    .hint(format!(
        "use wildgym {}, or judge everything anew with `wildgym rejudge RUN --judge-model {}`",
        config.wildgym, judge.models[0].name
    )))
}

/// Refuses to have a model judge a run that does not hold what was asked.
pub(super) fn check_questions(
    store: &Store,
    config: &RunConfig,
    judge: &JudgeConfig,
) -> Result<(), Failure> {
    if judge.models.is_empty() {
        return Ok(());
    }
    let tasks = config.tasks(&store.blobs())?;
    let without = config
        .plan
        .tasks
        .iter()
        .find(|id| tasks.get(*id).is_none_or(|task| task.questions.is_empty()));
    match without {
        None => Ok(()),
        Some(id) => Err(Failure::usage(format!(
            "`{}` does not hold what task `{id}` asks, so no model can judge it",
            store.root()
        ))
        .hint("the run was made by an older version; begin anew with `wildgym run`")),
    }
}
