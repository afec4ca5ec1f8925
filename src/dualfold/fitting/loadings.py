"""Principal axes in terms of the features: loadings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array

if TYPE_CHECKING:
    import pandas as pd


class Loadings:
    """What each feature has to do with each axis."""

    components_: Array
    explained_variance_: Array

    @property
    def loadings_(self) -> Array:
        """A row a feature: its covariance with each axis, once that has variance 1.

        components_.T·√explained_variance_; of features of variance 1 it is their correlation.
        """
        check_is_fitted(self)
        return np.asarray(self.components_.T * np.sqrt(self.explained_variance_))

    def loadings_frame(self) -> pd.DataFrame:
        """The loadings as a table: a row a feature by its name, a column an axis."""
        import pandas as pd

        loadings, me = self.loadings_, _any(self)
        names = getattr(me, "feature_names_in_", None)
        if names is None:
            names = [f"column_{place + 1}" for place in range(len(loadings))]
        return pd.DataFrame(loadings, index=list(names), columns=me.get_feature_names_out())


def _any(estimator: Any) -> Any:
    """The estimator that this is mixed into."""
    return estimator
