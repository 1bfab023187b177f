"""Tests third-party MCP clients with tabmux, each with its default settings, and prints the results.

Everything runs in separate namespaces: a network with loopback only, a process table that ends with the run, and
a new home. So nothing reaches the Internet, or the daemon and the port of the user who runs this.
"""

import argparse
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pages import Pages
from table import check_table, write_table

HERE = Path(__file__).parent.resolve()
ROOT = HERE.parent
MADE = ROOT / "target/clients"
PYTHON = MADE / "venv/bin/python"
OLDER_PYTHON = MADE / "venv-langchain/bin/python"
NPM = HERE / "node_modules"
AGENTS = HERE / "agents/node_modules"
APPLICATION = MADE / "vite-application/node_modules"

# Name, where its package is installed, the name of the package, and the test.
CLIENTS = [
    ("MCP Inspector", NPM, "@modelcontextprotocol/inspector", [PYTHON, "inspector.py"]),
    ("TypeScript SDK", NPM, "@modelcontextprotocol/client", ["node", "typescript_sdk.mjs"]),
    ("TypeScript SDK 1", NPM, "@modelcontextprotocol/sdk", ["node", "typescript_sdk_1.mjs"]),
    ("Python SDK", PYTHON, "mcp", [PYTHON, "python_sdk.py"]),
    ("Python SDK 1", OLDER_PYTHON, "mcp", [OLDER_PYTHON, "python_sdk_1.py"]),
    ("fastmcp", PYTHON, "fastmcp", [PYTHON, "fastmcp_client.py"]),
    ("openai-agents", PYTHON, "openai-agents", [PYTHON, "openai_agents_client.py"]),
    ("Pydantic AI", PYTHON, "pydantic-ai-slim", [PYTHON, "pydantic_ai_client.py"]),
    ("LangChain", OLDER_PYTHON, "langchain-mcp-adapters", [OLDER_PYTHON, "langchain_client.py"]),
    ("Claude Code", AGENTS, "@anthropic-ai/claude-code", [PYTHON, "claude_code.py"]),
    ("Codex", AGENTS, "@openai/codex", [PYTHON, "codex_cli.py"]),
    ("Gemini CLI", AGENTS, "@google/gemini-cli", [PYTHON, "gemini_cli.py"]),
    ("OpenCode", AGENTS, "opencode-ai", [PYTHON, "opencode_cli.py"]),
    # The application itself is made by scripts/vite-application, which needs npm's registry, too.
    ("Vite application", NPM if APPLICATION.is_dir() else APPLICATION, "vite", ["node", "vite_application.mjs"]),
]
# The same over HTTP. They have no row in the table of docs/clients.md.
OVER_HTTP = [
    ("TypeScript SDK over HTTP", NPM, "@modelcontextprotocol/client", ["node", "typescript_sdk.mjs", "http"]),
    ("TypeScript SDK 1 over HTTP", NPM, "@modelcontextprotocol/sdk", ["node", "typescript_sdk_1.mjs", "http"]),
    ("MCP Inspector over HTTP", NPM, "@modelcontextprotocol/inspector", [PYTHON, "inspector.py", "http"]),
    ("Python SDK over HTTP", PYTHON, "mcp", [PYTHON, "python_sdk.py", "http"]),
    ("fastmcp over HTTP", PYTHON, "fastmcp", [PYTHON, "fastmcp_client.py", "http"]),
    ("Pydantic AI over HTTP", PYTHON, "pydantic-ai-slim", [PYTHON, "pydantic_ai_client.py", "http"]),
]
# The programs of docs/frameworks.md, by their headings. They have no row in the table of docs/clients.md.
DOCUMENTED = [
    ("LangChain", OLDER_PYTHON, "langchain"),
    ("OpenAI Agents SDK", PYTHON, "openai-agents"),
    ("Pydantic AI", PYTHON, "pydantic-ai-slim"),
    ("Vercel AI SDK", NPM, "ai"),
]
# No test takes long; a hanging one is stopped.
LONGEST = 120
REQUIRED = "No client may be left out in CI, or with --all-required."


