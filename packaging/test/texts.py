"""The texts of a release: checksums, the entry in the registry, the formula, the list of parts, shell scripts."""

import hashlib
import json
import re
import shutil
import tarfile

from shared import ROOT, check, version


def test(dist, place):
    sums = checksums(dist)
    fits_the_schema(dist / "server.json", place)
    registry(json.loads((dist / "server.json").read_text()), sums, dist)
    formula((dist / "tabmux.rb").read_text(), sums)
    archive(dist)
    parts(dist, place)
    tool = ROOT / "target/packaging/test/bin/shellcheck"
    scripts = [path for path in (ROOT / "scripts").iterdir() if path.read_text().startswith("#!/bin/sh")]
    place.run([tool, dist / "install.sh", *scripts])
    place.run(["node", ROOT / "packaging/test/workflows.mjs"])
    notes(place)


def checksums(dist):
    sums = {}
    for line in (dist / "SHA256SUMS").read_text().splitlines():
        expected, name = line.split("  ")
        sums[name] = expected
        found = hashlib.sha256((dist / name).read_bytes()).hexdigest()
        check(found == expected, name)
    check(set(sums) | {"SHA256SUMS"} == {path.name for path in dist.iterdir()}, sums)
    return sums


def fits_the_schema(entry, place):
    """skillsaw has a copy of the registry's schema, which it finds by its address in the entry."""
    folder = place.folder / "registry"
    folder.mkdir()
    lint = [ROOT / "target/packaging/test/bin/skillsaw", "lint", "--strict", "--no-color", "--no-progress", folder]
    shutil.copy(entry, folder)
    place.run(lint)
    # It has really read it.
    wrong = json.loads(entry.read_text()) | {"description": "a" * 101}
    (folder / "server.json").write_text(json.dumps(wrong))
    told = place.run(lint, succeeds=False, output="stdout")
    check("description" in told, told)


def registry(entry, sums, dist):
    """What the schema cannot know: this release, and the registry's rules about packages."""
    check(entry["version"] == version() and entry["repository"]["source"] == "github", entry)
    kinds = [package["registryType"] for package in entry["packages"]]
    check(kinds[:2] == ["npm", "pypi"] and set(kinds[2:]) == {"mcpb"}, kinds)
    for package in entry["packages"]:
        check(package["transport"] == {"type": "stdio"}, package)
        if package["registryType"] == "mcpb":
            name = package["identifier"].rsplit("/", 1)[1]
            check(package["fileSha256"] == sums[name] and "mcp" in package["identifier"], package)
            check(package["identifier"].startswith(f"{entry['repository']['url']}/releases/download/v{version()}/"), package)
        else:
            check(package["version"] == version(), package)
    # Who publishes must have named the entry in each package.
    with tarfile.open(dist / f"tabmux-{version()}.tgz") as packed:
        manifest = json.load(packed.extractfile("package/package.json"))
        readme = packed.extractfile("package/README.md").read().decode()
    check(manifest["mcpName"] == entry["name"] and f"mcp-name: {entry['name']}" in readme, manifest)


def formula(text, sums):
    for address, expected in re.findall(r'url "([^"]+)"\s+sha256 "([0-9a-f]+)"', text):
        check(sums[address.rsplit("/", 1)[1]] == expected, address)
    check(text.count("sha256") == len([name for name in sums if name.endswith(".tar.gz") and "musl" not in name]), text)


def archive(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as packed:
        names = [name.split("/", 1)[1] for name in packed.getnames()]
        check({item.mtime for item in packed} and len({item.mtime for item in packed}) == 1, "files of several times")
        check(all(item.uid == 0 and item.uname == "" for item in packed), "an owner")
    wanted = {"tabmux", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt", "README.md",
              "completions/tabmux.bash", "completions/tabmux.fish", "completions/_tabmux", "man/tabmux.1", "man/tabmux-mcp.1"}
    check(wanted <= set(names), names)


def notes(place):
    """Those of one version, and no others."""
    folder = place.folder / "notes"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/release-notes", folder / "scripts")
    (folder / "CHANGELOG.md").write_text("# Changelog\n## [0.10.0]\nc\n## [0.1.0] - 2026-01-01\n### Added\nb\n## [0.0.9]\na\n")
    told = place.run([folder / "scripts/release-notes", "0.1.0"])
    check(told == "### Added\nb\n", told)
    complaint = place.run([folder / "scripts/release-notes", "0.2.0"], succeeds=False)
    check("has no section" in complaint, complaint)


def parts(dist, place):
    script = (
        "import sys; from cyclonedx.validation.json import JsonStrictValidator; from cyclonedx.schema import SchemaVersion; "
        "print(JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read()))"
    )
    told = place.run([ROOT / "target/packaging/test/bin/python", "-c", script, next(dist.glob("*.cdx.json"))])
    check(told.strip() == "None", told)
