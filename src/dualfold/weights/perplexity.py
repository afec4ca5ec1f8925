"""Affinities of one perplexity: how strongly each row is attracted by its listed neighbours.

    p_j|i = exp(−β_i d_ij²)/Σ_k exp(−β_i d_ik²),   β_i such that exp(entropy) is the perplexity,
    P = (p_j|i + p_i|j)/2n

as in t-SNE (van der Maaten and Hinton 2008), over the listed neighbours alone.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.graph import Lists
from dualfold.kernels import kernel
from dualfold.kernels.threads import in_threads, row_slices, thread_count

_perplexity_rows = kernel("perplexity_rows")
ROWS_PER_CHUNK = 2048


def conditional_affinities(
    lists: Lists, perplexity: float | None, n_jobs: int | None = None
) -> tuple[Array, Array]:
    """p_j|i for the entries of `lists`, and 1/√(2β_i), the width of each row's kernel.

    perplexity : 1 or more; None gives every listed neighbour the same; rows that list fewer than
        it get that, too
    n_jobs : threads (None: all cores); the numbers do not depend on them

    >>> import numpy as np
    >>> two = Lists(np.array([0, 2]), np.array([1, 2]), np.array([1.0, 2.0]))
    >>> conditional_affinities(two, None)[0]
    array([0.5, 0.5])
    """
    counts = np.diff(lists.indptr)
    if perplexity is None:
        return np.repeat(1.0 / np.maximum(counts, 1), counts), np.full(len(lists), np.inf)
    if not perplexity >= 1:
        raise InvalidInput(
            Argument("perplexity", perplexity),
            " is below 1, and no row is drawn to less than one neighbour; 5 to 50 is usual",
        )
    start = np.ascontiguousarray(lists.indptr, dtype=np.int64)
    largest = float(lists.distances.max(initial=0.0))
    if not np.isfinite(largest):
        raise InvalidInput("some distances between neighbours are not finite; look at the rows")
    # In units of the largest, a power of 2, nothing overflows. Rounded to single precision as
    # in scikit-learn: the last digits of distances depend on the way they were computed, and a
    # descent would carry such a difference into another map.
    unit = 2.0 ** np.ceil(np.log2(largest)) if largest > 0 else 1.0
    squares = np.square(lists.distances / unit).astype(np.float32).astype(float)
    # An entropy does not change when a constant is taken off, and nothing underflows then.
    nonempty = np.flatnonzero(counts)
    least = np.zeros(len(lists))
    least[nonempty] = np.minimum.reduceat(squares, start[:-1][nonempty]) if len(nonempty) else 0
    squares -= np.repeat(least, counts)
    affinities, beta = np.empty(len(squares)), np.empty(len(lists))

    def work(part: slice) -> None:
        _perplexity_rows(
            part.start, part.stop, start, np.log(perplexity), squares, affinities, beta
        )

    in_threads(work, row_slices(len(lists), ROWS_PER_CHUNK), thread_count(n_jobs))
    return affinities, unit / np.sqrt(2 * beta)


def joint_affinities(lists: Lists, conditional: Array) -> sp.csr_array:
    """P = (p_j|i + p_i|j)/Σ, symmetric, of sum 1, without a diagonal."""
    n = len(lists)
    if 2 * len(conditional) >= 2**31:
        raise InvalidInput(
            f"{len(conditional)} listed neighbours are more than this program's sparse matrices "
            "hold; list fewer for each row"
        )
    one_way = sp.csr_array(
        (conditional, lists.indices.astype(np.int32), lists.indptr.astype(np.int32)), shape=(n, n)
    )
    one_way.sort_indices()
    both = sp.csr_array(one_way + one_way.T.tocsr())
    both.sort_indices()
    total = float(both.data.sum())
    if not total > 0:
        raise InvalidInput("no row has a neighbour, so that nothing attracts; list some")
    both.data /= total
    return both
