"""OpenCode: its settings file, its own check of the connection, and a conversation without a person."""

import json

import agent_story

model = agent_story.model(agent_story.FIXED_ALONE, "browser_", "opencode")
provider = {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": f"{model.url}/v1", "apiKey": "none"},
    "models": {"written": {"tool_call": True}},
}
settings = {
    "provider": {"fake": provider},
    "model": "fake/written",
    "small_model": "fake/written",
    "mcp": {"browser": {"type": "local", "command": ["tabmux", "mcp"]}},
}
agent_story.WORK.mkdir()
(agent_story.WORK / "opencode.json").write_text(json.dumps(settings))
listed = agent_story.run("opencode", "mcp", "list")
assert "connected" in listed, listed
agent_story.run("opencode", "run", "Go.")
agent_story.check(model)
