"""Our exact and approximate neighbours where scanpy asks for a transformer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin

from dualfold.errors import Argument, InvalidInput
from dualfold.graph import nearest

if TYPE_CHECKING:
    from anndata import AnnData


@dataclass(eq=False, repr=False)
class KnnTransformer(TransformerMixin, BaseEstimator):
    """Neighbour distances as a sparse matrix, for `scanpy.pp.neighbors(transformer=…)`.

    Parameters
    ----------
    n_neighbors : int, default=15
        Number of neighbours of each row, which itself counts as one, as in scanpy: 14 others are
        found. It goes before the `n_neighbors` of `scanpy.pp.neighbors`, which is not read.
    metric : str or callable, default="euclidean"
        Distance between rows, by its name in scikit-learn.
    search : {"auto", "kd-tree", "blocked", "filtered", "approximate"}, default="auto"
        Algorithm, as in `dualfold.graph.nearest`: all but "approximate" are exact.
    random_state : int or None, default=0
        Seed of the approximate search.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores.

    Attributes
    ----------
    search_ : Search
        How the neighbours were found; `search_.sentence()` says it in words.

    See Also
    --------
    record_search : Writes what is known of the search to `uns`.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.anndata import KnnTransformer
    >>> KnnTransformer(2).fit_transform(np.array([[0.0], [1.0], [3.0]])).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    n_neighbors: int = 15
    _: KW_ONLY
    metric: str | Callable[..., float] = "euclidean"
    search: str = "auto"
    random_state: int | None = 0
    n_jobs: int | None = None

    def fit(self, X: Any, y: None = None) -> KnnTransformer:
        """Find the neighbours of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of numbers.
        y : None, default=None
            Ignored.

        Returns
        -------
        KnnTransformer
            The fitted transformer.
        """
        if self.n_neighbors < 2:
            raise InvalidInput(
                Argument("n_neighbors", self.n_neighbors),
                " counts the row itself, as scanpy does, and leaves no other; give at least 2",
            )
        found = nearest(
            X,
            # scanpy puts each row before its neighbours, and keeps n_neighbors of both.
            self.n_neighbors - 1,
            metric=self.metric,
            search=self.search,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        n, k = found.indices.shape
        # Without the row itself, as scanpy stores its own distances.
        indptr = np.arange(0, n * k + 1, k)
        self._distances = sp.csr_matrix(
            (found.distances.ravel(), found.indices.ravel(), indptr), shape=(n, n)
        )
        self.search_ = found.search
        return self

    def transform(self, X: Any) -> sp.csr_matrix:
        """Return the distances of the fitted rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The fitted rows.

        Returns
        -------
        csr_matrix of shape (n_samples, n_samples)
            Distances to the neighbours; duplicates are stored zeros.
        """
        if X.shape[0] != self._distances.shape[0]:
            raise InvalidInput(
                Argument("X"),
                f" has {X.shape[0]} rows and {self._distances.shape[0]} were fitted; give these",
            )
        return self._distances


def record_search(
    adata: AnnData, transformer: KnnTransformer, *, neighbors_key: str = "neighbors"
) -> None:
    """Write to `uns[neighbors_key]["search"]` how exact the neighbours are.

    Parameters
    ----------
    adata : AnnData
        Cells whose neighbours scanpy has computed with this transformer.
    transformer : KnnTransformer
        The transformer that was given to `scanpy.pp.neighbors`.
    neighbors_key : str, default="neighbors"
        Where scanpy stored the neighbours.

    See Also
    --------
    KnnTransformer : The transformer.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from dualfold.anndata import KnnTransformer, record_search
    >>> cells = SimpleNamespace(uns={"neighbors": {}})
    >>> record_search(cells, KnnTransformer(2).fit(np.array([[0.0], [1.0], [3.0]])))
    >>> cells.uns["neighbors"]["search"]["exact"]
    True
    """
    if not hasattr(transformer, "search_"):
        raise InvalidInput(
            Argument("transformer"), " has searched nothing; give it to scanpy.pp.neighbors first"
        )
    if neighbors_key not in adata.uns:
        raise InvalidInput(
            Argument("neighbors_key", neighbors_key), " is not in uns; run scanpy.pp.neighbors"
        )
    found = transformer.search_
    adata.uns[neighbors_key]["search"] = {
        "method": found.method,
        "exact": bool(found.exact),
        "recall": float(found.recall),
        "sentence": found.sentence(),
    }
