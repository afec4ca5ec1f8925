"""Linear maps drawn at random, blind to the data.

All are scaled so that the expected squared length of an image is the squared length
of its point.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.errors import Argument, InvalidInput
from dualfold.inputs import random_generator
from dualfold.methods.maps.linear_map import LinearMap

Kind = Literal["gaussian", "orthogonal", "sparse"]
Seed = int | np.random.Generator | None


def gaussian_map(n_features: int, n_components: int, *, random_state: Seed = None) -> LinearMap:
    """Independent N(0, 1/k) entries, k = n_components."""
    _refuse_sizes(n_features, n_components)
    rng = random_generator(random_state)
    entries = rng.standard_normal((n_components, n_features)) / np.sqrt(n_components)
    return LinearMap(np.zeros(n_features), entries)


def orthogonal_map(n_features: int, n_components: int, *, random_state: Seed = None) -> LinearMap:
    """k orthonormal directions, uniformly drawn, times √(D/k); needs k ≤ D.

    The Q of a Gaussian matrix; the signs of R's diagonal are irrelevant here, since a
    Gaussian matrix and its row-wise negatives are equally likely.
    """
    _refuse_sizes(n_features, n_components)
    if n_components > n_features:
        raise InvalidInput(
            f"{n_components} orthonormal directions were asked for among {n_features} "
            "features; lower ",
            Argument("n_components"),
            " or draw a Gaussian map",
        )
    rng = random_generator(random_state)
    directions, _ = np.linalg.qr(rng.standard_normal((n_features, n_components)))
    stretch = np.sqrt(n_features / n_components)
    return LinearMap(np.zeros(n_features), np.ascontiguousarray(directions.T) * stretch)


def sparse_map(
    n_features: int,
    n_components: int,
    *,
    density: float | None = None,
    random_state: Seed = None,
) -> LinearMap:
    """Entries ±1/√(density·k), each with chance density/2, else 0; a sparse matrix.

    n_features, n_components : D and k; random_state : what the entries are drawn by

    The default density 1/√D is Li's; 1/3 is Achlioptas's. The fewer entries, the
    faster, and the more a few heavy features can upset the distances.

    Achlioptas, "Database-friendly random projections" (2003); Li, Hastie and Church,
    "Very sparse random projections" (2006).
    """
    _refuse_sizes(n_features, n_components)
    share = 1 / np.sqrt(n_features) if density is None else density
    if not 0 < share <= 1:
        raise InvalidInput(
            Argument("density"), f" is {density}; it is a share above 0 and at most 1"
        )
    rng = random_generator(random_state)
    counts = rng.binomial(n_features, share, n_components)
    columns = [np.sort(rng.choice(n_features, count, replace=False)) for count in counts]
    signs: Any = rng.choice([-1.0, 1.0], int(counts.sum()))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    entries = sp.csr_array(
        (signs / np.sqrt(share * n_components), np.concatenate(columns), indptr),
        shape=(n_components, n_features),
    )
    return LinearMap(np.zeros(n_features), entries)


def random_map(
    n_features: int,
    n_components: int,
    *,
    kind: Kind = "gaussian",
    density: float | None = None,
    random_state: Seed = None,
) -> LinearMap:
    """Draw a linear map at random, without looking at data.

    The expected squared length of an image is the squared length of its row.

    Parameters
    ----------
    n_features : int
        Number of columns.
    n_components : int
        Number of coordinates k.
    kind : {"gaussian", "orthogonal", "sparse"}, default="gaussian"
        "gaussian": independent entries with variance 1/k; "orthogonal": orthonormal directions
        times √(D/k); "sparse": entries ±1/√(density·k), mostly 0.
    density : float or None, default=None
        Share of entries of a sparse map that are not 0; None is 1/√D for D columns.
    random_state : int, Generator or None, default=None
        Seed of the entries.

    Returns
    -------
    LinearMap
        The map, with mean 0.

    Raises
    ------
    InvalidInput
        If a size or the density is out of its range.

    See Also
    --------
    dualfold.RandomProjection : The estimator.

    References
    ----------
    .. [1] D. Achlioptas, "Database-friendly random projections: Johnson–Lindenstrauss with binary
       coins", Journal of Computer and System Sciences, 66(4), 671–687, 2003.
    .. [2] P. Li, T. J. Hastie and K. W. Church, "Very sparse random projections", Proceedings of
       the 12th ACM SIGKDD International Conference, 287–296, 2006.

    Examples
    --------
    >>> from dualfold.methods.maps import random_map
    >>> random_map(100, 5, random_state=0).components.shape
    (5, 100)
    """
    if kind == "sparse":
        return sparse_map(n_features, n_components, density=density, random_state=random_state)
    if density is not None:
        raise InvalidInput(
            Argument("density"), f" is {density}, but {kind!r} maps have none; leave it out"
        )
    draw = {"gaussian": gaussian_map, "orthogonal": orthogonal_map}.get(kind)
    if draw is None:
        known = "'gaussian', 'orthogonal' or 'sparse'"
        raise InvalidInput(Argument("kind"), f" is {kind!r}; it is {known}")
    return draw(n_features, n_components, random_state=random_state)


def _refuse_sizes(n_features: int, n_components: int) -> None:
    whole = all(isinstance(size, int | np.integer) for size in (n_features, n_components))
    if not whole or n_features < 1 or n_components < 1:
        raise InvalidInput(
            f"a map from {n_features!r} features to {n_components!r} components was asked for; "
            "both must be whole numbers, 1 or more"
        )
