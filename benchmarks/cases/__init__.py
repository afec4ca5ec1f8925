"""Every case by name.

`growth/METHOD/N` names a rung of a ladder (see benchmarks.growth), `check/NAME` a ratio of
`python -m benchmarks --check` (see benchmarks.check).
"""

from __future__ import annotations

from benchmarks.case import Case
from benchmarks.cases.eigenmaps import EIGENMAPS
from benchmarks.cases.first_use import FIRST_USE
from benchmarks.cases.isomap import ISOMAP
from benchmarks.cases.kernels_and_texts import KERNELS_AND_TEXTS
from benchmarks.cases.linear import LINEAR
from benchmarks.cases.lle import LLE
from benchmarks.cases.mds import MDS
from benchmarks.cases.million import MILLION
from benchmarks.cases.neighbour_maps import BOUNDED_MAPS, LARGE_MAPS, NEIGHBOUR_MAPS
from benchmarks.cases.neighbours import NEIGHBOURS
from benchmarks.cases.pca import PCA
from benchmarks.cases.quality import QUALITY
from benchmarks.cases.unfolding import UNFOLDING

CASES: dict[str, Case] = (
    PCA
    | MDS
    | ISOMAP
    | LLE
    | NEIGHBOURS
    | EIGENMAPS
    | NEIGHBOUR_MAPS
    | LARGE_MAPS
    | BOUNDED_MAPS
    | LINEAR
    | KERNELS_AND_TEXTS
    | UNFOLDING
    | QUALITY
    | MILLION
    | FIRST_USE
)


def case_named(name: str) -> Case:
    """A case of the table, or a rung of a ladder."""
    if name.startswith("check/"):
        from benchmarks.cases.checks import CHECKS

        return CHECKS[name.removeprefix("check/")].case
    if not name.startswith("growth/"):
        return CASES[name]
    from benchmarks.ladders import rung

    _, method, n = name.split("/")
    return rung(method, int(n))
