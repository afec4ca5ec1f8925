"""What a case is: data, sides that work on it, and what is wanted of ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

from benchmarks.verdicts import Wanted
from dualfold.arrays import Array

# Threads of a side (-1: all cores); `turns` gives every side the same number.
THREADS = int(os.environ.get("DUALFOLD_BENCHMARK_THREADS", "-1"))

Role = Literal["ours", "peer", "floor", "context"]
NO_SETTINGS: Mapping[str, Any] = {}


@dataclass(frozen=True, eq=False)
class Data:
    """What every side is given, and what is only looked at after the clock has stopped.

    points : what quality is measured against (None: quality means nothing here)
    truth : for `Case.check`
    """

    given: Any
    points: Array | None = None
    truth: Any = None


@dataclass(frozen=True, eq=False)
class Answer:
    """What a side hands back: points or lists, its stages if it knows them, facts to show."""

    points: Array | None = None
    lists: Array | None = None
    components: Array | None = None
    weights: Array | None = None  # dual ones, where the work is a program
    stages: dict[str, float] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """One way to do the work. `work` names a function, "module:function" of benchmarks.sides.

    Its module is imported before the clock starts, and only in the process that runs it.
    cannot : why it is not even started
    shown_from : a case with the same data and the same side, whose runs stand here too
    """

    work: str
    role: Role = "peer"
    settings: Mapping[str, Any] = field(default_factory=lambda: NO_SETTINGS)
    environment: Mapping[str, str] = field(default_factory=lambda: NO_SETTINGS)
    note: str = ""
    cannot: str = ""
    shown_from: str = ""

    def function(self) -> Callable[..., Answer]:
        module, name = self.work.split(":")
        function: Callable[..., Answer] = getattr(import_module(f"benchmarks.sides.{module}"), name)
        return function


@dataclass(frozen=True)
class Case:
    """One row of the table of what is wanted, or a part of one.

    data : makes the data, its size times the given scale
    check : facts that need the data and the answer, found outside the clock
    limit : seconds a side may take
    """

    title: str
    data: Callable[[float], Data]
    sides: Mapping[str, Side]
    wanted: tuple[Wanted, ...] = ()
    check: Callable[[Answer, Data], dict[str, Any]] | None = None
    limit: float = 300.0


def ours(work: str, note: str = "", **settings: Any) -> Side:
    """A side of dualfold."""
    return Side(f"ours:{work}", "ours", settings, note=note)


def peer(work: str, note: str = "", **settings: Any) -> Side:
    """A side of somebody else, doing the same work."""
    return Side(work, "peer", settings, note=note)


def unable(why: str) -> Side:
    """A peer that cannot do the work, and why."""
    return Side("", "peer", cannot=why)


UMAP = Side("umap:umap_map", "context", note="another objective, shown for time and quality")


def umap_from(case: str) -> Side:
    """UMAP knows nothing of the method it stands beside: one run serves all on the same data."""
    return replace(UMAP, shown_from=case)
