"""How much work was done, counted where it is done and read by whoever asks.

    with tallied() as work:
        Isomap().fit(X)
    work["geodesic visits"], work["seconds: certify"]

Counts (products, multiply-adds, visits) are the same on a busy machine and a quiet one;
`tests/workflows/test_counts.py` watches them, the benchmarks read the seconds of the stages. One
count is reported per call of a kernel, never per item, so nobody pays for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from dualfold.kernels.locks import ForkedLock

__all__ = ["tallied", "tally", "timed"]

_listening: list[Counter[str]] = []
_lock = ForkedLock()


def tally(what: str, amount: float) -> None:
    """Add to the count of `what` for everybody who listens, from any thread."""
    if _listening:
        with _lock:
            for counts in _listening:
                counts[what] += amount  # type: ignore[assignment]


@contextmanager
def timed(stage: str) -> Iterator[None]:
    """Count the seconds spent inside as "seconds: stage"."""
    begin = perf_counter()
    try:
        yield
    finally:
        tally(f"seconds: {stage}", perf_counter() - begin)


@contextmanager
def tallied() -> Iterator[Counter[str]]:
    """All counts made inside the `with` block, also by other threads."""
    counts: Counter[str] = Counter()
    with _lock:
        _listening.append(counts)
    try:
        yield counts
    finally:
        with _lock:
            # By identity: two listeners may have got the same reports.
            _listening[:] = [other for other in _listening if other is not counts]
