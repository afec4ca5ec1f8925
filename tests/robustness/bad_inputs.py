"""The same bad inputs for dualfold and for others: a right answer, a clear error, or a failure.

`python -m tests.robustness.bad_inputs SIDE` tries one side and prints JSON, a line for each try,
so that a crash costs the rest of that side and is counted. `reliability.py` runs all sides.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

# What is asked: a map of finite numbers with a row for each row ("map"), the same map as of the
# plain rows up to units ("same"), or an error ("error"), since no map means anything.
RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(60, 4))


def _far_column() -> Any:
    matrix = sp.csr_matrix(np.where(np.abs(CLOUD) > 0.3, CLOUD, 0))
    matrix.indices[3] = 2**28
    return matrix


def _cut_rows() -> Any:
    matrix = sp.csr_matrix(np.where(np.abs(CLOUD) > 0.3, CLOUD, 0))
    matrix.indptr[5:] = 2**28
    return matrix


INPUTS: dict[str, tuple[Callable[[], Any], str]] = {
    "plain": (lambda: CLOUD, "map"),
    "times 1e150": (lambda: np.ldexp(CLOUD, 500), "same"),
    "times 1e-150": (lambda: np.ldexp(CLOUD, -500), "same"),
    "far from 0": (lambda: CLOUD + 1e6, "map"),
    "duplicates": (lambda: np.repeat(CLOUD[:6], 10, axis=0), "map"),
    "one row, 60 times": (lambda: np.ones((60, 4)), "map or error"),
    "a constant column": (lambda: np.column_stack([CLOUD, np.full(60, 7.0)]), "map"),
    "an outlier at 1e9": (lambda: np.vstack([CLOUD, np.full((1, 4), 1e9)]), "map"),
    "two clouds far apart": (lambda: np.vstack([CLOUD[:30], CLOUD[30:] + 1e4]), "map"),
    "three rows": (lambda: CLOUD[:3], "map or error"),
    "NaN": (lambda: np.where(CLOUD > 2, np.nan, CLOUD), "error"),
    "infinity": (lambda: np.where(CLOUD > 2, np.inf, CLOUD), "error"),
    "text": (lambda: np.full((60, 4), "a", dtype=object), "error"),
    "complex": (lambda: CLOUD * 1j, "error"),
    "no rows": (lambda: CLOUD[:0], "error"),
    "a flat list": (lambda: CLOUD[:, 0], "error"),
    "sparse, a column outside": (_far_column, "error"),
    "sparse, rows outside": (_cut_rows, "error"),
}
# These end the process where they are not checked; last, so that the others are counted.
DANGEROUS = ("sparse, a column outside", "sparse, rows outside")


def sides() -> dict[str, dict[str, Callable[[], Any]]]:
    """The estimators of each side, made when asked for."""
    return {"dualfold": _ours(), "scikit-learn": _sklearn(), "UMAP": _umap(), "openTSNE": _tsne()}


def _ours() -> dict[str, Callable[[], Any]]:
    import dualfold as d

    return {
        "PCA": lambda: d.PCA(2),
        "ClassicalMDS": lambda: d.ClassicalMDS(2),
        "Isomap": lambda: d.Isomap(n_neighbors=5),
        "LaplacianEigenmaps": lambda: d.LaplacianEigenmaps(n_neighbors=5),
        "LocallyLinearEmbedding": lambda: d.LocallyLinearEmbedding(n_neighbors=5),
        "OrthogonalLPP": lambda: d.OrthogonalLPP(n_neighbors=5),
    }


def _sklearn() -> dict[str, Callable[[], Any]]:
    from sklearn import decomposition, manifold

    return {
        "PCA": lambda: decomposition.PCA(2),
        "MDS": lambda: manifold.MDS(2, n_init=1, random_state=0),
        "Isomap": lambda: manifold.Isomap(n_neighbors=5),
        "SpectralEmbedding": lambda: manifold.SpectralEmbedding(
            affinity="nearest_neighbors", n_neighbors=5, random_state=0
        ),
        "LocallyLinearEmbedding": lambda: manifold.LocallyLinearEmbedding(
            n_neighbors=5, random_state=0
        ),
    }


def _umap() -> dict[str, Callable[[], Any]]:
    def made() -> Any:
        import umap

        return umap.UMAP(n_neighbors=5, random_state=0, n_epochs=50)

    return {"UMAP": made}


def _tsne() -> dict[str, Callable[[], Any]]:
    class Fitted:
        def fit_transform(self, X: Any) -> Any:
            from openTSNE import TSNE

            made = TSNE(perplexity=10, n_iter=100, early_exaggeration_iter=50, random_state=0)
            return np.asarray(made.fit(X))

    return {"t-SNE": Fitted}


def judged(make: Callable[[], Any], X: Any, wanted: str, plain: Any) -> tuple[str, str]:
    """("right" | "clear error" | "failure", what was seen)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = np.asarray(make().fit_transform(X))
    except (ValueError, TypeError) as error:
        said = f"{type(error).__name__}: {error}"
        if type(error).__module__.startswith(("numpy", "scipy")):  # LinAlgError, ArpackError
            return "failure", said
        if wanted in ("map", "same"):
            return "refused", said
        return "clear error", said
    except Exception as error:
        return "failure", f"{type(error).__name__}: {error}"
    if wanted == "error":
        return "failure", "a map of what has none"
    if found.ndim != 2 or len(found) != X.shape[0] or not np.isfinite(found).all():
        return "failure", f"a map of shape {found.shape} with NaN or infinite numbers"
    if wanted == "same" and not _same_up_to_units(found, plain):
        return "failure", "another map than that of the plain rows"
    return "right", ""


def _same_up_to_units(found: Any, plain: Any) -> bool:
    """To 1e-3, up to a factor and the signs of columns."""
    if plain is None:
        return True
    a, b = (np.asarray(points, dtype=float) for points in (found, plain))
    largest = np.abs(a).max(axis=0)
    if not (largest > 0).all():
        return False
    a, b = a / largest, b / np.abs(b).max(axis=0)
    return bool(np.abs(np.abs(a) - np.abs(b)).max() < 1e-3)


def tries(side: str) -> Iterator[dict[str, str]]:
    """Every estimator of a side on every input."""
    estimators = sides()[side]
    ordered = [name for name in INPUTS if name not in DANGEROUS] + list(DANGEROUS)
    plain: dict[str, Any] = {}
    for name in ordered:
        make_input, wanted = INPUTS[name]
        for method, make in estimators.items():
            if name == "plain":
                plain[method] = _or_none(make, make_input())
            outcome, said = judged(make, make_input(), wanted, plain.get(method))
            yield {"input": name, "method": method, "outcome": outcome, "said": said[:200]}


def _or_none(make: Callable[[], Any], X: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(make().fit_transform(X))
    except Exception:
        return None


def count(side: str) -> int:
    """How many tries a side has."""
    return len(INPUTS) * len(sides()[side])


if __name__ == "__main__":
    for one in tries(sys.argv[1]):
        print(json.dumps(one), flush=True)
