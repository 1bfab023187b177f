"""MCP Inspector, as a command: the list with all its checks of schemas, and a call. Each is a session of its own."""

import json
import subprocess

import shared


def server():
    """How the inspector reaches tabmux."""
    if not shared.OVER_HTTP:
        return ["tabmux", "mcp"]
    url, headers = shared.serve()
    return [url, "--transport", "http", "--header", *[f"{name}: {value}" for name, value in headers.items()]]


SERVER = server()


def inspect(*arguments):
    command = ["node_modules/.bin/mcp-inspector", "--cli", *SERVER, "--method", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ended.returncode == 0, f"{' '.join(command)}:\n{ended.stdout}{ended.stderr}"
    return json.loads(ended.stdout)


names = [tool["name"] for tool in inspect("tools/list", "--strict")["tools"]]
assert shared.is_fixed(names), names
shared.shown("list", "fixed")
answer = inspect("tools/call", "--tool-name", "new_page", "--tool-arg", f"url={shared.PAGES}/fields.html")
assert "fields.html" in answer["content"][0]["text"], answer
shared.shown("call")
daemons = shared.daemon_processes()
assert len(daemons) == 1, daemons
shared.shown("one daemon")
