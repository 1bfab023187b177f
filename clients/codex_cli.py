"""Codex: `codex mcp add`, and a conversation without a person."""

import os
from pathlib import Path

import agent_story

model = agent_story.model(agent_story.FIXED_ALONE, "mcp__browser__", "codex-mcp-client")
agent_story.run("codex", "mcp", "add", "browser", "--", "tabmux", "mcp")
settings = Path(os.environ["HOME"]) / ".codex/config.toml"
provider = f'[model_providers.fake]\nname = "fake"\nbase_url = "{model.url}/v1"\nwire_api = "responses"\n'
settings.write_text(f'model = "fake"\nmodel_provider = "fake"\n{settings.read_text()}\n{provider}')
agent_story.run("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Go.")
agent_story.check(model)
