"""Tests enter a room by its door: the names of its package, or one file that says what else.

`tests/ROOM/door.py` hands the tests of a room the inner names that they need, because a bound's
arithmetic is held to its formula, or because a file, a thread or a kernel has no public name. All
other tests import packages of dualfold (`from dualfold.trace import certify`) and its modules at
the top (`dualfold.errors`).
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "src" / "dualfold"
# Rooms of the application and of judging are tested on what rooms below them make.
OPEN_BELOW = ("cli", "exploration", "judging", "view")


def inner_imports(path: Path) -> set[str]:
    """Modules inside rooms that a file imports."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names if is_inner(alias.name)}
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            if is_inner(node.module):
                modules.add(node.module)
            elif node.module.startswith("dualfold"):
                room = import_module(node.module)
                names = (alias.name for alias in node.names)
                things = {name: getattr(room, name, None) for name in names}
                modules |= {
                    f"{node.module}.{name}"
                    for name, thing in things.items()
                    if isinstance(thing, ModuleType) and is_inner(thing.__name__)
                }
    return modules


def is_inner(name: str) -> bool:
    """Whether a name is that of a file inside a room."""
    parts = name.split(".")
    file = PACKAGE.joinpath(*parts[1:]).with_suffix(".py")
    return parts[0] == "dualfold" and len(parts) > 2 and file.is_file()


def room_of(path: Path) -> str:
    """The room whose tests lie beside a file."""
    return ".".join(("dualfold", *path.relative_to(TESTS).parts[:-1]))


def test_tests_enter_by_doors():
    around = {
        str(path.relative_to(TESTS)): sorted(inner_imports(path))
        for path in TESTS.rglob("test_*.py")
        if inner_imports(path)
    }
    assert around == {}


def test_a_door_says_what_it_is_for_and_opens_its_own_room():
    doors = sorted(TESTS.rglob("door.py"))
    assert len(doors) > 10
    for door in doors:
        assert ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))), door
        room = room_of(door)
        path = PACKAGE.joinpath(*room.split(".")[1:])
        if path.is_dir() and path.name not in OPEN_BELOW:  # else tests across rooms
            assert all(name.startswith(room + ".") for name in inner_imports(door)), door
