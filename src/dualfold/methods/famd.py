"""Factor analysis of mixed data."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.methods.pca import centred_problem
from dualfold.trace.problem import TraceProblem
from dualfold.weights.row_passes import column_deviations, column_means, table


def famd(X: Any, *, n_components: int = 2, indicators: Array | None = None) -> TraceProblem:
    """The directions along which numbers and categories vary most together.

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = ZᵀHZ/n

    Z has each column of numbers divided by its standard deviation, and for each level of a
    category a column of 0 and 1 divided by √p, with p the share of the rows that have it.
    `indicators` says which columns of X are of this kind (None: none; `dualfold.data.prepare`
    and the estimator `FAMD` make them). With numbers alone this is PCA of the standardised
    columns, with K categories alone multiple correspondence analysis (MCA): its eigenvalues are
    those of A over K, its coordinates those here over √K. Preserves what columns of both
    kinds have in common; a column of numbers weighs 1, a category its levels less one. Fails
    where rare levels (p below 1 %) are many: each is far from everything, 1/√p.

    Escofier, "Traitement simultané de variables qualitatives et quantitatives en analyse
    factorielle" (1979); Pagès, "Analyse factorielle de données mixtes" (2004).
    """
    data = table(X)
    mean = column_means(data)
    scale = column_deviations(data, mean)
    if indicators is not None:
        scale = np.where(indicators, np.sqrt(np.maximum(mean, 0.0)), scale)
        scale = np.where(scale > 0, scale, 1.0)
    return centred_problem(data, n_components, data.shape[0], scale=scale)
