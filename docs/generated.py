"""What is written from `dualfold.descriptions`: the names that type checkers and editors see.

python docs/generated.py            write it
python docs/generated.py --check    exit code 1 where a file is not what would be written

At run time the names come from the descriptions themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import dualfold
from dualfold.descriptions import ESTIMATORS, FUNCTIONS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "dualfold"


def files() -> dict[Path, str]:
    """Each file with what it should hold."""
    whole = dualfold._HOMES | dualfold._estimators() | dict.fromkeys(dualfold._ROOMS, "dualfold")
    rooms = {
        "estimators": {name: f"dualfold.estimators.{home}" for name, home in ESTIMATORS.items()},
        "methods": {name: f"dualfold.methods.{home}" for name, home in FUNCTIONS.items()},
    }
    found = {SOURCE / room / "__init__.pyi": stub(names) for room, names in rooms.items()}
    return found | {SOURCE / "__init__.pyi": stub(whole) + "\n__version__: str\n"}


def stub(homes: Mapping[str, str]) -> str:
    """One line a name, with the module it is from; "as" says that it is exported."""
    pairs = sorted((home, name) for name, home in homes.items())
    lines = [f"from {home} import {name} as {name}\n" for home, name in pairs]
    return "# Written by docs/generated.py from dualfold.descriptions.\n" + "".join(lines)


def main() -> None:
    wrong = [
        path for path, text in files().items() if not path.exists() or path.read_text() != text
    ]
    if "--check" in sys.argv:
        for path in wrong:
            print(f"{path.relative_to(ROOT)} is not what the descriptions say")
        raise SystemExit(bool(wrong))
    for path, text in files().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
