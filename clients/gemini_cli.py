"""Gemini CLI: `gemini mcp add`, and a conversation without a person."""

import json
import os
from pathlib import Path

import agent_story

model = agent_story.model(agent_story.FIXED_ALONE, "mcp_browser_", "gemini-cli-mcp-client")
there = {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "none"}
agent_story.run("gemini", "mcp", "add", "-s", "user", "browser", "tabmux", "mcp", **there)
settings = Path(os.environ["HOME"]) / ".gemini/settings.json"
known = json.loads(settings.read_text())
settings.write_text(json.dumps(known | {"security": {"auth": {"selectedType": "gemini-api-key"}}}))
# Name a model; otherwise the CLI asks another model which one to use.
agent_story.run("gemini", "-p", "Go.", "-m", "gemini-2.5-flash", "--yolo", "--skip-trust", **there)
agent_story.check(model)
