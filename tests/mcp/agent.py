"""A whole agent: a loop between a chat-completions model and the tools of a task."""
import asyncio, json, os, urllib.request
from mcp import Client

OWN = ("get_task", "submit_answer")


def ask(messages, tools):
    body = {"model": os.environ["OPENAI_MODEL"], "messages": messages, "tools": tools}
    headers = {"Content-Type": "application/json",
               "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as reply:
        message = json.load(reply)["choices"][0]["message"]
        return {**message, "content": message["content"] or ""}


async def call(gym, asked):
    name, arguments = asked["function"]["name"], json.loads(asked["function"]["arguments"])
    said = await gym.call_tool(name, arguments)
    return {"role": "tool", "tool_call_id": asked["id"], "content": said.content[0].text}


async def main():
    async with Client(os.environ["WILDGYM_MCP_URL"]) as gym:
        tools = [{"type": "function", "function": {"name": tool.name,
                  "description": tool.description, "parameters": tool.input_schema}}
                 for tool in (await gym.list_tools()).tools if tool.name not in OWN]
        task = await gym.call_tool("get_task", {})
        messages = [{"role": "user", "content": task.content[0].text}]
        while True:
            messages.append(ask(messages, tools))
            if not messages[-1].get("tool_calls"):
                await gym.call_tool("submit_answer", {"answer": messages[-1]["content"]})
                return
            calls = (call(gym, asked) for asked in messages[-1]["tool_calls"])
            messages += await asyncio.gather(*calls)

asyncio.run(main())
