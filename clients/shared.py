"""Shared by the tests of all clients in Python: the steps of each test, and how it reports results."""

import asyncio
import atexit
import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

PAGES = os.environ["PAGES"]
SERVER = {"command": "tabmux", "args": ["mcp"]}
# Many tests use one web server, so each waits for its own paths.
OWN = f"{Path(sys.argv[0]).stem}-{os.getpid()}"


# Whether to connect over HTTP.
OVER_HTTP = sys.argv[1:] == ["http"]


def serve():
    """Starts `tabmux serve` with a token for this client. Returns its address and the headers; it ends with this process."""
    server = subprocess.Popen(["tabmux", "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    url = server.stdout.readline().split()[-1]
    told = subprocess.run(["tabmux", "token", "add", OWN], capture_output=True, text=True, check=True).stdout
    return url, {"Authorization": f"Bearer {told.strip()}"}


def shown(what, how="yes"):
    """Reports a result to the runner."""
    print(f"@ {what}\t{how}", flush=True)


def get(path):
    with urllib.request.urlopen(PAGES + path) as answer:
        return answer.read().decode()


async def asked_for(path):
    """Waits until this path has been requested from the web server."""
    await asyncio.to_thread(get, f"/_wait?path={urllib.parse.quote(path)}")


def is_fixed(names):
    """Whether this is the fixed list: every tool from the start."""
    return {"list_pages", "new_page", "take_snapshot", "call_page_tool", "list_network_requests"} <= set(names)


def one_daemon(client):
    """Checks, in the usual environment, that only one daemon runs and has this client's session."""
    told = subprocess.run(["tabmux", "sessions", "--json"], capture_output=True, text=True, check=True).stdout
    sessions = json.loads(told)
    names = [session["client"] for session in sessions]
    assert client in names, f"{client} is not among {names}"
    daemons = daemon_processes()
    assert len(daemons) == 1, f"{len(daemons)} daemons run: {daemons}"
    shown("one daemon")


def daemon_processes():
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdigit() else []
        except OSError:
            continue
        if len(words) > 1 and b"tabmux" in words[0] and words[1] == b"daemon":
            found.append(int(folder.name))
    return found


class Person:
    """Answers the questions of the server, as `agrees` says."""

    def __init__(self):
        self.agrees = False
        self.questions = []

    def answers(self, question):
        self.questions.append(question)
        return self.agrees


async def shows_list_and_call(call, names):
    """The list is the fixed one, and a new session can call tools on a page."""
    assert is_fixed(names), names
    shown("list", "fixed")
    opened = await call("new_page", {"url": f"{PAGES}/fields.html"})
    assert "fields.html" in opened, opened
    snapshot = await call("take_snapshot", {})
    assert "textbox" in snapshot, snapshot
    shown("call")


async def shows_progress(call, call_with_progress):
    """A long call sends progress. The text that it waits for appears only after the first progress."""
    await call("new_page", {"url": f"{PAGES}/late?/go-{OWN}"})
    received = []

    async def on_progress(*_):
        if not received:
            received.append(True)
            await asyncio.to_thread(get, f"/go-{OWN}")

    text = await call_with_progress("wait_for", {"text": ["It is here"], "timeout": 20000}, on_progress)
    assert received, f"no progress was sent: {text}"
    shown("progress")


async def shows_cancel(call):
    """Cancelling a call stops its endless script; otherwise the page would not answer again."""
    loop = (
        "() => { const r = new XMLHttpRequest(); r.open('GET', '/loops-%s', false); r.send(); for (;;); }" % OWN
    )
    await call("new_page", {"url": f"{PAGES}/fields.html"})
    endless = asyncio.ensure_future(call("evaluate_script", {"function": loop}))
    await asked_for(f"/loops-{OWN}")
    endless.cancel()
    try:
        await endless
        raise AssertionError("the call was not cancelled")
    except asyncio.CancelledError:
        pass
    title = await call("evaluate_script", {"function": "() => 6 * 7"})
    assert "42" in title, title
    shown("cancel")


async def shows_question(call, person):
    """A tool of the page runs only when the person agrees; without a person, never."""
    await call("new_page", {"url": f"{PAGES}/shop"})
    buy = lambda item: call("call_page_tool", {"name": "buy", "arguments": {"item": item}})
    refused = await buy("tea")
    assert "Nothing was done" in refused, refused
    if person is not None:
        person.agrees = True
        bought = await buy("milk")
        assert "bought milk" in bought, bought
        assert len(person.questions) == 2 and "buy" in person.questions[0], person.questions
    bought = await call("evaluate_script", {"function": "() => bought"})
    assert "tea" not in bought and ("milk" in bought) == (person is not None), bought
    shown("question", "yes" if person else "refused")


async def shows_list_change(changed, call, list_names):
    """The list is fetched again when the page adds a tool. `changed` waits for the notification."""
    await call("new_page", {"url": f"{PAGES}/shop"})
    while "buy" not in await list_names():
        if changed is not None:
            await changed()
    shown("list change")
