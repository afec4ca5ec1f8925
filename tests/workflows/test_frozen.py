"""What the rooms hand on cannot be changed, is one of its kind, and has the defaults it says."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil

import pytest
from sklearn.base import BaseEstimator

import dualfold
from dualfold import methods, quality
from tests.workflows.door import MEASURE_MEANINGS, LeastPoint

ROOMS = ("trace", "theory", "unfolding", "quality", "methods")
# What a solver keeps while it runs; nothing of it is handed on.
AT_WORK = {
    "methods.fitting.coordinates._Continued",
    "methods.maps.parts.Parts",
    "trace.solvers.auto.Pace",
    "trace.solvers.block_krylov.KrylovBasis",
    "trace.solvers.lanczos.ChebyshevFilter",
    "trace.solvers.subspace.Basis",
    "unfolding.solvers.low_rank._Checkpoint",
    "unfolding.solvers.separate_sides._History",
    "unfolding.solution.BestSides",
}
# Solvers are settings, compared by what they say.
SETTINGS = {
    "Auto",
    "Description",
    "Factored",
    "Gradient",
    "Lanczos",
    "PaperGradient",
    "Iteration",
    "Unfolder",
}

HOLDERS = ("Array", "Any", "Floats", "Ints", "Longs", "Convex")  # of arrays, or of what has some


def classes():
    for room in ROOMS:
        package = importlib.import_module(f"dualfold.{room}")
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            module = importlib.import_module(found.name)
            for thing in vars(module).values():
                own = inspect.isclass(thing) and thing.__module__ == found.name
                # Estimators hold what a fit returns; their parameters are fields.
                holds = inspect.isclass(thing) and issubclass(thing, BaseEstimator)
                if own and not holds and dataclasses.is_dataclass(thing):
                    yield thing


def _place(one):
    return f"{one.__module__.removeprefix('dualfold.')}.{one.__name__}"


def test_every_arrow_makes_a_frozen_object():
    found = {_place(one): one.__dataclass_params__ for one in classes()}
    assert {name for name, made in found.items() if not made.frozen} == AT_WORK
    assert len(found) > 90


def test_what_holds_arrays_is_compared_by_identity():
    """Arrays have no truth of their own: == of two would raise, and hash would not exist."""
    for one in classes():
        kinds = [str(field.type) for field in dataclasses.fields(one)]
        holds = any(word in kind for kind in kinds for word in HOLDERS)
        if holds and one.__name__ not in SETTINGS and _place(one) not in AT_WORK:
            assert not one.__dataclass_params__.eq, one


def test_certificates_take_names_only():
    for one in classes():
        if issubclass(one, dualfold.Certificate):
            assert all(field.kw_only for field in dataclasses.fields(one)), one


# Words that mean the same everywhere have one default. A default is part of the interface: who
# changes one changes the numbers of everybody who did not name it.
SHARED = {
    "metric": "euclidean", "sample": None, "random_state": 0, "n_jobs": None, "per_point": False,
    "n_components": 2, "n_neighbors": 10, "weights": "heat", "width": None, "ridge": 1e-3,
    "variance_kept": 0.99, "scale": "best", "eps": 0.1, "sample_weight": None, "masses": None,
}  # fmt: skip
OWN = {
    "conformal_p_values": {"n_neighbors": 5},  # as scikit-learn's nearest neighbours
    "continuity": {"n_neighbors": 5},  # as scikit-learn's trustworthiness
    "trustworthiness": {"n_neighbors": 5},
    "knn_accuracy": {"n_neighbors": 5},  # as scikit-learn's classifier
    "neighborhood_hit": {"n_neighbors": 5},
    "density_correlation": {"n_neighbors": 15},
    "neighborhood_curve": {"max_rank": None},
    "report": {"labels": None, "graph": None, "max_rank": None, "kruskal": True},
    "measured_distortion": {"n_pairs": 100_000, "confidence": 0.99},
    "repeated_maps": {"runs": 5, "share": 1.0},
    "residual_variance": {"metric": "precomputed"},
    "shepard": {"bins": 128},
    "stability": {"rows": None},
    "cca": {"added_variance": 0.0, "scale": True},  # as scikit-learn's
    "diffusion_maps": {"alpha": 1.0, "diffusion_time": 1.0},
    "eigenmaps": {"constraint": "degree"},
    "famd": {"indicators": None},
    "fisher_discriminant": {"n_components": None, "shrinkage": None},
    "isomap": {"dtype": None},
    "kernel_pca": {"kernel": "linear", "gamma": None, "degree": 3, "coef0": 1},  # scikit-learn's
    "modified_lle": {"modified_tol": 1e-12},
    "lpp": {"centred": True},
    "mvu": {"constraints": "at_most", "angles": False},
    "neighbor_map": {"spread": 0.1, "weights": "adaptive"},
    "pca": {"standardize": False, "matrix": "auto", "precision": None},
    "random_projection": {
        "n_components": "auto", "kind": "gaussian", "density": None, "random_state": None,
    },
    "tsne": {"perplexity": 30.0, "attraction": 1.0},
}  # fmt: skip


@pytest.mark.parametrize("room", [quality, methods], ids=["quality", "methods"])
def test_one_word_has_one_default(room):
    for name in room.__all__:
        thing = getattr(room, name)
        if not inspect.isfunction(thing):
            continue
        for word, parameter in inspect.signature(thing).parameters.items():
            if parameter.default is not inspect.Parameter.empty:
                wanted = (SHARED | OWN.get(name, {}))[word]
                given = parameter.default
                assert (given, type(given)) == (wanted, type(wanted)), (name, word)


def test_measures_have_a_best_and_a_worst_value():
    for name, (best, worst, words) in MEASURE_MEANINGS.items():
        assert words
        error = name.startswith(("rank_error", "local_distortion")) or "stress" in name
        assert best == (0 if error or "variance" in name else 1), name
        signed = name in ("density_correlation", "distance_correlation", "silhouette")
        assert worst == (-1 if signed else 1 - best), name


def test_what_a_least_point_holds_is_named():
    kinds = {one.kind for one in inspect.signature(LeastPoint).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}
