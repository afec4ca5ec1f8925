"""What `dualfold embed` does with a table, below the command line."""

from dualfold.exploration.exploration import Exploration, explore

__all__ = ["Exploration", "explore"]
