"""The npm packages: installed from their files in a folder without Rust, and run."""

import json
import os
import shutil
import signal
import subprocess
import time

from shared import LIMIT, check, check_time, check_version, initialize, machine, say, version


def test(dist, place):
    folder = place.folder / "npm"
    folder.mkdir()
    (folder / "package.json").write_text('{"name": "someone", "private": true}')
    program = dist / f"tabmux-{machine()[0]}-{version()}.tgz"
    place.run(["npm", "install", "--no-audit", "--no-fund", program, dist / f"tabmux-{version()}.tgz"], cwd=folder)
    check_version(place.run(["npx", "tabmux", "--version"], cwd=folder))
    place.demo(["npx", "tabmux"], cwd=folder)
    launcher = folder / "node_modules/.bin/tabmux"
    native = next(folder.glob("node_modules/@tabmux/*/tabmux"))
    answer = initialize([launcher, "mcp", "--no-daemon", "--headless"], place.environment())
    check(answer["serverInfo"]["title"] == "tabmux", answer)
    ends_as_its_program_ends(launcher, place)
    says_what_is_missing(folder, native, launcher, place)
    becomes_its_program(launcher, native, place)
    native_ms, launcher_ms = (median(words, place) for words in ([native, "--version"], [launcher, "--version"]))
    say(f"start: program {native_ms:.0f} ms, launcher {launcher_ms:.0f} ms")
    check_time("the launcher adds", launcher_ms - native_ms, 60, "ms")


def ends_as_its_program_ends(launcher, place):
    code = subprocess.run([launcher, "no-such-command"], env=place.environment(), capture_output=True, timeout=LIMIT, check=False)
    check(code.returncode == 2, code)
    server = subprocess.Popen(
        [launcher, "mcp", "--no-daemon", "--headless"], env=place.environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    server.stdin.write(json.dumps(hello) + "\n")
    server.stdin.flush()
    # It answers, so the launcher has passed on its signals by now.
    server.stdout.readline()
    server.send_signal(signal.SIGTERM)
    check(server.wait(timeout=LIMIT) in (0, -signal.SIGTERM), server.returncode)


def becomes_its_program(launcher, native, place):
    """With a Node.js that can replace itself there is no Node.js left."""
    node = os.environ.get("NEW_NODE") or shutil.which("node")
    words = [node, launcher.resolve(), "mcp", "--no-daemon", "--headless"]
    server = subprocess.Popen(
        words, env=place.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    server.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    server.stdin.flush()
    server.stdout.readline()
    running = os.readlink(f"/proc/{server.pid}/exe") if os.path.isdir("/proc") else None
    server.stdin.close()
    server.wait(timeout=LIMIT)
    can = place.run([node, "-p", "typeof process.execve"]).strip() == "function"
    version = place.run([node, "--version"]).strip()
    check(running is None or (running == str(native.resolve())) == can, f"Node.js {version}: {running}")
    say(f"Node.js {version} {'becomes' if can else 'starts'} the program")


def says_what_is_missing(folder, native, launcher, place):
    hidden = native.parent.rename(folder / "hidden")
    complaint = place.run([launcher, "--version"], succeeds=False)
    check("is not installed" in complaint and "cargo install" in complaint, complaint)
    hidden.rename(native.parent)


def median(words, place):
    times = []
    for _ in range(11):
        began = time.monotonic()
        place.run(words)
        times.append((time.monotonic() - began) * 1000)
    return sorted(times)[5]
