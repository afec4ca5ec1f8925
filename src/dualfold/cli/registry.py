"""What each method is, in words, and how it is stated; one row a method.

Only words live here, so that help texts need no numerics: `problem` imports them.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualfold.embedding import Embedding
    from dualfold.graph import Graph
    from dualfold.trace import TraceProblem


@dataclass(frozen=True)
class Method:
    """A row of the method table.

    needs : "features", "graph" or "distances"
    nothing_better : what an optimal answer means, with {d} for the number of coordinates
        and {s} for its plural
    lengths : whether distances in the map mean something, so that it is drawn to scale
    in_demo : whether `dualfold demo` shows it; variants of a method it shows are left out
    """

    name: str
    title: str
    preserves: str
    optimises: str
    needs: str
    certificate: str
    nothing_better: str
    lengths: bool
    in_demo: bool = True

    def words(self) -> dict[str, str]:
        """The columns of `dualfold methods`."""
        return {
            "name": self.name,
            "title": self.title,
            "preserves": self.preserves,
            "optimises": self.optimises,
            "needs": self.needs,
            "certificate": self.certificate,
        }


PROVED = "gap to the optimum, proved"
PROVED_OR_MEASURED = "gap to the optimum, proved; measured on graphs too large to factor"

METHODS = {
    method.name: method
    for method in (
        Method(
            "pca",
            "Principal component analysis",
            preserves="variance",
            optimises="most variance kept by a linear map",
            needs="features",
            certificate=PROVED,
            nothing_better="no other choice of {d} direction{s} keeps more of the variance",
            lengths=True,
        ),
        Method(
            "mds",
            "Classical multidimensional scaling",
            preserves="distances between all points",
            optimises="inner products reproduced best",
            needs="features",
            certificate=PROVED,
            nothing_better="no other choice of {d} coordinate{s} fits the inner products better",
            lengths=True,
        ),
        Method(
            "isomap",
            "Isomap",
            preserves="distances along the sheet",
            optimises="inner products of geodesic distances reproduced best",
            needs="graph",
            certificate=f"{PROVED} (beyond 10,000 rows: of landmarks)",
            nothing_better="no other choice of {d} coordinate{s} fits the geodesics better",
            lengths=True,
        ),
        Method(
            "eigenmaps",
            "Laplacian eigenmaps",
            preserves="neighbourhoods",
            optimises="neighbours kept close, near ones most",
            needs="graph",
            certificate=PROVED_OR_MEASURED,
            nothing_better="no other choice of {d} coordinate{s} keeps neighbours closer together",
            lengths=False,
        ),
        Method(
            "lle",
            "Locally linear embedding",
            preserves="each point as a combination of its neighbours",
            optimises="the same combinations in the map",
            needs="graph",
            certificate=PROVED_OR_MEASURED,
            nothing_better="no other choice of {d} coordinate{s} keeps these combinations better",
            lengths=False,
        ),
        Method(
            "ltsa",
            "Local tangent space alignment",
            preserves="local tangent coordinates",
            optimises="tangent planes aligned best",
            needs="graph",
            certificate=PROVED_OR_MEASURED,
            nothing_better="no other choice of {d} coordinate{s} aligns the tangents better",
            lengths=False,
        ),
        Method(
            "lpp",
            "Locality preserving projection",
            preserves="neighbourhoods, by a linear map",
            optimises="neighbours kept close by a linear map",
            needs="graph",
            certificate=PROVED,
            nothing_better="no other linear map to {d} coordinate{s} keeps neighbours closer",
            lengths=False,
        ),
        Method(
            "npp",
            "Neighbourhood preserving projection",
            preserves="combinations of neighbours, by a linear map",
            optimises="the same combinations, by a linear map",
            needs="graph",
            certificate=PROVED,
            nothing_better="no other linear map to {d} coordinate{s} keeps them better",
            lengths=False,
        ),
        Method(
            "mvu",
            "Maximum variance unfolding",
            preserves="distances between neighbours",
            optimises="points pulled apart as far as their edges allow",
            needs="graph",
            certificate="gap between the variance and its dual bound, proved",
            nothing_better="no other points with edges this short have more variance",
            lengths=True,
            in_demo=False,
        ),
        Method(
            "modified_lle",
            "Modified locally linear embedding",
            preserves="several combinations of neighbours a point",
            optimises="the same combinations in the map",
            needs="graph",
            certificate=PROVED_OR_MEASURED,
            nothing_better="no other choice of {d} coordinate{s} keeps these combinations better",
            lengths=False,
            in_demo=False,
        ),
        Method(
            "hessian_lle",
            "Hessian eigenmaps",
            preserves="flatness along the sheet",
            optimises="coordinates that bend least",
            needs="graph",
            certificate=PROVED_OR_MEASURED,
            nothing_better="no other choice of {d} coordinate{s} bends less",
            lengths=False,
            in_demo=False,
        ),
        Method(
            "orthogonal_lpp",
            "Orthogonal locality preserving projection",
            preserves="neighbourhoods, by a view of the data",
            optimises="neighbours kept close by an orthogonal projection",
            needs="graph",
            certificate=PROVED,
            nothing_better="no other projection to {d} coordinate{s} keeps neighbours closer",
            lengths=True,
            in_demo=False,
        ),
        Method(
            "orthogonal_npp",
            "Orthogonal neighbourhood preserving projection (ONPP)",
            preserves="combinations of neighbours, by a view of the data",
            optimises="the same combinations, by an orthogonal projection",
            needs="graph",
            certificate=PROVED,
            nothing_better="no other projection to {d} coordinate{s} keeps them better",
            lengths=True,
            in_demo=False,
        ),
    )
}
SHOWN = [method for method in METHODS.values() if method.in_demo]


def named(name: str) -> Method:
    """The method of that name; LookupError with the close ones otherwise."""
    if name.lower() in METHODS:
        return METHODS[name.lower()]
    close = difflib.get_close_matches(name.lower(), METHODS, n=1, cutoff=0.5)
    raise LookupError(
        f"there is no method {name!r}"
        + (f"; did you mean {close[0]}?" if close else f"; there are {', '.join(METHODS)}.")
        + " `dualfold methods` tells what each one does."
    )


def certified(
    method: Method, X: Any, graph: Graph | None = None, *, n_components: int
) -> Embedding:
    """The certified answer to the problem that a method states for these data."""
    from dualfold.embedding import embed

    if method.name != "mvu":
        return embed(problem(method, X, graph, n_components=n_components))
    from dualfold.duality import unfold
    from dualfold.methods import unfolded

    assert graph is not None
    return unfolded(unfold(graph, n_components=n_components), n_components=n_components)


def problem(
    method: Method, X: Any, graph: Graph | None = None, *, n_components: int
) -> TraceProblem:
    """The problem that a method states for these data."""
    from dualfold import methods

    if method.needs == "graph":
        assert graph is not None
        few = methods.landmark_count(graph.n) if method.name == "isomap" else None
        if few is not None:
            from dualfold.graph import farthest_points

            corners = farthest_points(graph, few, random_state=0)
            return methods.landmark_isomap(graph, corners, n_components=n_components)
        stated: TraceProblem = getattr(methods, method.name)(graph, n_components=n_components)
    else:
        stated = getattr(methods, method.name)(X, n_components=n_components)
    return stated
