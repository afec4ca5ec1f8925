"""Methods of a neighbour graph that are linear maps of the features."""

from __future__ import annotations

from dualfold.descriptions.description import BY_LINEAR_MAP, PROVED, Description
from dualfold.descriptions.graphs import NEIGHBORS

SHARED = ("variance_kept", "metric", "pieces", "supervised")

PROJECTIONS = (
    Description(
        "lpp",
        "Locality preserving projection",
        estimator="lpp:LocalityPreservingProjection",
        functions=("lpp:lpp",),
        needs=("graph",),
        preserves="neighbourhoods, by a linear map",
        optimises="neighbours kept close by a linear map",
        certificate=PROVED,
        nothing_better="no other linear map to {d} coordinate{s} keeps neighbours closer",
        lengths=False,
        linear=True,
        new_points=BY_LINEAR_MAP,
        size="10,000 images (2 s), 100,000 of a sheet (~4 s)",
        options=(*NEIGHBORS, "weights", "width", *SHARED),
    ),
    Description(
        "npp",
        "Neighbourhood preserving projection",
        estimator="npp:NeighborhoodPreservingProjection",
        functions=("npp:npp",),
        needs=("graph",),
        preserves="combinations of neighbours, by a linear map",
        optimises="the same combinations, by a linear map",
        certificate=PROVED,
        nothing_better="no other linear map to {d} coordinate{s} keeps them better",
        lengths=False,
        linear=True,
        new_points=BY_LINEAR_MAP,
        size="10,000 images (2 s), 100,000 of a sheet (~5 s)",
        options=(*NEIGHBORS, "reg", *SHARED),
    ),
    Description(
        "orthogonal_lpp",
        "Orthogonal locality preserving projection",
        estimator="lpp:OrthogonalLPP",
        functions=("lpp:orthogonal_lpp",),
        needs=("graph",),
        preserves="neighbourhoods, by a view of the data",
        optimises="neighbours kept close by an orthogonal projection",
        certificate=PROVED,
        nothing_better="no other projection to {d} coordinate{s} keeps neighbours closer",
        lengths=True,
        linear=True,
        new_points=BY_LINEAR_MAP,
        size="100,000 of a sheet (~4 s)",
        options=(*NEIGHBORS, "weights", "width", *SHARED),
        before={"variance_kept": 0.99},
        in_demo=False,
    ),
    Description(
        "orthogonal_npp",
        "Orthogonal neighbourhood preserving projection (ONPP)",
        estimator="npp:OrthogonalNPP",
        functions=("npp:orthogonal_npp",),
        needs=("graph",),
        preserves="combinations of neighbours, by a view of the data",
        optimises="the same combinations, by an orthogonal projection",
        certificate=PROVED,
        nothing_better="no other projection to {d} coordinate{s} keeps them better",
        lengths=True,
        linear=True,
        new_points=BY_LINEAR_MAP,
        size="100,000 of a sheet (~5 s)",
        options=(*NEIGHBORS, "reg", *SHARED),
        before={"variance_kept": 0.99},
        in_demo=False,
    ),
)
