"""What the server answers, as data. Fields that this version does not know are ignored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional

Json = Dict[str, Any]


class Refused(Exception):
    """The server refused a request: `status` and `code` say why, `message` what helps."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{code} ({status}): {message}")
        self.status = status
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Episode:
    """Which episode a session is in."""

    task: str
    variant: str
    seed: int
    attempt: int

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Episode:
        return cls(data["task"], data["variant"], data["seed"], data["attempt"])


@dataclass(frozen=True)
class Told:
    """What the agent is asked: a system prompt that may be used, and the request."""

    system: str
    user: str
    attachments: List[str]
    language: str

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Told:
        return cls(data["system"], data["user"], list(data["attachments"]), data["language"])

    def messages(self) -> List[Json]:
        """Returns the beginning of a conversation in the form of chat completions."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.user},
        ]


@dataclass(frozen=True)
class CallResult:
    """What came of a call; `error` is its kind where the content is one."""

    id: str
    name: str
    content: str
    error: Optional[str] = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> CallResult:
        return cls(data["id"], data["name"], data["content"], data.get("error"))


@dataclass(frozen=True)
class Observation:
    """What can be seen of a session."""

    session: str
    step: int
    terminated: bool
    truncated: bool
    results: List[CallResult] = field(default_factory=list)
    episode: Optional[Episode] = None
    told: Optional[Told] = None
    reminder: Optional[str] = None
    steps_left: Optional[int] = None
    outcome: Optional[str] = None
    detail: Optional[str] = None
    evaluation: Optional[Evaluation] = None

    @property
    def done(self) -> bool:
        """Whether the episode is over, for whatever reason."""
        return self.terminated or self.truncated

    @property
    def lost(self) -> bool:
        """Whether something of the gym's broke it: leave such an episode out."""
        return (self.outcome or "").startswith("lost:")

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Observation:
        episode, told = data.get("episode"), data.get("told")
        evaluation = data.get("evaluation")
        return cls(
            session=data["session"],
            step=data["step"],
            terminated=data["terminated"],
            truncated=data["truncated"],
            results=[CallResult.read(one) for one in data.get("results", [])],
            episode=Episode.read(episode) if episode else None,
            told=Told.read(told) if told else None,
            reminder=data.get("reminder"),
            steps_left=data.get("steps_left"),
            outcome=data.get("outcome"),
            detail=data.get("detail"),
            evaluation=Evaluation.read(evaluation) if evaluation else None,
        )

    def messages(self) -> List[Json]:
        """Returns what a chat model is to be told now: the request, or results of its calls."""
        told = self.told.messages() if self.told else []
        results = [
            {"role": "tool", "tool_call_id": one.id, "content": one.content}
            for one in self.results
        ]
        reminder = [{"role": "user", "content": self.reminder}] if self.reminder else []
        return told + results + reminder


@dataclass(frozen=True)
class Figures:
    """So many of so many; `of` is 0 where there is nothing of the kind."""

    right: int
    of: int

    @property
    def share(self) -> Optional[float]:
        """The share, 0 to 1; none of nothing."""
        return self.right / self.of if self.of else None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Figures:
        return cls(data["right"], data["of"])


@dataclass(frozen=True)
class Parts:
    """Figures of an episode, of which rewards can be made."""

    passed: float
    degraded: float
    answered: float
    checks: Figures
    expected_calls: Figures
    assertions: Figures
    milestones: Figures
    discovered: Figures
    steps: int
    calls: int
    failed_calls: int
    tool_tokens: int
    conduct: Optional[Json] = None
    composite: Optional[float] = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Parts:
        def figures(name: str) -> Figures:
            return Figures.read(data[name])

        return cls(
            passed=data["passed"],
            degraded=data["degraded"],
            answered=data["answered"],
            checks=figures("checks"),
            expected_calls=figures("expected_calls"),
            assertions=figures("assertions"),
            milestones=figures("milestones"),
            discovered=figures("discovered"),
            steps=data["steps"],
            calls=data["calls"],
            failed_calls=data["failed_calls"],
            tool_tokens=data["tool_tokens"],
            conduct=data.get("conduct"),
            composite=data.get("composite"),
        )


@dataclass(frozen=True)
class Evaluation:
    """What an episode is worth. `reward` is none where nobody can tell: leave it out then."""

    session: str
    episode: Episode
    reward: Optional[float]
    verdict: str
    reasons: List[str]
    terminated: bool
    truncated: bool
    outcome: str
    parts: Parts

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Evaluation:
        return cls(
            session=data["session"],
            episode=Episode.read(data["episode"]),
            reward=data["reward"],
            verdict=data["verdict"],
            reasons=list(data["reasons"]),
            terminated=data["terminated"],
            truncated=data["truncated"],
            outcome=data["outcome"],
            parts=Parts.read(data["parts"]),
        )


@dataclass(frozen=True)
class TaskInfo:
    """A task that is served; `lacking` says why it cannot be tried there, where it cannot."""

    id: str
    title: str
    scenario: str
    domain: str
    language: str
    factors: List[str]
    tools: int
    lacking: Optional[str] = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> TaskInfo:
        return cls(
            id=data["id"],
            title=data["title"],
            scenario=data["scenario"],
            domain=data["domain"],
            language=data["language"],
            factors=list(data["factors"]),
            tools=data["tools"],
            lacking=data.get("lacking"),
        )
