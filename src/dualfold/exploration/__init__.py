"""What `dualfold embed` and `dualfold series` do with tables, below the command line."""

from typing import TYPE_CHECKING, Any

from dualfold.exploration.exploration import Exploration, explore

if TYPE_CHECKING:
    from dualfold.exploration.series import Series, explore_series

__all__ = ["Exploration", "Series", "explore", "explore_series"]


def __getattr__(name: str) -> Any:
    """Series need NumPy, which the command line's help does without."""
    if name in ("Series", "explore_series"):
        from dualfold.exploration import series

        return getattr(series, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
