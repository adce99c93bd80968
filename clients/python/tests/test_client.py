"""What the client does when the network or the server is in the way.

`StandIn` is a server that answers what a test says, over a real socket. `Live` runs where
`WILDGYM_URL` and `WILDGYM_TOKEN` name a real server, with `WILDGYM_TASK` a task of it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "examples"))

from loop import advantages, group  # noqa: E402

from wildgym_client import Client, Evaluation, Observation, Refused, call  # noqa: E402

SLEEP = "wildgym_client.client.time.sleep"
AWAY = "wildgym_client.client._AWAY"
IDLE = "wildgym_client.client._IDLE"

SEEN: Dict[str, Any] = {
    "session": "s1",
    "step": 0,
    "results": [],
    "terminated": False,
    "truncated": False,
    "new in a later version": 1,
}


# Answered by silence: the connection stays open until the client gives up.
SILENCE = "silence"


class StandIn:
    """Answers requests in turn: a status with a body, nothing at all (`None`), or silence."""

    def __init__(self, answers: List[Any], port: int = 0, wait: str = "0") -> None:
        self.requests: List[Tuple[str, str, Any, str]] = []
        self.clients: List[Client] = []
        self.connections = 0
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                stand_in.connections += 1

            def handle_any(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                text = self.rfile.read(length)
                body = json.loads(text) if text else None
                token = self.headers.get("Authorization") or ""
                stand_in.requests.append((self.command, self.path, body, token))
                answer = answers.pop(0)
                if answer == SILENCE:
                    self.close_connection = True
                    self.rfile.read(1)
                    return
                if answer is None:
                    self.close_connection = True
                    self.connection.close()
                    return
                status, value = answer
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                if status in (429, 503):
                    self.send_header("Retry-After", wait)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = handle_any

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def client(self, **more: Any) -> Client:
        self.clients.append(Client(f"http://127.0.0.1:{self.port}", "token", **more))
        return self.clients[-1]

    @property
    def port(self) -> int:
        return self.server.server_port

    def stop(self) -> None:
        for client in self.clients:
            client.disconnect()
        self.server.shutdown()
        self.server.server_close()


class ClientTest(unittest.TestCase):
    def stand_in(self, *answers: Any, **more: Any) -> StandIn:
        stand_in = StandIn(list(answers), **more)
        self.addCleanup(stand_in.stop)
        return stand_in

    def test_what_is_refused_for_now_is_sent_again(self) -> None:
        later = (503, {"error": {"code": "overloaded", "message": "later", "retry_after": 0}})
        stand_in = self.stand_in((200, {"sessions": [SEEN]}), later, later, (200, {**SEEN, "step": 1}))
        (session,) = stand_in.client().open("t-1", seed=3)
        self.assertEqual(session.step([call("now")]).step, 1)
        sent = [body for _, path, body, _ in stand_in.requests if path.endswith("/step")]
        self.assertEqual(sent, [{"calls": [{"name": "now", "arguments": {}}], "step": 1}] * 3)
        self.assertEqual(stand_in.requests[0][2]["episode"]["seed"], 3)
        self.assertEqual({token for *_, token in stand_in.requests}, {"Bearer token"})

    def test_a_step_whose_reply_was_lost_is_the_same_step_again(self) -> None:
        stand_in = self.stand_in((200, {"sessions": [SEEN]}), None, (200, {**SEEN, "step": 1}))
        (session,) = stand_in.client().open()
        session.answer("x")
        first, second = (body for _, path, body, _ in stand_in.requests if path.endswith("/step"))
        self.assertEqual(first, second)

    def test_an_evaluation_whose_reply_was_lost_is_looked_up(self) -> None:
        figures = {"right": 1, "of": 2}
        names = ["checks", "expected_calls", "assertions", "milestones", "discovered"]
        numbers = ["passed", "degraded", "answered", "steps", "calls", "failed_calls"]
        parts = {**{name: figures for name in names}, **{name: 1 for name in numbers}}
        evaluation = {
            "session": "s1",
            "episode": {"task": "t", "variant": "full", "seed": 1, "attempt": 1},
            "reward": 1.0,
            "verdict": "pass",
            "reasons": [],
            "terminated": True,
            "truncated": False,
            "outcome": "answered",
            "parts": {**parts, "tool_tokens": 0},
        }
        refused = (409, {"error": {"code": "evaluated", "message": "once"}})
        seen = (200, {**SEEN, "evaluation": evaluation})
        stand_in = self.stand_in((200, {"sessions": [SEEN]}), None, refused, seen)
        (session,) = stand_in.client().open()
        judged = session.evaluate()
        self.assertEqual((judged.reward, judged.parts.checks.share), (1.0, 0.5))

    def test_refusals_say_why(self) -> None:
        table = [
            ((404, {"error": {"code": "no-session", "message": "there is none"}}), "no-session"),
            ((500, "no object"), "unknown"),
            ((502, b"<html>Bad gateway</html>"), "unknown"),
            ((404, {"error": "a text"}), "unknown"),
            ((200, b"<html>Sign in</html>"), "unknown"),
        ]
        for answer, code in table:
            stand_in = self.stand_in((200, {"sessions": [SEEN]}), answer)
            (session,) = stand_in.client().open()
            with self.assertRaises(Refused) as raised:
                session.observe()
            self.assertEqual((raised.exception.status, raised.exception.code), (answer[0], code))

    def test_of_a_batch_goes_again_what_may_be_taken_later(self) -> None:
        later = {"code": "overloaded", "message": "later", "retry_after": 1}
        stopping = {"code": "stopping", "message": "it is"}
        first = [{"status": 503, "error": later}, {"status": 503, "error": stopping}]
        second = [{"status": 200, "observation": {**SEEN, "step": 1}}]
        sessions = [SEEN, {**SEEN, "session": "s2"}]
        stand_in = self.stand_in(
            (200, {"sessions": sessions}), (200, {"replies": first}), (200, {"replies": second})
        )
        client = stand_in.client()
        one, two = client.open(count=2)
        with mock.patch(SLEEP):
            seen, refused = client.step_all([(one, {"answer": "a"}), (two, {"answer": "b"})])
        self.assertIsInstance(seen, Observation)
        assert isinstance(refused, Refused)
        self.assertEqual(refused.code, "stopping", "which is not asked for again")
        self.assertEqual([len(body["requests"]) for *_, body, _ in stand_in.requests[1:]], [2, 1])

    def test_a_batch_keeps_the_order_and_each_its_own_refusal(self) -> None:
        replies = [
            {"status": 409, "error": {"code": "over", "message": "it is over"}},
            {"status": 200, "observation": {**SEEN, "session": "s2", "step": 1}},
        ]
        sessions = [SEEN, {**SEEN, "session": "s2"}]
        stand_in = self.stand_in((200, {"sessions": sessions}), (200, {"replies": replies}))
        client = stand_in.client()
        one, two = client.open(count=2)
        refused, seen = client.step_all([(one, {"answer": "a"}), (two, {"answer": "b"})])
        self.assertIsInstance(refused, Refused)
        self.assertIsInstance(seen, Observation)
        self.assertEqual((one.seen.step, two.seen.step), (0, 1))

    def test_a_step_that_takes_long_is_asked_for_again(self) -> None:
        busy = (503, {"error": {"code": "unfinished", "message": "not yet", "retry_after": 1}})
        stand_in = self.stand_in(
            (200, {"sessions": [SEEN]}), *[busy] * 3, (200, {**SEEN, "step": 1}), wait="7"
        )
        (session,) = stand_in.client().open()
        with mock.patch(SLEEP) as sleep:
            self.assertEqual(session.step([call("long")]).step, 1)
        self.assertEqual([one.args[0] for one in sleep.call_args_list], [7.0] * 3, "as told")
        steps = [body["step"] for _, path, body, _ in stand_in.requests if path.endswith("/step")]
        self.assertEqual(steps, [1] * 4, "the same step, which is done once")

    def test_patience_has_an_end(self) -> None:
        later = (503, {"error": {"code": "overloaded", "message": "later", "retry_after": 0}})
        stand_in = self.stand_in(later)
        with self.assertRaises(Refused) as raised:
            stand_in.client(patience=0.0).status()
        self.assertEqual((raised.exception.status, raised.exception.code), (503, "overloaded"))
        stand_in = self.stand_in(SILENCE, SILENCE)
        with self.assertRaises(OSError):
            stand_in.client(timeout=0.2, patience=0.3).status()
        self.assertEqual(len(stand_in.requests), 2, "sent again once, then given up")

    def test_how_long_to_wait_may_be_said_in_any_form(self) -> None:
        table = [
            ("0", 0.0, "a number"),
            ("3600", 30.0, "too long"),
            ("Wed, 21 Oct 2026 07:28:00 GMT", 1.0, "a date, as a proxy says it"),
        ]
        for wait, want, why in table:
            stand_in = self.stand_in((429, {}), (200, {"ok": 1}), wait=wait)
            with mock.patch(SLEEP) as sleep:
                self.assertEqual(stand_in.client().status(), {"ok": 1}, why)
            sleep.assert_called_once_with(want)

    def test_a_server_that_was_never_there_is_said_at_once(self) -> None:
        gone = StandIn([])
        gone.stop()
        with mock.patch(SLEEP) as sleep, self.assertRaises(ConnectionRefusedError):
            Client(f"http://127.0.0.1:{gone.port}").status()
        sleep.assert_not_called()

    def test_a_server_that_was_there_is_waited_for(self) -> None:
        first = self.stand_in((200, {"sessions": [SEEN]}))
        client = first.client()
        (session,) = client.open()
        first.stop()
        started: List[StandIn] = []

        def comes_back(_: float) -> None:
            if not started:
                answers = [(200, {"sessions": [SEEN]}), (200, {**SEEN, "step": 1})]
                started.append(self.stand_in(*answers, port=first.port))

        with mock.patch(SLEEP, comes_back):
            # Nothing arrived, so even this may be sent again.
            client.open()
        self.assertEqual(session.step([]).step, 1)
        client.disconnect()
        started[0].stop()
        with mock.patch(AWAY, 0.0), self.assertRaises(ConnectionRefusedError):
            session.observe()

    def test_a_connection_that_nobody_used_for_long_is_opened_anew(self) -> None:
        for idle, connections in ((120.0, 1), (-1.0, 3)):
            stand_in = self.stand_in(*[(200, {})] * 3)
            client = stand_in.client()
            with mock.patch(IDLE, idle):
                for _ in range(3):
                    client.status()
            self.assertEqual(stand_in.connections, connections, f"after {idle} s")

    def test_sessions_whose_reply_was_lost_are_not_opened_twice(self) -> None:
        stand_in = self.stand_in(None, (200, {"sessions": [SEEN]}))
        with self.assertRaises((OSError, HTTPException)):
            stand_in.client().open()
        self.assertEqual(len(stand_in.requests), 1)

    def test_what_is_still_done_for_a_lost_request_is_waited_for(self) -> None:
        busy = (409, {"error": {"code": "busy", "message": "one thing at a time"}})
        stand_in = self.stand_in((200, {"sessions": [SEEN]}), None, busy, (200, SEEN), busy)
        (session,) = stand_in.client().open()
        self.assertEqual(session.reset("t-1").step, 0)
        with self.assertRaises(Refused) as raised:
            session.reset("t-1")
        self.assertEqual(raised.exception.code, "busy", "two at once are told so")

    def test_names_of_calls_stand_in_their_places_alone(self) -> None:
        table = [
            (call("t", id=7, name="Ada"), {"name": "t", "arguments": {"id": 7, "name": "Ada"}}),
            (call("t", "c1", id=7), {"name": "t", "id": "c1", "arguments": {"id": 7}}),
            (call("t"), {"name": "t", "arguments": {}}),
        ]
        for made, want in table:
            self.assertEqual(made, want)
        with self.assertRaises(TypeError):
            call(name="t")  # type: ignore[call-arg]

    def test_what_is_no_address_is_said_at_once(self) -> None:
        for url in ("127.0.0.1:8642", "ftp://x", "http://"):
            with self.assertRaises(ValueError):
                Client(url)

    def test_advantages_are_within_the_group(self) -> None:
        table: List[Tuple[List[Optional[float]], List[Optional[float]], str]] = [
            ([1.0, 0.0], [1.0, -1.0], "one passed"),
            ([1.0, 1.0], [0.0, 0.0], "all the same say nothing"),
            ([1.0, None, 0.0], [1.0, None, -1.0], "lost ones are left out"),
            ([None], [None], "nothing is known"),
        ]
        for rewards, want, why in table:
            self.assertEqual(advantages(rewards), want, why)


@unittest.skipUnless(os.environ.get("WILDGYM_URL"), "no server is named")
class Live(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client()
        self.addCleanup(self.client.disconnect)
        self.task = os.environ["WILDGYM_TASK"]

    def test_an_episode_from_open_to_close(self) -> None:
        self.assertIn(self.task, [task.id for task in self.client.tasks()])
        names = [tool["function"]["name"] for tool in self.client.tools(self.task)]
        with self.client.open(self.task)[0] as session:
            assert session.seen.told is not None
            self.assertEqual(len(session.seen.messages()), 2)
            seen = session.step([call("no_such_tool"), call(names[0])])
            self.assertEqual([one.id for one in seen.results], ["call_1", "call_2"])
            self.assertEqual(seen.results[0].error, "unknown-tool")
            self.assertTrue(session.answer("nothing").terminated)
            judged = session.evaluate()
            self.assertEqual((judged.reward, judged.parts.calls), (0.0, 2))
            self.assertEqual(session.evaluate(), judged, "once; it is only looked up again")
            again = session.reset(self.task)
            assert again.episode is not None
            self.assertEqual(again.episode.seed, judged.episode.seed + 1)
        with self.assertRaises(Refused) as raised:
            session.observe()
        self.assertEqual(raised.exception.status, 410)

    def test_a_group_in_the_example_loop(self) -> None:
        def policy(conversation: List[Any], _: List[Any]) -> Dict[str, Any]:
            said = "hm" if conversation[-1]["role"] == "user" and len(conversation) == 2 else None
            content = said or "<final_answer>nothing</final_answer>"
            return {"role": "assistant", "content": content, "tool_calls": None}

        tried = list(group(self.client, self.task, 3, policy))
        self.assertEqual(len(tried), 3)
        for conversation, evaluation, advantage in tried:
            roles = [message["role"] for message in conversation]
            self.assertEqual(roles, ["system", "user", "assistant", "user", "assistant"])
            self.assertEqual((evaluation.outcome, advantage), ("answered", 0.0))
        seeds = {evaluation.episode.seed for _, evaluation, _ in tried}
        self.assertEqual(len(seeds), 1, "one seed for the group")

    def test_a_step_that_takes_long_is_waited_for(self) -> None:
        slow = Client(os.environ["WILDGYM_SLOW_URL"], os.environ["WILDGYM_SLOW_TOKEN"])
        self.addCleanup(slow.disconnect)
        (session,) = slow.open(slow.tasks()[0].id)
        code = "n = 0\nwhile n < 6_000_000: n += 1\nprint(n)"
        with session:
            seen = session.step([call("execute_code", code=code)])
            self.assertIn("6000000", seen.results[0].content)
            self.assertEqual(seen.step, 1)

    def test_many_at_once(self) -> None:
        sessions = self.client.open(self.task, count=64)
        seen = self.client.step_all([(one, {"calls": [call("no_such_tool")]}) for one in sessions])
        self.assertTrue(all(isinstance(one, Observation) and one.step == 1 for one in seen))
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda one: one.answer("x"), sessions))
        judged = self.client.evaluate_all(sessions)
        self.assertTrue(all(isinstance(one, Evaluation) for one in judged), judged[:1])
        self.client.close_all(sessions)


if __name__ == "__main__":
    unittest.main()
