"""n_components="auto": how many coordinates the spectrum asks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.embedding import Embedding

# The eigengap is looked for among this many first eigenvalues.
MAX_AUTO_COMPONENTS = 10


@dataclass(frozen=True)
class CountChoice:
    """The number of coordinates and the reason for it, in words."""

    count: int
    reason: str


def widest_gap(values: Array) -> CountChoice:
    """Cut where consecutive eigenvalues differ most (relative to the larger one).

    Of eigenvalues λ₁ … λ_m in the order of the embedding, keeps the k < m before the
    widest step |λ_{k+1} − λ_k|/max(|λ_k|, |λ_{k+1}|).
    """
    values = np.abs(np.asarray(values, dtype=float))
    larger = np.maximum(np.maximum(values[1:], values[:-1]), np.finfo(float).tiny)
    steps = np.abs(np.diff(values)) / larger
    count = int(np.argmax(steps)) + 1
    return CountChoice(
        count,
        f"{count} coordinates: the widest eigengap among the first {len(values)} eigenvalues "
        f"({values[count - 1]:.3g} to {values[count]:.3g})",
    )


def cut_at_eigengap(
    embedding: Embedding, n_components: int | str, tolerance: float = DEFAULT_TOLERANCE
) -> tuple[Embedding, str | None]:
    """The embedding up to its widest eigengap, with the reason, for "auto"; else as it is.

    An embedding to be cut has some more directions than will be kept.
    """
    if n_components != "auto" or len(embedding.values) < 2:
        return embedding, None
    choice = widest_gap(embedding.spectrum)
    return embedding.with_leading(choice.count, tolerance), choice.reason


def variance_share(spectrum: Array, share: float) -> CountChoice:
    """The fewest leading directions whose variances add up to more than `share` of all."""
    total = float(spectrum.sum())
    if total <= 0:
        return CountChoice(1, "1 component: the data does not vary")
    reached = np.cumsum(spectrum / total)
    # "More than": the share that k components reach exactly (to rounding) asks for k + 1,
    # as in scikit-learn.
    enough = share * (1 + 8 * np.finfo(float).eps)
    count = min(int(np.searchsorted(reached, enough, side="right")) + 1, len(spectrum))
    held = f"{count} components hold {reached[count - 1]:.1%} of the variance"
    return CountChoice(count, f"{held} (more than {share:.1%} was asked for)")


def minka_dimension(spectrum: Array, n_samples: float) -> CountChoice:
    """The number of directions that explains the variances best, the rest being noise.

    Maximises Minka's approximation to the evidence of a probabilistic PCA with k
    components over k = 1 … D − 1, from the D variances in falling order.

    Minka, "Automatic choice of dimensionality for PCA" (2000), equation (30).
    """
    evidence = [_evidence(spectrum, k, n_samples) for k in range(1, len(spectrum))]
    count = int(np.argmax(evidence)) + 1 if evidence else 1
    return CountChoice(count, f"{count} components: the most likely number (Minka)")


def _evidence(spectrum: Array, k: int, n: float) -> float:
    width = len(spectrum)
    # Variances that are rounding have no logarithm worth taking.
    faint = 8 * np.finfo(float).eps * float(spectrum[0])
    if spectrum[k - 1] <= faint:
        return -np.inf
    noise = max(float(spectrum[k:].mean()), faint)
    free = (width - np.arange(k)) / 2
    prior = -k * np.log(2) + float(np.sum(gammaln(free) - np.log(np.pi) * free))
    fit = -n / 2 * (float(np.log(spectrum[:k]).sum()) + (width - k) * np.log(noise))
    parameters = width * k - k * (k + 1) / 2
    smoothed = np.concatenate([spectrum[:k], np.full(width - k, noise)])
    first, second = np.triu_indices(k, 1, width)
    gaps = (spectrum[first] - spectrum[second]) * (1 / smoothed[second] - 1 / smoothed[first])
    # Equal variances have no curvature between them; the smallest number stands for 0.
    curvature = float(np.log(np.maximum(gaps, np.finfo(float).tiny)).sum())
    curvature += len(first) * np.log(n)
    volume = np.log(2 * np.pi) * (parameters + k) / 2 - k * np.log(n) / 2
    return prior + fit + volume - curvature / 2
