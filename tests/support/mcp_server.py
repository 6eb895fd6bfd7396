"""A small MCP server over standard input and output that behaves as it is told. It needs nothing but Python.

    python -I mcp_server.py healthy                  all is well
    python -I mcp_server.py hang:initialize          never answers that method
    python -I mcp_server.py crash:tools/call         ends in the middle of it, with words on standard error
    python -I mcp_server.py garbage|flood|ids|…      see `Server`

Several words can be given. `log:PATH` appends every message that it gets to a file.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TOOLS = [
    {
        "name": "echo",
        "description": "Say it back.\nSecond line.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "fail", "description": "Always fail.", "inputSchema": {"type": "object"}},
    {"name": "picture", "description": "Draw.", "inputSchema": {"type": "object"}},
    {"name": "table", "description": "Give a table.", "inputSchema": {"type": "object"}},
    {"name": "secret", "description": "Tell TOKEN.", "inputSchema": {"type": "object"}},
    {"name": "variables", "description": "Name all variables.", "inputSchema": {"type": "object"}},
    {"name": "sleep", "description": "Never come back, but stay awake.", "inputSchema": {"type": "object"}},
    {"name": "grow", "description": "Have one more tool.", "inputSchema": {"type": "object"}},
    {"name": "ask", "description": "Ask the client.", "inputSchema": {"type": "object"}},
    {"name": "once", "description": "Crash, but only the first process.", "inputSchema": {"type": "object"}},
]


class Server:
    def __init__(self, words):
        self.words = [word for word in words if not word.startswith("log:")]
        self.log = next((word[4:] for word in words if word.startswith("log:")), None)
        self.tools = list(TOOLS)
        self.answers = {}

    def run(self):
        if "child" in self.words:  # a process that outlives its parent, unless the whole group is ended
            child = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"])
            self.note({"child": child.pid})
        self.note({"pid": os.getpid()})
        if "garbage" in self.words:
            self.write("Server is starting up!")
            self.write('{"half": ')
        if "stubborn" in self.words:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for line in sys.stdin:
            message = json.loads(line)
            self.note(message)
            if "method" in message and "id" in message:
                self.asked(message)
            elif "method" not in message:
                self.answers[message["id"]] = message
        while "stubborn" in self.words:
            time.sleep(600)

    def note(self, message):
        if self.log:
            with Path(self.log).open("a", encoding="utf-8") as file:
                file.write(json.dumps(message) + "\n")

    def send(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def write(self, line):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def asked(self, message):
        method, params = message["method"], message.get("params", {})
        if f"hang:{method}" in self.words:
            if "deaf" in self.words:
                time.sleep(600)
            return
        if f"crash:{method}" in self.words:
            sys.exit("out of cheese")
        if f"flood:{method}" in self.words:
            while True:
                sys.stdout.write("x" * 1_000_000)
        if f"ids:{method}" in self.words:
            self.send(id=9999, result={})
            self.send(id=str(message["id"]), result={})
            return
        if f"refuse:{method}" in self.words:
            self.send(id=message["id"], error={"code": -32000, "message": "not today"})
            return
        result = getattr(self, method.replace("/", "_"), None)
        if result is None:
            self.send(id=message["id"], error={"code": -32601, "message": "Method not found"})
        else:
            given = result(params, message["id"])
            if given is not None:
                self.send(id=message["id"], result=given)

    def initialize(self, params, number):
        version = next((word[8:] for word in self.words if word.startswith("version:")), params["protocolVersion"])
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "scripted", "version": "1"},
        }

    def ping(self, params, number):
        return {}

    def tools_list(self, params, number):
        if "pages" not in self.words:
            return {"tools": self.tools}
        at = int(params.get("cursor", "0"))
        more = {"nextCursor": str(at + 3)} if at + 3 < len(self.tools) else {}
        return {"tools": self.tools[at : at + 3], **more}

    def tools_call(self, params, number):
        call = getattr(self, f"call_{params['name']}", None)
        if call is None:
            self.send(id=number, error={"code": -32602, "message": f"Unknown tool: {params['name']}"})
            return None
        return call(params)

    def call_echo(self, params):
        token = params.get("_meta", {}).get("progressToken")
        if token is not None:
            told = {"progressToken": token, "progress": 1, "message": "half way"}
            self.send(method="notifications/progress", params=told)
        return words(params["arguments"]["text"])

    def call_fail(self, params):
        return {**words("the disk is on fire"), "isError": True}

    def call_picture(self, params):
        return {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}

    def call_table(self, params):
        return {"content": [], "structuredContent": {"rows": [1, 2]}}

    def call_secret(self, params):
        return words(f"it is {os.environ.get('TOKEN')}")

    def call_variables(self, params):
        return words(" ".join(sorted(os.environ)))

    def call_sleep(self, params):
        return None

    def call_grow(self, params):
        self.tools.append({"name": "grown", "inputSchema": {"type": "object"}})
        self.send(method="notifications/tools/list_changed")
        return words("done")

    def call_ask(self, params):
        for at, method in enumerate(("ping", "roots/list", "sampling/createMessage")):
            self.send(id=f"s{at}", method=method, params={})
        while len(self.answers) < 3:
            answer = json.loads(sys.stdin.readline())
            self.answers[answer["id"]] = answer
        return words(json.dumps(self.answers))

    def call_once(self, params):
        marker = Path(f"{self.log}.once")
        if not marker.exists():
            marker.touch()
            sys.exit("it slipped")
        return words("done")


def words(text):
    return {"content": [{"type": "text", "text": text}]}


if __name__ == "__main__":
    Server(sys.argv[1:]).run()
