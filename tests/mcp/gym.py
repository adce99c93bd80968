"""What small agents of the stories need: their model and the tools, with nothing but Python."""
import json, os, threading, urllib.error, urllib.request


def ask(text, **more):
    """Asks the model; returns what it says, or the status and the words of a refusal."""
    body = {"model": "any", "messages": [{"role": "user", "content": text}], **more}
    head = {"Content-Type": "application/json",
            "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), head)
    try:
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        return f"{error.code}: {error.read().decode()}"


def together(*texts):
    """Asks side by side; returns what is said, in the order of the questions."""
    said = {}
    threads = [threading.Thread(target=lambda text=text: said.update({text: ask(text)}))
               for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [said[text] for text in texts]


class Gym:
    """The tools, over MCP."""

    def __init__(self):
        self.session, self.number = None, 0
        about = {"protocolVersion": "2025-06-18", "capabilities": {},
                 "clientInfo": {"name": "story", "version": "1"}}
        self.send("initialize", about)
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, message):
        head = {"Content-Type": "application/json",
                "Accept": "application/json, text/event-stream"}
        if self.session:
            head["Mcp-Session-Id"] = self.session
        request = urllib.request.Request(os.environ["WILDGYM_MCP_URL"],
                                         json.dumps(message).encode(), head)
        with urllib.request.urlopen(request) as reply:
            self.session = self.session or reply.headers.get("Mcp-Session-Id")
            return reply.read().decode()

    def send(self, method, params):
        self.number += 1
        said = self.post({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        lines = [line.removeprefix("data:").strip() for line in said.splitlines()]
        found = [json.loads(line) for line in lines if line.startswith("{")]
        return [one for one in found if one.get("id") == self.number][0]

    def call(self, name, **arguments):
        said = self.send("tools/call", {"name": name, "arguments": arguments})
        return said["result"]["content"][0]["text"]
