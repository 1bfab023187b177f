"""The install script: it installs a program whose checksum is right, and no other."""

import shutil

from shared import check, check_version, version


def test(dist, place):
    prefix = place.folder / "prefix"
    script = dist / "install.sh"

    def install(release, **how):
        return place.run(["sh", script], more={"TABMUX_DOWNLOAD": f"file://{release}", "TABMUX_PREFIX": str(prefix)}, **how)

    copy = place.folder / "release"
    shutil.copytree(dist, copy)
    for archive in copy.glob("*.tar.gz"):
        with archive.open("ab") as file:
            file.write(b"more")
    complaint = install(copy, succeeds=False)
    check("checksum" in complaint and not prefix.exists(), complaint)
    for archive in copy.glob("*.tar.gz"):
        archive.unlink()
    check("cannot be downloaded" in install(copy, succeeds=False), "no complaint")
    says_what_cannot_be_checked(dist, script, prefix, place)
    told = install(dist)
    check(f"Installed tabmux {version()}" in told and "to your PATH" in told, told)
    program = prefix / "bin/tabmux"
    check_version(place.run([program, "--version"]))
    check((prefix / "share/man/man1/tabmux-install.1").is_file(), "no manual pages")
    # Again, over the one that is there.
    install(dist)


def says_what_cannot_be_checked(dist, script, prefix, place):
    path = place.folder / "without-sums"
    path.mkdir()
    for tool in ("sh", "awk", "curl", "ldd", "mktemp", "rm", "tar", "uname"):
        (path / tool).symlink_to(shutil.which(tool))
    more = {"TABMUX_DOWNLOAD": f"file://{dist}", "TABMUX_PREFIX": str(prefix), "PATH": str(path)}
    complaint = place.run([path / "sh", script], more=more, succeeds=False)
    check("neither sha256sum" in complaint and "wrong" not in complaint and not prefix.exists(), complaint)
