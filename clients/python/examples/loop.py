"""Rollouts in groups, as trainers with relative advantages make them.

    wildgym serve http enterprise             # prints the address and the tokens
    WILDGYM_TOKEN=... python examples/loop.py --url http://127.0.0.1:8642 \\
        --model qwen3-32b --base-url http://127.0.0.1:8000/v1

Each group tries one task with one seed, so its episodes differ by what the policy does
and by nothing else. What is printed, one JSON object a line, is what a trainer needs: the
conversation, the reward and the advantage within the group.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from wildgym_client import Client, Evaluation, Session  # noqa: E402

Message = Dict[str, Any]
Policy = Callable[[List[Message], List[Dict[str, Any]]], Message]


def rollout(session: Session, tools: List[Dict[str, Any]], policy: Policy) -> List[Message]:
    """Lets a policy act until the episode is over; returns the conversation."""
    conversation = session.seen.messages()
    while not session.seen.done:
        reply = policy(conversation, tools)
        conversation.append(reply)
        conversation.extend(session.reply(reply).messages())
    return conversation


def advantages(rewards: List[Optional[float]]) -> List[Optional[float]]:
    """Returns each reward against its group's mean, in standard deviations.

    Episodes without a reward were lost or could not be judged: they are left out.
    """
    known = [reward for reward in rewards if reward is not None]
    if not known:
        return [None] * len(rewards)
    mean, spread = fmean(known), pstdev(known)
    return [
        None if reward is None else (reward - mean) / spread if spread else 0.0
        for reward in rewards
    ]


def group(
    client: Client, task: str, size: int, policy: Policy
) -> Iterator[Tuple[List[Message], Evaluation, Optional[float]]]:
    """Tries a task several times side by side, with one seed."""
    tools = client.tools(task)
    sessions = client.open(task, count=size)
    try:
        with ThreadPoolExecutor(size) as pool:
            conversations = list(pool.map(lambda one: rollout(one, tools, policy), sessions))
        judged = [session.evaluate() for session in sessions]
        for conversation, evaluation, advantage in zip(
            conversations, judged, advantages([one.reward for one in judged])
        ):
            yield conversation, evaluation, advantage
    finally:
        client.close_all(sessions)


def chat(base_url: str, model: str, key: Optional[str]) -> Policy:
    """Returns a policy that asks an endpoint of chat completions."""

    def policy(conversation: List[Message], tools: List[Dict[str, Any]]) -> Message:
        body = json.dumps({"model": model, "messages": conversation, "tools": tools}).encode()
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{base_url}/chat/completions", body, headers)
        with urllib.request.urlopen(request, timeout=600) as response:
            message: Message = json.load(response)["choices"][0]["message"]
        return message

    return policy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default=None, help="address of the server")
    parser.add_argument("--model", required=True, help="the policy, by its endpoint's name")
    parser.add_argument("--base-url", required=True, help="its endpoint")
    parser.add_argument("--group", type=int, default=4, help="episodes in a group")
    parser.add_argument("--tasks", type=int, default=2, help="how many tasks to try")
    args = parser.parse_args()
    policy = chat(args.base_url, args.model, os.environ.get("OPENAI_API_KEY"))
    with Client(args.url) as client:
        tasks = [task.id for task in client.tasks() if not task.lacking][: args.tasks]
        for task in tasks:
            for conversation, evaluation, advantage in group(client, task, args.group, policy):
                line = {
                    "task": task,
                    "seed": evaluation.episode.seed,
                    "reward": evaluation.reward,
                    "advantage": advantage,
                    "outcome": evaluation.outcome,
                    "messages": conversation,
                }
                print(json.dumps(line, ensure_ascii=False))


if __name__ == "__main__":
    main()
