"""Pieces of one even line are no groups, wherever a map cuts it; separate segments are."""

from __future__ import annotations

import numpy as np
import pytest

import dualfold
from tests.judging.door import (
    LINKS_PER_POINT,
    Group,
    LinkedGroups,
    MapGroups,
    _chance,
    groups_with_verdicts,
)


def line_lists(t: np.ndarray) -> np.ndarray:
    """The nearest points of each on a sorted line, among those before and behind it."""
    n, k = len(t), LINKS_PER_POINT
    near = np.arange(n)[:, None] + np.r_[np.arange(-k, 0), np.arange(1, k + 1)]
    ends = np.clip(near, 0, n - 1)
    apart = np.where(near == ends, np.abs(t[ends] - t[:, None]), np.inf)
    return np.take_along_axis(ends, np.argsort(apart, axis=1)[:, :k], axis=1)


def section_links(lists: np.ndarray) -> np.ndarray:
    own = np.arange(len(lists))[:, None]
    low, high = np.minimum(own, lists).ravel(), np.maximum(own, lists).ravel()
    n = len(lists)
    return np.cumsum(np.bincount(low, minlength=n) - np.bincount(high, minlength=n))


def verdicts(t: np.ndarray, codes: np.ndarray) -> tuple[Group, ...]:
    sizes = np.bincount(codes[codes >= 0])
    shown = MapGroups(codes, np.full(len(sizes), np.inf), sizes)
    return groups_with_verdicts(LinkedGroups(shown, codes, line_lists(t), 1.0))[0]


def uniform(n: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng([seed, n, 32]).random(n))


def test_the_halves_of_a_line_cut_at_its_thinnest_place_are_no_groups():
    """At most 5 % of the lines; more than 4 of 16 has a chance below 0.2 % then."""
    false = 0
    for seed in range(16):
        t = uniform(300, seed)
        at = 60 + np.argmin(section_links(line_lists(t))[60:-60])
        found = verdicts(t, (np.arange(300) > at).astype(int))
        false += any(one.verdict == "group" for one in found)
    assert false <= 4


def test_points_that_the_map_draws_elsewhere_do_not_cut_the_line():
    """15 points between the pieces belong to no group: no link leads across them."""
    false = 0
    for seed in range(6):
        piece, place = np.divmod(np.arange(300), 100)
        found = verdicts(uniform(300, seed), np.where(place < 15, -1, piece))
        false += any(one.verdict == "group" for one in found)
    assert false <= 2


def test_the_ends_of_a_line_drawn_together_are_not_two_groups():
    for seed in range(5, 9):
        ends = np.abs(np.arange(300) - 150) > 105
        found = verdicts(uniform(300, seed), ends.astype(int))
        assert [one.parts for one in found] == [None, None]


def test_segments_with_a_gap_are_groups_and_are_found_together():
    for seed in range(2):
        t = uniform(300, seed)
        t += 0.5 * np.floor(3 * t)
        segment = np.searchsorted([0.6, 1.4], t)
        assert [one.verdict for one in verdicts(t, segment)] == ["group"] * 3
        held = verdicts(t, np.minimum(segment, 1))[1].parts
        assert held is not None
        assert sorted(held) == sorted(np.bincount(segment)[1:])


def test_the_chance_of_the_thinnest_section_is_that_of_simulated_lines():
    """The 5 % of lines with the thinnest place have a chance of about 5 %."""
    thinnest = [section_links(line_lists(uniform(800, seed)))[20:-20].min() for seed in range(200)]
    for share in (0.05, 0.2):
        chance = _chance(int(np.quantile(thinnest, share)), 67.5, 800)
        assert share / 3 < chance < 3 * share


@pytest.mark.full
def test_a_long_line_has_no_groups():
    false = 0
    for seed in range(20, 26):
        t = uniform(10_000, seed)
        Y = np.random.default_rng(seed).standard_normal((10_000, 2))
        Y[:, 0] += 30 * (np.arange(10_000) > 5_000)
        false += dualfold.audit(t[:, None], Y).count("group") > 0
    assert false <= 1
