"""Series without change: presences of the given series, values are kept, the level holds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dualfold import AlignedMaps
from dualfold.errors import InvalidInput, PiecesJoined
from tests.models.door import MAX_OVERLAP, series_without_change, things_of

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.uniform(size=(160, 2)) * [3, 1]
IDS = [range(100), range(40, 140), range(80, 160)]
SLICES = [ROWS[list(names)] for names in IDS]
LINKS = [
    np.column_stack([np.arange(40, 100), np.arange(60)]),
    np.column_stack([np.arange(40, 100), np.arange(60)]),
]


def test_linked_rows_are_one_thing():
    things = things_of([3, 2, 2], [np.array([[0, 1]]), np.array([[1, 0]])])
    assert things[0][0] == things[1][1] == things[2][0]
    assert len(set(np.concatenate(things))) == 5


def test_sizes_and_overlaps_stay_and_linked_rows_have_the_same_value():
    slices, links = series_without_change(SLICES, LINKS, np.random.default_rng(1))
    assert [len(X) for X in slices] == [100, 100, 80]
    assert [len(pairs) for pairs in links] == [60, 60]
    for t, pairs in enumerate(links):
        np.testing.assert_array_equal(slices[t][pairs[:, 0]], slices[t + 1][pairs[:, 1]])
    pooled = {tuple(row) for row in ROWS}
    assert {tuple(row) for X in slices for row in X} == pooled
    assert not np.array_equal(slices[0], SLICES[0])


def test_slices_with_all_rows_in_common_are_thinned():
    rows = np.column_stack([np.arange(160), np.arange(160)])
    slices, links = series_without_change([ROWS, ROWS], [rows], np.random.default_rng(2))
    shared = 2 * len(links[0]) / sum(map(len, slices))
    assert shared == pytest.approx(MAX_OVERLAP, abs=0.08)


def test_slices_with_other_columns_are_resampled_from_the_largest_one():
    other = np.hstack([SLICES[1], SLICES[1]])
    slices, links = series_without_change([SLICES[0], other], LINKS[:1], np.random.default_rng(3))
    assert {X.shape[1] for X in slices} == {SLICES[0].shape[1]}
    assert sum(map(len, slices)) <= 200
    assert len(links[0]) > 0


def test_no_resamples_report_nothing_and_bad_numbers_are_refused():
    maps = AlignedMaps(mu=0.1, resamples=0).fit(SLICES, ids=IDS)
    assert np.isnan(maps.movement_limit_)
    assert maps.to_dict()["movement_limit"] is None
    assert not any(one.any() for one in maps.drift_)
    for bad in (-1, 2.5, True, "19"):
        with pytest.raises(InvalidInput, match="resamples"):
            AlignedMaps(resamples=bad).fit(SLICES, ids=IDS)


def test_a_given_weight_has_a_limit_of_its_own():
    maps = AlignedMaps(mu=0.1, resamples=3).fit(SLICES, ids=IDS)
    assert 0 < maps.movement_limit_ < 1
    assert all(
        (one <= maps.movement_limit_).all() or d.any()
        for one, d in zip(maps.movement_, maps.drift_, strict=True)
    )


def test_pieces_of_slices_are_said_once():
    apart = np.concatenate([SLICES[0], SLICES[0] + 50.0])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        AlignedMaps(mu=0.1, resamples=2).fit([apart, apart + 0.01])
    assert [str(one.message)[:39] for one in said if one.category is PiecesJoined] == [
        "the neighbour graphs of all slices have"
    ]


@pytest.mark.full
@pytest.mark.parametrize("table", ["sheet", "normal", "roll"])
def test_series_without_change_report_a_row_in_one_of_twenty(table):
    from benchmarks.aligned import reports_without_drift

    assert reports_without_drift(table, range(40)) <= 6  # more has a chance of 1 in 70 at 1 in 20
