"""What each method is, in words; one row a method.

Only words live here, so that help texts need no numerics; `stating` brings them.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A row of the method table.

    needs : "features", "graph" or "distances"
    nothing_better : what an optimal answer means, with {d} for the number of coordinates
        and {s} for its plural
    lengths : whether distances in the map mean something, so that it is drawn to scale
    new_points : how rows that come later are placed
    size : the largest tables measured, with the seconds they took; SIZES_MEAN says where
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
    new_points: str = ""
    size: str = ""
    in_demo: bool = True

    def words(self) -> dict[str, str]:
        """The columns of `dualfold methods`."""
        return {
            "name": self.name,
            "title": self.title,
            "preserves": self.preserves,
            "optimises": self.optimises,
            "needs": self.needs,
            "new points": self.new_points,
            "practical size": self.size,
            "certificate": self.certificate,
        }


PROVED = "gap to the optimum, proved"
PROVED_OR_MEASURED = "gap to the optimum, proved; measured on graphs too large to factor"

LINEAR = "by its linear map"
WEIGHTS = "by local weights of old neighbours"
SIZES_MEAN = (
    "Practical size: what was measured on 2 cores, neighbours and certificate included "
    "(benchmarks/RESULTS.md; ~ is a single run on a busy machine, not a benchmark). A sheet is a "
    "swiss roll, 3 columns; images are MNIST, 784 columns. Beyond, try: Ctrl-C leaves no files."
)

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
            new_points=LINEAR,
            size="1,000,000 of a sheet (0.1 s), 70,000 images (0.5 s)",
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
            new_points=LINEAR,
            size="10,000 images (0.2 s); of features it is as fast as pca",
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
            new_points="by geodesics to the old points or landmarks",
            size="10,000 images exactly (3 s); by landmarks 70,000 images (8 s), "
            "1,000,000 of a sheet (80 s)",
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
            new_points="by Nyström's equation",
            size="1,000,000 of a sheet (28 s), 70,000 images (9 s)",
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
            new_points=WEIGHTS,
            size="1,000,000 of a sheet (74 s), 10,000 images (3 s)",
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
            new_points=WEIGHTS,
            size="100,000 of a sheet (~50 s)",
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
            new_points=LINEAR,
            size="10,000 images (2 s), 100,000 of a sheet (~4 s)",
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
            new_points=LINEAR,
            size="10,000 images (2 s), 100,000 of a sheet (~5 s)",
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
            new_points=WEIGHTS,
            size="1,000 of a sheet to a gap of 1e-6 (2 s), 10,000 to 1e-2 (3 s; in Python, by tol)",
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
            new_points=WEIGHTS,
            size="100,000 of a sheet (~50 s)",
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
            new_points=WEIGHTS,
            size="100,000 of a sheet (~30 s)",
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
            new_points=LINEAR,
            size="100,000 of a sheet (~4 s)",
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
            new_points=LINEAR,
            size="100,000 of a sheet (~5 s)",
            in_demo=False,
        ),
    )
}
# What people ask for by name and other programs have.
ELSEWHERE = ("tsne", "umap", "phate", "trimap", "pacmap", "som", "autoencoder", "vae")
SHOWN = [method for method in METHODS.values() if method.in_demo]


def named(name: str) -> Method:
    """The method of that name; LookupError with the close ones otherwise."""
    if name.lower() in METHODS:
        return METHODS[name.lower()]
    if re.sub(r"[^a-z]", "", name.lower()) in ELSEWHERE:
        raise LookupError(
            f"{name} is not among the methods, since nothing can be proved of its maps; eigenmaps "
            "keeps neighbours too, and `dualfold report` measures a map that another program made."
        )
    close = difflib.get_close_matches(name.lower(), METHODS, n=1, cutoff=0.5)
    raise LookupError(
        f"there is no method {name!r}"
        + (f"; did you mean {close[0]}?" if close else f"; there are {', '.join(METHODS)}.")
        + " `dualfold methods` tells what each one does."
    )
