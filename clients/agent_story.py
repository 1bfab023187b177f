"""Shared by the tests of whole agents: a scripted model, and checks of the results of its calls."""

import os
import subprocess
from pathlib import Path

import shared
from fake_model import FakeModel

PROGRAMS = Path(__file__).parent.resolve() / "agents/node_modules/.bin"
WORK = Path(os.environ["HOME"]) / shared.OWN

FIELDS = {"url": f"{shared.PAGES}/fields.html"}
SHOP = {"url": f"{shared.PAGES}/shop"}
TEA = {"item": "tea"}
BOUGHT = ("evaluate_script", {"function": "() => bought"})

# The fixed list has every tool from the start. The page's own tool is added to it, or called by call_page_tool.
FIXED = [("new_page", FIELDS), ("take_snapshot", {}), ("new_page", SHOP)]
FIXED_AND_CHANGED = [*FIXED, ("buy", TEA), BOUGHT]
FIXED_ALONE = [*FIXED, ("call_page_tool", {"name": "buy", "arguments": TEA}), BOUGHT]


def run(program, *arguments, **variables):
    """Runs the agent in its own folder, and returns its output."""
    WORK.mkdir(exist_ok=True)
    ended = subprocess.run(
        [PROGRAMS / program, *arguments],
        cwd=WORK,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert ended.returncode == 0, f"{program} {' '.join(arguments)}:\n{ended.stdout}"
    return ended.stdout


def model(steps, prefix, session):
    """A model for one conversation. Before its last step, checks that the agent's session is in the one daemon."""
    return FakeModel(steps, prefix, lambda: shared.one_daemon(session))


def check(model):
    """Checks the results of the calls: pages were read, and nothing was bought without a person."""
    *_, snapshot, opened, refused, bought = model.answers()
    assert "textbox" in snapshot, snapshot
    assert "/shop" in opened, opened
    assert "Nothing was done" in refused, refused
    assert "tea" not in bought and "milk" not in bought, bought
    shared.shown("call")
    shared.shown("list", "fixed")
    if "buy" in (name for name, _ in model.steps):
        shared.shown("list change")
    shared.shown("question", "refused")
