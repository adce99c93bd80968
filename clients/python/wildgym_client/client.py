"""The client: sessions of a server, stepped one by one or many at once.

A request that the server cannot take now is sent again after the time that it names. A
step carries its number, so one whose reply was lost is sent again and done once. One
client may be used by many threads; each has a connection of its own.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from types import TracebackType
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Type, Union
from urllib.parse import quote, urlsplit

from .types import Evaluation, Json, Observation, Refused, TaskInfo

Outcome = Union[Observation, Evaluation, Refused, None]


# Seconds for which a server that was there may be away.
_AWAY = 30.0

# Seconds after which an unused connection is opened anew.
_IDLE = 120.0


def call(name: str, id: Optional[str] = None, /, **arguments: Any) -> Json:
    """Returns a call of a tool: `call("crm_get_contact", contact_id=7)`.

    The tool's name, and an id for the call, stand in their places alone, so that arguments may
    have any name.
    """
    made: Json = {"name": name, "arguments": arguments}
    if id is not None:
        made["id"] = id
    return made


class Client:
    """A server of episodes."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        timeout: float = 300.0,
        patience: float = 600.0,
    ) -> None:
        """Takes the server's address and token, else `WILDGYM_URL` and `WILDGYM_TOKEN`.

        `timeout` is how long a request may take, `patience` for how long one is sent again
        that the server cannot take, both in seconds.
        """
        url = url or os.environ.get("WILDGYM_URL") or "http://127.0.0.1:8642"
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"`{url}` is no address of a server, such as http://127.0.0.1:8642")
        self._https = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._root = parts.path.rstrip("/")
        self._token = token or os.environ.get("WILDGYM_TOKEN") or ""
        self._timeout = timeout
        self._patience = patience
        self._local = threading.local()
        self._met = False

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Closes this thread's connection; the next request opens another."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def status(self) -> Json:
        """Returns how the server is doing."""
        return self.request("GET", "/v1/status")

    def tasks(self) -> List[TaskInfo]:
        """Returns the tasks that are served."""
        return [TaskInfo.read(one) for one in self.request("GET", "/v1/tasks")["tasks"]]

    def tools(self, task: str) -> List[Json]:
        """Returns the schemas of a task's tools, as chat completions take them."""
        tools: List[Json] = self.request("GET", f"/v1/tasks/{quote(task, safe='')}/tools")["tools"]
        return tools

    def open(
        self,
        task: Optional[str] = None,
        *,
        count: int = 1,
        seed: Optional[int] = None,
        idealise: Iterable[str] = (),
    ) -> List[Session]:
        """Opens sessions. With a task, an episode of it begins in each, all of one seed."""
        body: Json = {"count": count}
        if task is not None:
            body["episode"] = _episode(task, seed, idealise)
        opened = self.request("POST", "/v1/sessions", body, again=False)["sessions"]
        return [Session(self, Observation.read(one)) for one in opened]

    def step_all(self, steps: Sequence[Tuple[Session, Mapping[str, Any]]]) -> List[Outcome]:
        """Makes a step in each of many sessions at once.

        A step is what `Session.step` and its companions send: `{"calls": [...]}`,
        `{"answer": "..."}` or `{"message": {...}}`. What was refused is returned as the
        exception that it would be by itself.
        """
        requests = [
            {"session": session.id, "op": "step", "body": {**step, "step": session.seen.step + 1}}
            for session, step in steps
        ]
        outcomes: List[Outcome] = []
        for (session, _), reply in zip(steps, self._batch(requests)):
            outcome = _outcome(reply)
            if isinstance(outcome, Observation):
                session.seen = outcome
            outcomes.append(outcome)
        return outcomes

    def evaluate_all(self, sessions: Sequence[Session]) -> List[Outcome]:
        """Has the episodes of many sessions judged at once."""
        requests = [{"session": session.id, "op": "evaluate"} for session in sessions]
        return [_outcome(reply) for reply in self._batch(requests)]

    def close_all(self, sessions: Sequence[Session]) -> None:
        """Closes many sessions at once."""
        self._batch([{"session": session.id, "op": "close"} for session in sessions])

    def _batch(self, requests: List[Json], most: int = 256) -> List[Json]:
        """Sends requests in portions. Those that the server could not take go again."""
        replies: List[Optional[Json]] = [None] * len(requests)
        left = list(range(len(requests)))
        end = time.monotonic() + self._patience
        while left:
            later: List[int] = []
            for start in range(0, len(left), most):
                places = left[start : start + most]
                body = {"requests": [requests[place] for place in places]}
                answers = self.request("POST", "/v1/batch", body)["replies"]
                for place, answer in zip(places, answers):
                    replies[place] = answer
                    # Only what may be taken later says when.
                    if (answer.get("error") or {}).get("retry_after") is not None:
                        later.append(place)
            if later and time.monotonic() > end:
                break
            if later:
                time.sleep(1.0)
            left = later
        return [reply for reply in replies if reply is not None]

    def request(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        *,
        again: bool = True,
    ) -> Json:
        """Sends a request and returns the answer, or raises `Refused`.

        `again` says whether the request may be sent again where it is not known if it
        arrived. A server that was never there is an error at once; one that was is waited for
        half a minute.
        """
        begin = time.monotonic()
        end = begin + self._patience
        lost = False
        while True:
            if not again:
                # One that was kept may be closed by now, and then nobody could tell what arrived.
                self.disconnect()
            try:
                status, headers, data = self._exchange(method, path, body)
                self._met = True
            except (OSError, http.client.HTTPException) as error:
                self.disconnect()
                if isinstance(error, ConnectionRefusedError):
                    # Nobody is there: never was, or went away and may come again. Nothing arrived.
                    end = min(end, begin + _AWAY) if self._met else begin
                elif not again:
                    raise
                else:
                    lost = True
                if time.monotonic() >= end:
                    raise
                time.sleep(0.2)
                continue
            answer = _json(data)
            if status == 200 and answer is not None:
                return answer
            refused = _refusal(status, answer, data)
            wait = _seconds(headers.get("retry-after")) if status in (429, 503) else None
            if refused.code == "busy" and (lost or method == "DELETE"):
                # With what was asked before, and whose reply was lost; or there is a step to wait
                # for before the session can be closed.
                wait = 0.2
            if wait is None or time.monotonic() >= end:
                raise refused
            time.sleep(wait)

    def _exchange(
        self, method: str, path: str, body: Optional[Mapping[str, Any]]
    ) -> Tuple[int, Dict[str, str], bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is not None and time.monotonic() - self._local.used > _IDLE:
            # The server may be about to close what nobody uses.
            self.disconnect()
            connection = None
        if connection is None:
            kind = http.client.HTTPSConnection if self._https else http.client.HTTPConnection
            connection = kind(self._host, self._port, timeout=self._timeout)
            self._local.connection = connection
        self._local.used = time.monotonic()
        sent = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        connection.request(method, self._root + path, sent, headers)
        response = connection.getresponse()
        data = response.read()
        self._local.used = time.monotonic()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, data


class Session:
    """One session; it closes with its `with` block."""

    def __init__(self, client: Client, seen: Observation) -> None:
        self.client = client
        self.seen = seen
        """The last observation."""

    @property
    def id(self) -> str:
        """The session's id, with which an agent can step it by itself."""
        return self.seen.session

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def reset(
        self, task: str, *, seed: Optional[int] = None, idealise: Iterable[str] = ()
    ) -> Observation:
        """Begins an episode; the one before is closed."""
        body = _episode(task, seed, idealise)
        answer = self.client.request("POST", f"/v1/sessions/{self.id}/reset", body)
        self.seen = Observation.read(answer)
        return self.seen

    def observe(self) -> Observation:
        """Asks how the session stands."""
        answer = self.client.request("GET", f"/v1/sessions/{self.id}")
        self.seen = Observation.read(answer)
        return self.seen

    def step(self, calls: Sequence[Mapping[str, Any]]) -> Observation:
        """Makes calls, all at once; see `call`."""
        return self._step({"calls": list(calls)})

    def answer(self, text: str) -> Observation:
        """Gives the final answer, which ends the episode."""
        return self._step({"answer": text})

    def reply(self, message: Mapping[str, Any]) -> Observation:
        """Does what a model's reply says: a message of chat completions, as it came."""
        return self._step({"message": dict(message)})

    def _step(self, step: Json) -> Observation:
        body = {**step, "step": self.seen.step + 1}
        answer = self.client.request("POST", f"/v1/sessions/{self.id}/step", body)
        self.seen = Observation.read(answer)
        return self.seen

    def evaluate(self) -> Evaluation:
        """Has the episode judged; one that goes on ends. It can be asked once."""
        try:
            answer = self.client.request("POST", f"/v1/sessions/{self.id}/evaluate", {})
            return Evaluation.read(answer)
        except Refused as refused:
            # Perhaps it was judged, and the reply was lost.
            seen = self.observe() if refused.code == "evaluated" else None
            if seen is None or seen.evaluation is None:
                raise
            return seen.evaluation

    def close(self) -> None:
        """Closes the session; one that is closed stays so."""
        try:
            self.client.request("DELETE", f"/v1/sessions/{self.id}")
        except Refused as refused:
            if refused.status not in (404, 410):
                raise


def _episode(task: str, seed: Optional[int], idealise: Iterable[str]) -> Json:
    episode: Json = {"task": task, "idealise": list(idealise)}
    if seed is not None:
        episode["seed"] = seed
    return episode


def _json(data: bytes) -> Optional[Json]:
    try:
        answer = json.loads(data)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _refusal(status: int, answer: Optional[Json], data: bytes) -> Refused:
    """Returns what a refusal says, which need not come from the server: a proxy has its own."""
    error = (answer or {}).get("error")
    known = error if isinstance(error, dict) else {}
    text = data[:200].decode("utf-8", "replace")
    return Refused(status, str(known.get("code", "unknown")), str(known.get("message", text)))


def _seconds(wait: Optional[str]) -> Optional[float]:
    """Returns how long to wait, in seconds: at most 30, and 1 where a date says it."""
    if wait is None:
        return None
    try:
        return min(max(float(wait), 0.0), 30.0)
    except ValueError:
        return 1.0


def _outcome(reply: Json) -> Outcome:
    if reply.get("error"):
        error = reply["error"]
        return Refused(reply["status"], error["code"], error["message"])
    if reply.get("observation"):
        return Observation.read(reply["observation"])
    if reply.get("evaluation"):
        return Evaluation.read(reply["evaluation"])
    return None
