"""What the tests of the packages share: a folder of their own, commands without Rust, and an MCP client of a few lines."""

import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Nothing here takes longer on a loaded machine; what hangs is ended.
LIMIT = 300
# Whether these are the packages of a release, on a quiet machine: only then are times checked, elsewhere they are printed.
IS_RELEASE = "RELEASE" in os.environ


def say(text):
    print(f"    {text}", flush=True)


def check(condition, found):
    if not condition:
        raise AssertionError(found)


def check_time(what, found, limit, unit):
    say(f"{what}: {found:.1f} {unit}")
    check(not IS_RELEASE or found <= limit, f"{what}: {found:.1f} {unit} is more than {limit} {unit}")


class Place:
    """A folder that is removed at the end, with a home of its own and a PATH on which there is no Rust."""

    def __enter__(self):
        # Short, because the daemon's socket is below it.
        self.folder = Path(tempfile.mkdtemp(prefix="tabmux-p-"))
        for name in ("home", "run", "tmp", "path"):
            (self.folder / name).mkdir(mode=0o700)
        for tool in ("node", "npm", "npx", "python3"):
            real = shutil.which(tool)
            check(real, f"{tool} is not installed")
            # A link would break what pyenv or nvm find out from their own names.
            script = self.folder / "path" / tool
            script.write_text(f'#!/bin/sh\nexec "{real}" "$@"\n')
            script.chmod(0o755)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, *first):
        path = [*map(str, first), str(self.folder / "path"), "/usr/bin", "/bin"]
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        here = {
            "HOME": self.folder / "home",
            "XDG_RUNTIME_DIR": self.folder / "run",
            "TMPDIR": self.folder / "tmp",
            "PATH": ":".join(path),
            # A port of the daemon that nobody else has.
            "TABMUX_PORT": "0",
        }
        return kept | {name: str(value) for name, value in here.items()}

    def run(self, words, *, first=(), cwd=None, succeeds=True, more=None, output=None):
        """What the command prints; without success, what it complains about, or what `output` names."""
        result = subprocess.run(
            [str(word) for word in words], cwd=cwd or self.folder, env=self.environment(*first) | (more or {}),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False,
        )
        check((result.returncode == 0) == succeeds, f"{words} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
        return getattr(result, output or ("stdout" if succeeds else "stderr"))

    def demo(self, words, **how):
        """Runs `tabmux demo`, which shows its story within 15 s."""
        folder = how.pop("cwd", None) or Path(tempfile.mkdtemp(dir=self.folder))
        began = time.monotonic()
        told = self.run([*words, "demo"], cwd=folder, **how)
        seconds = time.monotonic() - began
        check((folder / "tabmux-demo.png").is_file(), told)
        check_time(f"{' '.join(Path(str(word)).name for word in words)} demo", seconds, 15, "s")


def initialize(words, environment):
    """The answer of an MCP server to `initialize`."""
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "packaging", "version": "1"}},
    }
    server = subprocess.Popen(
        [str(word) for word in words], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )
    try:
        server.stdin.write(json.dumps(hello) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.stdin.close()
        check(server.wait(timeout=LIMIT) == 0, f"{words} ended with {server.returncode}")
    finally:
        server.kill()
    return answer["result"]


def machine():
    """This machine, as npm and as Python name it; a release may have packages of many."""
    system = {"Linux": "linux", "Darwin": "darwin"}[platform.system()]
    is_arm = platform.machine() in ("aarch64", "arm64")
    wheel = ("macosx", "arm64" if is_arm else "x86_64") if system == "darwin" else ("manylinux", platform.machine())
    return f"{system}-{'arm64' if is_arm else 'x64'}", wheel


def version():
    return json.loads((ROOT / "packages/page/package.json").read_text())["version"]


def check_version(told):
    """Checks what `--version` prints: the version, and the commit from which a release is made."""
    build = "debug build"
    if IS_RELEASE:
        build = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    check(told == f"tabmux {version()} ({build})\n", told)


# Where registries and browsers are; everything else is as on a new machine.
KEPT = ("CHROME_PATH", "LANG", "npm_config_registry", "NPM_CONFIG_REGISTRY", "PIP_INDEX_URL", "HTTPS_PROXY", "https_proxy",
        "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "PYENV_VERSION")
