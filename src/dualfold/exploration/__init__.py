"""What `dualfold embed` and `dualfold series` do with tables, below the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.lazy_names import lazy_names

if TYPE_CHECKING:
    from dualfold.exploration.exploration import Exploration, explore
    from dualfold.exploration.series import Series, explore_series

__all__ = ["Exploration", "Series", "explore", "explore_series"]
# Loaded when first used: series need NumPy, which the command line's help does without.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Exploration": "exploration",
        "Series": "series",
        "explore": "exploration",
        "explore_series": "series",
    },
)
