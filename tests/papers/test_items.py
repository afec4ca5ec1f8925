"""The way from the papers to the code: every name, experiment and erratum of the table exists."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

import pytest

import dualfold
import papers
from papers.items import NOTHING_TO_COMPUTE, Item, items_of
from tests.papers.errata import entries

ALL = [(paper, item) for paper in papers.PAPERS for item in items_of(paper)]


@cache
def resolved(name: str) -> object:
    """Thing of a dotted name: an attribute of what stands before the dot, or else a module."""
    home, _, last = name.rpartition(".")
    if home and last in dir(holder := resolved(home)):
        return getattr(holder, last)
    return importlib.import_module(name)


def test_every_name_exists_and_has_a_docstring() -> None:
    for name in {name for _, item in ALL for name in item.names}:
        assert getattr(resolved(name), "__doc__", None), name


def test_names_of_dualfold_stand_in_public_rooms() -> None:
    """`dualfold.Name` or `dualfold.room.Name`, where the room lists the name; or its method."""
    for name in {name for _, item in ALL for name in item.names if name.startswith("dualfold.")}:
        home, _, last = name.rpartition(".")
        if isinstance(resolved(home), type):
            assert not last.startswith("_"), name
            home, _, last = home.rpartition(".")
        room = resolved(home)
        assert isinstance(room, ModuleType), name
        short = room.__name__.removeprefix("dualfold.") in dualfold._ROOMS
        assert short or hasattr(room, "__path__"), f"{name} stands in a file, not in a room"
        assert last in room.__all__, name


def test_every_experiment_exists() -> None:
    known = {one.name for one in papers.experiments()}
    assert {name for _, item in ALL for name in item.experiments} <= known


def test_every_experiment_belongs_to_an_item() -> None:
    named = {name for _, item in ALL for name in item.experiments}
    assert {one.name for one in papers.experiments()} <= named


def test_every_erratum_of_a_paper_stands_at_an_item() -> None:
    checks = {entry.check.removeprefix("test_") for entry in entries()}
    named = {check for _, item in ALL for check in item.errata}
    own_notes = {"averaged_descent_on_a_set", "extragradient_starts_with_a_gradient"}
    assert named == checks - own_notes


@pytest.mark.parametrize("paper", papers.PAPERS, ids=lambda paper: paper.author)
def test_what_names_no_code_says_so_by_having_neither_name_nor_experiment(
    paper: papers.Paper,
) -> None:
    bare: list[Item] = [one for one in items_of(paper) if one.reached_by == NOTHING_TO_COMPUTE]
    assert not [one.place for one in bare if one.names or one.experiments]
