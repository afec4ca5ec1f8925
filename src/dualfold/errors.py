"""Every exception and warning of dualfold.

Each message says what was needed, what was given and what to do about it.
"""

from __future__ import annotations


class DualfoldError(Exception):
    """The root of all errors that dualfold raises itself."""


class InvalidInput(DualfoldError, ValueError):
    """The data or a parameter cannot be used as given."""


class MissingDependency(DualfoldError, ImportError):
    """An optional package is needed; the message holds the pip command."""


class DataUnavailable(DualfoldError, OSError):
    """A data set is not on this machine and could not be fetched."""


class DisconnectedGraph(DualfoldError, ValueError, RuntimeError):
    """The neighbour graph is in several pieces where one is needed."""


class NotConverged(DualfoldError, RuntimeError):
    """A solver stopped before its tolerance; no answer is better than noise."""


class TooLarge(DualfoldError, MemoryError):
    """The chosen road needs more memory or work than was allowed."""


class Unrealisable(InvalidInput):
    """Distances that no points have, in any number of dimensions."""


class PiecesJoined(UserWarning):
    """A graph in several pieces was joined by its shortest missing links."""


class CertificateFailed(UserWarning):
    """An answer was returned that its own certificate does not accept."""


class PointsCollapse(UserWarning):
    """Some points will be drawn as one spot; the message says which and why."""


class ConditionFails(UserWarning):
    """A method runs, but what its guarantee needs does not hold; the message says what."""
