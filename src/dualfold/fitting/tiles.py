"""Estimators on tables in tiles: one place where `fit` and `transform` turn to `dualfold.scale`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from dualfold.errors import InvalidInput
from dualfold.scale.placing import on_every_tile
from dualfold.scale.table import TiledTable, table


class TakesTiles:
    """`fit`, `transform` and `inverse_transform` of tables that are read tile by tile.

    Subclasses say how they are fitted in `_fit_tiles(rows, y)`. New rows are placed by the
    estimator itself, a tile at a time, so that nothing about them is said twice.
    """

    # What no rule of new rows reads: it does not go to workers.
    _unused_for_new_rows: ClassVar[tuple[str, ...]] = ("_moments", "history_", "callbacks")
    # What to do with tiles that a method does not read.
    _instead: ClassVar[str] = (
        "Fit it on rows that fit into memory; docs/scale.md lists the methods that read tiles"
    )

    def _fit_tiled(self, X: Any, y: Any) -> TiledTable:
        rows = table(X)
        validate_data(self, rows.meta, reset=True, skip_check_array=True)
        self._fit_tiles(rows, y)
        return rows

    def _fit_tiles(self, rows: TiledTable, y: Any) -> None:
        raise InvalidInput(
            f"{type(self).__name__} needs all rows at once, and X is a table in tiles. "
            f"{self._instead}"
        )

    def _for_comparison(self) -> Any:
        """An estimator like this one, whose fit on more rows tells what placing them costs."""
        return clone(self)

    def _second_rule(self, graph: Any, points: Any, landmarks: Any) -> Any:
        """Another rule of new rows, for the rows to decide; None where a method has one alone.

        graph, points : of the landmarks, and their places
        """
        return None

    def _transform_tiles(self, X: Any) -> Any:
        """The places of all rows, as the kind of table that was given."""
        check_is_fitted(self)
        rows = table(X)
        validate_data(self, rows.meta, reset=False, skip_check_array=True)
        names = [str(name) for name in self.get_feature_names_out()]  # type: ignore[attr-defined]
        return on_every_tile(rows, self, "transform", names, rows.dtype)

    def _inverse_tiles(self, X: Any) -> Any:
        """Points of the data space, as the kind of table that was given."""
        check_is_fitted(self)
        rows = table(X)
        wide = int(self.n_features_in_)  # type: ignore[attr-defined]
        names = getattr(self, "feature_names_in_", np.arange(wide).astype(str))
        return on_every_tile(rows, self, "inverse_transform", [str(n) for n in names], rows.dtype)
