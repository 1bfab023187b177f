"""The MCP bundle: its manifest is valid, and what it starts answers."""

import json
import subprocess

from shared import ROOT, check, initialize, machine, version


def test(dist, place):
    bundle = dist / f"tabmux-mcp-{version()}-{machine()[0]}.mcpb"
    folder = place.folder / "bundle"
    tool = ROOT / "packaging/node_modules/.bin/mcpb"
    place.run([tool, "unpack", bundle, folder])
    told = place.run([tool, "validate", folder / "manifest.json"])
    check("validation passes" in told, told)
    manifest = json.loads((folder / "manifest.json").read_text())
    check((folder / manifest["icon"]).is_file() and (folder / manifest["server"]["entry_point"]).is_file(), manifest)
    # As an application fills it in, for each value that a person can choose.
    for headless in ("true", "false"):
        config = manifest["server"]["mcp_config"]
        words = [config["command"], *config["args"]]
        words = [word.replace("${__dirname}", str(folder)).replace("${user_config.headless}", headless) for word in words]
        # The tool that unpacks loses modes; applications set them.
        subprocess.run(["chmod", "+x", words[0]], check=True)
        answer = initialize([*words, "--no-daemon"], place.environment())
        check(f"tabmux {version()}" in answer["serverInfo"]["description"], answer)
