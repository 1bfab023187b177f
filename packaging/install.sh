#!/bin/sh
# Installs tabmux for this user: downloads the archive of this system, checks its checksum, and unpacks it.
#   TABMUX_PREFIX     where it goes; the program is in its folder `bin` (default: ~/.local)
#   TABMUX_DOWNLOAD   where the archives are (default: the release of this script)
set -eu

version=@VERSION@
from=${TABMUX_DOWNLOAD:-@REPOSITORY@/releases/download/v$version}
prefix=${TABMUX_PREFIX:-$HOME/.local}

give_up() {
    printf 'tabmux was not installed: %s\n' "$1" >&2
    exit 1
}

target() {
    machine=$(uname -m)
    case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) give_up "there is no program for $machine. Build it: cargo install --locked tabmux" ;;
    esac
    case $(uname -s) in
    Linux) if is_musl; then echo "$machine-unknown-linux-musl"; else echo "$machine-unknown-linux-gnu"; fi ;;
    Darwin) echo "$machine-apple-darwin" ;;
    *) give_up "there is no program for $(uname -s)" ;;
    esac
}

is_musl() {
    case $(ldd --version 2>&1 || true) in *musl*) return 0 ;; *) return 1 ;; esac
}

download() {
    if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null 2>&1; then
        wget --quiet --output-document "$2" "$1"
    else
        give_up "neither curl nor wget is installed. Install one of them and run this again"
    fi
}

sum_of() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    else
        give_up "neither sha256sum nor shasum is installed, so the download cannot be checked"
    fi
}

main() {
    target=$(target)
    archive=tabmux-$version-$target.tar.gz
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    download "$from/SHA256SUMS" "$folder/SHA256SUMS" || give_up "$from/SHA256SUMS cannot be downloaded"
    expected=$(awk -v name="$archive" '$2 == name { print $1 }' "$folder/SHA256SUMS")
    [ -n "$expected" ] || give_up "the release has no program for $target. Build it: cargo install --locked tabmux"
    download "$from/$archive" "$folder/$archive" || give_up "$from/$archive cannot be downloaded"
    # Not inside of a test, which would hide that there is no program for it.
    found=$(sum_of "$folder/$archive")
    [ "$found" = "$expected" ] ||
        give_up "the checksum of $archive is wrong, so it was changed or damaged on the way. Run this again"
    tar -xzf "$folder/$archive" -C "$folder"
    unpacked=$folder/tabmux-$version-$target
    "$unpacked/tabmux" --version >/dev/null || give_up "the program does not run on this system"
    mkdir -p "$prefix/bin" "$prefix/share/man/man1"
    # A program that runs cannot be written, but it can be replaced.
    cp "$unpacked/tabmux" "$prefix/bin/tabmux.new"
    mv "$prefix/bin/tabmux.new" "$prefix/bin/tabmux"
    cp "$unpacked"/man/*.1 "$prefix/share/man/man1/"
    printf 'Installed %s as %s\n' "$("$prefix/bin/tabmux" --version)" "$prefix/bin/tabmux"
    case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) printf 'Add %s to your PATH.\n' "$prefix/bin" ;;
    esac
    printf 'Next: tabmux install --all adds it to your MCP clients, tabmux demo shows it at work.\n'
}

# At the end, so that half a script does nothing.
main
