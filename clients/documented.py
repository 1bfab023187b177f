"""Runs a program of docs/frameworks.md, unchanged, with a scripted model: `documented.py HEADING`."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import shared
from fake_model import FakeModel

HERE = Path(__file__).parent.resolve()
PAGE = HERE.parent / "docs/frameworks.md"
STEPS = [("new_page", {"url": f"{shared.PAGES}/fields.html"}), ("take_snapshot", {})]


def program(heading):
    """The first block below the heading, and its language."""
    section = PAGE.read_text().split(f"\n## {heading}\n")[1]
    language, text = section.split("```", 1)[1].split("\n", 1)
    return language, text.split("\n```")[0]


def run(language, text, model):
    variables = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    with tempfile.TemporaryDirectory() as folder:
        interpreter, name = {"python": (sys.executable, "main.py"), "js": ("node", "main.mjs")}[language]
        # A module is looked for beside the program.
        (Path(folder) / "node_modules").symlink_to(HERE / "node_modules")
        (Path(folder) / name).write_text(text)
        return subprocess.run(
            [interpreter, name], cwd=folder, env=os.environ | variables, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )


model = FakeModel(STEPS, "")
ended = run(*program(sys.argv[1]), model)
assert ended.returncode == 0, ended.stdout + ended.stderr
assert "Done." in ended.stdout, ended.stdout + ended.stderr
opened, snapshot = model.answers()
assert "fields.html" in opened, opened
assert "textbox" in snapshot, snapshot
shared.shown("call")
