"""Checks the Lua of the plugin with StyLua and luacheck; `--fix` formats it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import programs

PLUGIN = Path(__file__).parents[2] / "neovim"


def main(arguments: list[str]) -> int:
    if programs.main(["luacheck", "stylua"]):
        return 1
    fix = "--fix" in arguments
    stylua = ["node", str(Path(__file__).with_name("stylua.mjs")), str(programs.stylua())]
    result = subprocess.run([*stylua, str(PLUGIN), *([] if fix else ["--check"])], check=False)
    if result.returncode or fix:
        return result.returncode
    luacheck = [str(programs.LUACHECK.launcher), "--no-color", "--quiet", "."]
    found = subprocess.run(luacheck, cwd=PLUGIN, capture_output=True, text=True, check=False)
    if found.returncode:
        print(found.stdout, file=sys.stderr)
    return found.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
