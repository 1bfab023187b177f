"""Tests the packages in a folder of `cargo xtask dist`: `python3 packaging/test/run.py FOLDER [PART…]`."""

import importlib
import sys
from pathlib import Path

from shared import Place, say

PARTS = ("texts", "bundle", "install_script", "npm_packages", "wheel")


def main():
    dist = Path(sys.argv[1]).resolve()
    for part in sys.argv[2:] or PARTS:
        with Place() as place:
            importlib.import_module(part).test(dist, place)
        say(f"{part.replace('_', ' ')}: good")


main()
