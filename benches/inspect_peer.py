"""What `harness.py` runs under Inspect AI: the same conversation, with its in-process mock model.

    inspect_peer.py TRIALS CALLS

Prints one line of JSON: whether all passed, and the seconds that evaluating took after all
imports, of the clock and of the processor.
"""

import json
import sys
import tempfile
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolCall, tool

trials, calls = int(sys.argv[1]), int(sys.argv[2])


@tool
def look_up():
    async def execute(entity: str) -> str:
        """Looks an entity up.

        Args:
            entity: what to look up
        """
        return f"{entity}: " + "a river of the county. " * 8

    return execute


def reply(messages, tools, tool_choice, config):
    done = sum(isinstance(message, ChatMessageTool) for message in messages)
    output = ModelOutput.from_content("mockllm/model", "the answer is 42" if done == calls else "")
    if done < calls:
        call = ToolCall(id=f"call{done}", function="look_up", arguments={"entity": "river"})
        output.choices[0].message.tool_calls = [call]
        output.choices[0].stop_reason = "tool_calls"
    # Without it, tokens are counted with a vocabulary that is fetched at run time.
    output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    return output


task = Task(
    dataset=MemoryDataset([Sample(id=n, input=f"Question {n}", target="42") for n in range(trials)]),
    solver=[use_tools(look_up()), generate()],
    scorer=includes(),
)
wall, processor = time.perf_counter(), time.process_time()
with tempfile.TemporaryDirectory() as logs:
    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    log = eval(task, model=model, log_dir=logs, display="none")[0]
    passed = log.status == "success" and log.results.scores[0].metrics["accuracy"].value == 1
print(
    json.dumps(
        {
            "passed": passed,
            "wall": time.perf_counter() - wall,
            "processor": time.process_time() - processor,
        }
    )
)
