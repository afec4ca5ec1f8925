"""Theory beside the floors: games, programs, and PCA by descent.

Nothing else of the package imports it, but for the estimator `PointPCA`.
"""

from __future__ import annotations

from dualfold.lazy_names import lazy_names

__all__ = ["games", "point_pca", "programs"]
__getattr__, __dir__ = lazy_names(__name__, {}, rooms=("games", "point_pca", "programs"))
