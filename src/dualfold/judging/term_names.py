"""Terms that tell the texts of a group from those around it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from dualfold.arrays import Array

__all__ = ["telling_terms"]

MAX_TERMS = 4
# Rows of the group that must have a term: a share and a number.
MIN_TERM_SHARE = 0.05
MIN_TERM_ROWS = 3
# Further terms of a name say at least this share of what the first says.
MIN_SCORE_SHARE = 0.25
# Of all groups and terms together, were the rows of the group drawn at random.
ERROR_LEVEL = 0.01
# Terms of a sum that are left out, beside the sum.
MIN_TAIL_SHARE = 1e-12
MAX_CANDIDATES = 40
# Terms that begin with this many equal letters, most of the shorter one, are forms of one word.
MIN_STEM_LETTERS = 4
MIN_STEM_SHARE = 0.7


def telling_terms(
    present: sp.csr_array,
    terms: Sequence[str],
    inside: Array,
    around: Array,
    overall: Array,
    tests: int = 1,
) -> list[int]:
    """Places of the terms, four at most, that tell the rows `inside` from the others `around`.

    A term that a share p of the rows inside, q of the others and r of all rows have scores
    p·log(p/q)·log(1/r): it is frequent in the group, rare around it, and says something at all.
    Terms that permuted rows have as often (exact test, level 0.01 of all groups and terms together)
    are left out, and forms of a word that is in the name.

    present : 1 where a row has a term; around : rows with those inside
    overall : how many of all rows have each term; tests : groups compared
    """
    own = np.asarray(present[inside].sum(axis=0)).ravel()
    others = np.asarray(present[around].sum(axis=0)).ravel() - own
    size, rest = len(inside), len(around) - len(inside)
    if not rest:
        return []
    p, q = own / size, (others + 0.5) / (rest + 1)
    pooled = (own + others + 0.5) / (size + rest + 1)
    spread = np.sqrt(pooled * (1 - pooled).clip(0) * (1 / size + 1 / rest))
    level = ERROR_LEVEL / (max(1, tests) * max(1, len(terms)))
    clear = (p - q > NormalDist().inv_cdf(1 - level / 2) * spread) & (
        own >= max(MIN_TERM_ROWS, MIN_TERM_SHARE * size)
    )
    places = np.flatnonzero(clear)
    # The normal distribution takes rare terms for clear ones: three of ten rows by chance.
    chances = _chances_of_as_many(own[places], (own + others)[places], size, size + rest)
    places = places[chances <= level]
    rarity = -np.log((overall[places] + 0.5) / (present.shape[0] + 1))
    scores = p[places] * np.log(p[places] / q[places]) * rarity
    order = np.argsort(-scores, kind="stable")[:MAX_CANDIDATES]
    best = float(scores.max(initial=0.0))
    chosen: list[int] = []
    for place, score in zip(places[order].tolist(), scores[order].tolist(), strict=True):
        if len(chosen) == MAX_TERMS or (len(chosen) >= 2 and score < MIN_SCORE_SHARE * best):
            break
        if not any(_is_same_word(terms[place], terms[other]) for other in chosen):
            chosen.append(place)
    return chosen


def _chances_of_as_many(own: Array, known: Array, size: int, total: int) -> Array:
    """Chances that `size` rows drawn of `total` have `own` or more of the `known` rows with a term.

    Tails of the hypergeometric distribution, as sums of its terms from `own` on; these fall where
    `own` is more than is expected, as it is here.

    >>> _chances_of_as_many(np.array([2]), np.array([2]), 2, 4).round(6).tolist()
    [0.166667]
    """

    def ways(drawn: Any, of: Any) -> Any:
        return gammaln(of + 1) - gammaln(drawn + 1) - gammaln(of - drawn + 1)

    own, known = np.asarray(own, dtype=float), np.asarray(known, dtype=float)
    first = ways(own, known) + ways(size - own, total - known) - ways(size, total)
    term, tail, at = np.ones_like(own), np.ones_like(own), own.copy()
    while (term > MIN_TAIL_SHARE * tail).any():
        left = np.maximum(total - known - size + at + 1, 1)
        term = term * np.maximum((known - at) * (size - at), 0) / ((at + 1) * left)
        tail, at = tail + term, at + 1
    return np.asarray(np.exp(first) * tail)


def _is_same_word(first: str, second: str) -> bool:
    """Whether two terms are forms of one word, or pieces that overlap.

    >>> _is_same_word("game", "games"), _is_same_word("地図", "図を"), _is_same_word("car", "cat")
    (True, True, False)
    """
    if {*first.split()} & {*second.split()}:
        return True
    short, long = sorted((first, second), key=len)
    if not short.isascii() and len(long) <= 3:
        return short[0] in long or short[-1] in long
    same = 0
    while same < len(short) and short[same] == long[same]:
        same += 1
    return short in long or same >= max(MIN_STEM_LETTERS, MIN_STEM_SHARE * len(short))
