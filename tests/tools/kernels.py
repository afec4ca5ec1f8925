"""Names of the room of kernels that tests of other rooms need: counts of work and orderings."""
# ruff: noqa: F401 (names are handed on)

from __future__ import annotations

from dualfold.kernels.ordering import fill_reducing_ordering
from dualfold.kernels.reports import count_work
