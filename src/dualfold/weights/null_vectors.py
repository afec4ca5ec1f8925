"""The null vectors of I − W that the lists alone force."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, PointsCollapse, warn
from dualfold.graph.directed_lists import terminal_components
from dualfold.graph.graph import Lists


def reconstruction_null_vectors(weights: sp.csr_array, lists: Lists) -> Array:
    """One column h for each terminal component of the lists: W h = h.

    h is 1 on its component, 0 on the other terminal ones, and elsewhere the solution of
    (I − W_QQ) h_Q = W_QT·1 (were the weights probabilities, the chance to end in T). The
    columns add up to 1, the constant. Warns when there is more than one.
    """
    group = terminal_components(lists)
    count = int(group.max()) + 1
    if count == 1:
        return np.ones((len(group), 1))
    _warn_of_closed_groups(np.bincount(group[group >= 0]), len(group))
    vectors = (group[:, None] == np.arange(count)).astype(float)
    passing = np.flatnonzero(group < 0)
    if len(passing):
        rows = weights[passing]
        inner = sp.csc_array(sp.eye_array(len(passing)) - rows[:, passing])
        try:
            vectors[passing] = splu(inner).solve(rows @ vectors)
        except RuntimeError as singular:
            raise InvalidInput(
                "the weights of the points between closed groups of neighbours do not "
                "determine where they lie; raise the ",
                Argument("ridge"),
                " or ",
                Argument("n_neighbors"),
            ) from singular
    return vectors


def _warn_of_closed_groups(sizes: Array, n: int) -> None:
    shown = ", ".join(str(size) for size in sizes[1:4]) + (", …" if len(sizes) > 4 else "")
    warn(
        PointsCollapse(
            f"{len(sizes) - 1} group(s) of points ({shown} of {n}) have neighbours only among "
            "themselves, so local weights do not tie them to the rest: each such group comes "
            "out as about one spot. Raise ",
            Argument("n_neighbors"),
            " to tie them in",
        )
    )
