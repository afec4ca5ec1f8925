"""Keep the map, keep it but look somewhere, or fit again: one word, with its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dualfold.certificate import share
from dualfold.models.new_rows import NewRows
from dualfold.trace.staleness import StalenessCertificate, share_below

Word = Literal["keep", "keep but look here", "fit again"]


@dataclass(frozen=True)
class Thresholds:
    """When a map is stale; each is the caller's.

    max_gap : distance from the best map of all rows beyond which to fit again
    max_foreign : share of new rows in groups, pieces and places of their own from which to fit
        again
    max_kept_loss : how much smaller the share of neighbours kept may be for new rows than for old
    level : share of updates by rows of one kind that may raise a false alarm
    """

    max_gap: float = 0.1
    max_foreign: float = 0.2
    max_kept_loss: float = 0.2
    level: float = 0.005


@dataclass(frozen=True)
class MapVerdict:
    """Verdict on a map after rows came; print it.

    Attributes
    ----------
    word : {"keep", "keep but look here", "fit again"}
        The verdict.
    reasons : tuple of str
        Why it is not a better one.
    notes : tuple of str
        What is not known.

    See Also
    --------
    dualfold.UpdatedMap.verdict : Makes it.

    Examples
    --------
    >>> from dualfold import PCA
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(120, random_state=0).points
    >>> model = PCA().fit(X[:100])
    >>> model.extend(X[100:], old=X[:100]).verdict().word
    'keep'
    >>> model.extend(X[100:] + [500, 0, 0], old=X[:100]).verdict().word
    'fit again'
    """

    word: Word
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        words = f"{self.word}: {'; '.join(self.reasons)}" if self.reasons else self.word
        return ". ".join([words, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain lists and strings, as JSON takes them.

        Returns
        -------
        dict
            The attributes.
        """
        return {"word": self.word, "reasons": list(self.reasons), "notes": list(self.notes)}


def verdict_of(
    stale: StalenessCertificate, new: NewRows | None, limits: Thresholds, n_apart: int = 0
) -> MapVerdict:
    """The verdict on a map: how stale it is, and what the rows that came last have changed.

    n_apart : rows that came since the fit, in pieces of the graph without a fitted row
    """
    again, look, notes = [], [], []
    if np.isfinite(stale.at_least) and stale.at_least > limits.max_gap:
        again.append(f"another map of all rows is better by at least {share_below(stale.at_least)}")
    elif stale.level in ("unresolved", "failed"):
        notes.append(f"How stale the map is, is not resolved: {'; '.join(stale.reasons)}")
    elif stale.level == "within" and stale.gap > limits.max_gap:
        look.append(f"the best map of all rows may be better by {share(stale.gap)}")
    if new is not None:
        share_apart = _rows_apart(new, limits)
        if share_apart > limits.max_foreign:
            again.append(f"{share_apart:.0%} of the new rows have no place among the old ones")
        look += new.alarms(limits.level)
        if new.kept_by_new < new.kept_by_old - limits.max_kept_loss:
            look.append(
                f"new rows keep {new.kept_by_new:.0%} of their neighbours, old ones "
                f"{new.kept_by_old:.0%}"
            )
    if n_apart:  # also those of earlier updates: until the next fit they have no place
        look.append(f"{n_apart:,} rows make pieces of the graph without a fitted row")
    word: Word = "fit again" if again else "keep but look here" if look else "keep"
    return MapVerdict(word, (*again, *look), tuple(notes))


def _rows_apart(new: NewRows, limits: Thresholds) -> float:
    """The share of new rows that are foreign or in groups of their own, beyond chance."""
    share = 0.0
    rows = new.foreign
    if rows is not None and rows.chance_of_count <= limits.level / 8:
        share = rows.share
    born = [group for group in new.born if group.chance <= limits.level / 4]
    in_groups = sum(len(group.rows) for group in born) / max(1, new.n_new)
    return max(share, in_groups)
