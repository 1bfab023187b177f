"""The wheel: installed in an environment of its own without a network, and run."""

from shared import ROOT, check, check_version, machine, version


def test(dist, place):
    environment = place.folder / "venv"
    place.run(["python3", "-m", "venv", environment])
    system, cpu = machine()[1]
    wheel = next(dist.glob(f"tabmux-{version()}-py3-none-{system}_*_{cpu}.whl"))
    place.run([environment / "bin/python", "-m", "pip", "install", "--no-index", "--disable-pip-version-check", wheel])
    program = environment / "bin/tabmux"
    check_version(place.run([program, "--version"]))
    place.demo([program])
    shown = place.run([environment / "bin/python", "-m", "pip", "show", "--files", "tabmux"])
    check("LICENSE-MIT" in shown and "THIRD-PARTY-LICENSES.txt" in shown, shown)
    uv = ROOT / "target/packaging/test/bin/uv"
    told = place.run([uv, "tool", "run", "--offline", "--from", wheel, "tabmux", "--version"])
    check(version() in told, told)
    settings_keep_the_link_of_uv(uv, wheel, place)
    place.run([environment / "bin/python", "-m", "pip", "uninstall", "--yes", "tabmux"])
    check(not program.exists(), "the program is still there")


def settings_keep_the_link_of_uv(uv, wheel, place):
    """An upgrade makes uv's folder again; the link on PATH stays. `uvx` runs from a cache, so its path is not written."""
    place.run([uv, "tool", "install", "--offline", wheel])
    bin = place.folder / "home/.local/bin"
    told = place.run(["tabmux", "install", "cursor", "--dry-run"], first=[bin])
    check(f'"command": "{bin}/tabmux"' in told, told)
    told = place.run([bin / "tabmux", "install", "cursor", "--dry-run"])
    check("uv/tools/tabmux/bin/tabmux" in told, told)
    run = [uv, "tool", "run", "--isolated", "--offline", "--from", wheel, "tabmux", "install", "cursor", "--dry-run"]
    complaint = place.run(run, succeeds=False)
    check("Install tabmux first" in complaint, complaint)
