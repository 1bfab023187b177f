"""What the tests of all clients in Python share: the story that each plays, and how it tells what it showed."""

import asyncio
import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

PAGES = os.environ["PAGES"]
SERVER = {"command": "tabmux", "args": ["mcp"]}
# So many tests use one server that the paths they wait for have to be their own.
OWN = f"{Path(sys.argv[0]).stem}-{os.getpid()}"


def shown(what, how="yes"):
    """Tells the runner what the client has shown."""
    print(f"@ {what}\t{how}", flush=True)


def get(path):
    with urllib.request.urlopen(PAGES + path) as answer:
        return answer.read().decode()


async def asked_for(path):
    """Waits until somebody has asked the web server for this."""
    await asyncio.to_thread(get, f"/_wait?path={urllib.parse.quote(path)}")


def is_fixed(names):
    """Whether this is the fixed list: everything at once, and no tool that connects first."""
    return {"list_pages", "new_page", "take_snapshot", "call_page_tool", "list_network_requests"} <= set(names)


def one_daemon(client):
    """Checks, from the usual environment, that this client's session is in the one daemon there is."""
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
    """Answers the questions that the server asks, as it was told to."""

    def __init__(self):
        self.agrees = False
        self.questions = []

    def answers(self, question):
        self.questions.append(question)
        return self.agrees


async def shows_list_and_call(call, names):
    """The list is the fixed one, and a call of a fresh session finds a page to work on."""
    assert is_fixed(names), names
    shown("list", "fixed")
    opened = await call("new_page", {"url": f"{PAGES}/fields.html"})
    assert "fields.html" in opened, opened
    snapshot = await call("take_snapshot", {})
    assert "textbox" in snapshot, snapshot
    shown("call")


async def shows_progress(call, call_with_progress):
    """A call that takes long tells so; what it waits for comes only after it has."""
    await call("new_page", {"url": f"{PAGES}/late?/go-{OWN}"})
    told = []

    async def on_progress(*_):
        if not told:
            told.append(True)
            await asyncio.to_thread(get, f"/go-{OWN}")

    text = await call_with_progress("wait_for", {"text": ["It is here"], "timeout": 20000}, on_progress)
    assert told, f"no progress was told: {text}"
    shown("progress")


async def shows_cancel(call):
    """A script that never ends is ended with its call, or the page would not answer again."""
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
    """A tool of the page runs when the person agrees, and not otherwise; without a person, never."""
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
    """The list is fetched again when the page brings a tool. `changed` waits for the news."""
    await call("new_page", {"url": f"{PAGES}/shop"})
    while "buy" not in await list_names():
        if changed is not None:
            await changed()
    shown("list change")