def main():
    arguments = read_arguments()
    if not arguments.inside:
        enter_namespaces()
    prepare_namespaces()
    chosen = [client for client in CLIENTS if not arguments.names or matches(client[0], arguments.names)]
    with tempfile.TemporaryDirectory(prefix="tabmux-clients-", ignore_cleanup_errors=True) as home:
        environment = usual_environment(Path(home), arguments.tabmux.resolve())
        results = {name: run_one(environment, name, *rest) for name, *rest in chosen}
        over_http = [client for client in OVER_HTTP if not arguments.names or matches(client[0], arguments.names)]
        others = {name: run_one(environment, name, *rest) for name, *rest in over_http}
        others.update(run_documented(environment, arguments.names))
        subprocess.run(["tabmux", "daemon", "stop"], env=environment, capture_output=True)
    every = [*results.items(), *others.items()]
    failed = [name for name, result in every if result is None]
    skipped = [name for name, result in every if result and result["version"] is None]
    if arguments.write_table and not failed and not arguments.names:
        write_table(results)
    stale = [] if arguments.write_table else check_table(results)
    for line in stale:
        print(line)
    if failed:
        print(f"Failed: {', '.join(failed)}")
    lacking = skipped if arguments.all_required else []
    if lacking:
        print(f"Not installed: {', '.join(lacking)}. Run `make client-packages` where npm and PyPI can be reached.\n{REQUIRED}")
    sys.exit(bool(failed or stale or lacking))


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="only clients with one of these in their name")
    parser.add_argument("--tabmux", type=Path, default=ROOT / "target/debug/tabmux", help="the program to test")
    parser.add_argument(
        "--all-required",
        action="store_true",
        default=os.environ.get("CI") == "true",
        help="fail if a client is not installed; the default if CI is true",
    )
    parser.add_argument("--write-table", action="store_true", help="rewrite the table in docs/clients.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def matches(name, wanted):
    return any(part.lower() in name.lower() for part in wanted)


def enter_namespaces():
    """Executes this program again, inside the namespaces. A machine that permits none has no test of clients."""
    unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        unshare += ["--map-root-user"]
    if sys.platform != "linux" or subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        print("Skipped: the clients run in separate Linux namespaces, which `unshare` cannot create here.")
        sys.exit(0)
    os.execvp("unshare", [*unshare, sys.executable, __file__, *sys.argv[1:], "--inside"])


def prepare_namespaces():
    """Enables loopback, and creates `/run/user/UID` for this run, as on a machine where the user is logged in."""
    up = struct.pack("16sh", b"lo", 1)
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS, IFF_UP
    Path("/run/user").mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run/user"], check=True)
    os.mkdir(f"/run/user/{os.geteuid()}", 0o700)


def usual_environment(home, tabmux):
    """The environment of a user's shell. The official SDKs and Codex pass little of it on to servers."""
    if not tabmux.is_file():
        sys.exit(f"There is no {tabmux}; run `cargo build --package tabmux`, or give its path with --tabmux.")
    programs = home / "bin"
    programs.mkdir()
    (programs / "tabmux").symlink_to(tabmux)
    node = Path(shutil.which("node")).parent
    return {
        "HOME": str(home),
        "PATH": f"{programs}:{node}:/usr/local/bin:/usr/bin:/bin",
        "SHELL": "/bin/sh",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "USER": "root",
        "XDG_RUNTIME_DIR": f"/run/user/{os.geteuid()}",
        "PAGES": Pages().url,
    }


def run_documented(environment, wanted):
    """Runs the programs of docs/frameworks.md. Those in Python need the interpreter that has their packages."""
    results = {}
    for heading, location, package in DOCUMENTED:
        name = f"docs/frameworks.md: {heading}"
        if not wanted or matches(name, wanted):
            python = PYTHON if location == NPM else location
            results[name] = run_one(environment, name, location, package, [python, "documented.py", heading])
    return results


def run_one(environment, name, location, package, command):
    """Runs one client's test and prints its line. Returns its version and results; None if it failed."""
    version = version_of(location, package)
    if version is None:
        print(f"skip  {name}: {package} is not installed")
        return {"version": None}
    start = time.monotonic()
    try:
        ended = subprocess.run(
            command, cwd=HERE, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST
        )
        code, out, err = ended.returncode, ended.stdout, ended.stderr
    except subprocess.TimeoutExpired as late:
        code, out = 1, (late.stdout or b"").decode()
        err = f"It did not end within {LONGEST} s.\n{(late.stderr or b'').decode()}"
    shown = dict(line[2:].split("\t") for line in out.splitlines() if line.startswith("@ "))
    summary = ", ".join(what if how == "yes" else f"{what} ({how})" for what, how in shown.items())
    seconds = time.monotonic() - start
    print(f"{'ok  ' if code == 0 else 'FAIL'}  {name} {version}: {summary or 'nothing'}; {seconds:.0f} s", flush=True)
    if code != 0:
        print("\n".join(f"      {line}" for line in (out + err).splitlines()[-25:]), flush=True)
        return None
    return {"version": version, **shown}


def version_of(location, package):
    if location in (PYTHON, OLDER_PYTHON):
        ask = f"import importlib.metadata; print(importlib.metadata.version({package!r}))"
        told = subprocess.run([location, "-c", ask], capture_output=True, text=True) if location.exists() else None
        return told.stdout.strip() if told and told.returncode == 0 else None
    manifest = location / package / "package.json"
    return json.loads(manifest.read_text())["version"] if manifest.exists() else None


if __name__ == "__main__":
    main()
