"""Which method answers which question about a table: order, neighbours, groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dualfold.errors import Argument, InvalidInput
from dualfold.quality.map_layout import LAYOUT_WORDS, SHOWN_GRADES

if TYPE_CHECKING:
    from dualfold.judging.recommendation.trial import Candidate

# The first is asked by default: for overall order principal components are hard to beat, and groups
# follow where neighbours are kept; which method keeps neighbours is what must be measured.
QUESTIONS = ("neighbours", "order", "groups")
QUESTION_WORDS = {
    "neighbours": "who is near whom",
    "order": "overall order",
    "groups": "groups of the data",
}
# Maps whose order differs less are equal, and the simpler one is taken.
ORDER_TOLERANCE = 0.05


def refuse_unknown_question(question: str) -> None:
    """Raise for what is none of the three questions."""
    if question not in QUESTIONS:
        raise InvalidInput(
            Argument("question", question), f" must be one of {', '.join(QUESTIONS)}"
        )


def best_for_order(candidates: Sequence[Candidate]) -> Candidate | None:
    """The simplest of those that show most overall order; None where none shows it."""
    able = [one for one in candidates if one.shown.order_grade in SHOWN_GRADES]
    if not able:
        return None
    best = min(LAYOUT_WORDS.index(one.shown.order_grade) for one in able)
    able = [one for one in able if LAYOUT_WORDS.index(one.shown.order_grade) == best]
    most = max(one.shown.order_strength for one in able)
    return next(one for one in able if one.shown.order_strength >= most - ORDER_TOLERANCE)


def best_for_groups(candidates: Sequence[Candidate]) -> Candidate | None:
    """Candidate that shows most groups of the data, then fewest others, then the simplest."""
    able = [one for one in candidates if one.shown.shows_groups]
    most = max((one.shown.group_counts[0] for one in able), default=0)
    best = [one for one in able if one.shown.group_counts[0] == most]
    return min(best, key=lambda one: one.shown.group_counts[1], default=None)
