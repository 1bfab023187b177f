"""Claude Code: `claude mcp add`, its own check of the connection, and a conversation without a person."""

import agent_story

model = agent_story.model(agent_story.FIXED_AND_CHANGED, "mcp__browser__", "claude")
there = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none"}
agent_story.run("claude", "mcp", "add", "browser", "--", "tabmux", "mcp", **there)
listed = agent_story.run("claude", "mcp", "list", **there)
assert "✔ Connected" in listed, listed
agent_story.run("claude", "-p", "Go.", "--allowedTools", "mcp__browser", **there)
agent_story.check(model)
