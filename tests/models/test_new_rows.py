"""What is said of rows that came: levels hold for rows of one kind, and changes are seen."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import PCA, TSNE, LaplacianEigenmaps


def _categories(shares, n, random):
    return np.eye(len(shares))[random.choice(len(shares), n, p=shares)]


def _grown(old, new, n_components=2):
    return PCA(n_components).fit(old).extend(new, old=old)


def test_a_shift_between_categories_is_seen_although_all_rows_are_copies() -> None:
    random = np.random.default_rng(0)
    old = _categories([0.45, 0.45, 0.1], 200, random)
    new = _categories([0.05, 0.05, 0.9], 60, random)
    assert _grown(old, new).new_rows_.drift_chance <= 0.002


def test_a_group_that_is_born_is_named_row_by_row() -> None:
    random = np.random.default_rng(1)
    old, new = random.normal(size=(400, 5)), random.normal(size=(100, 5))
    new[:25] = 0.2 * new[:25] + [8, 0, 0, 0, 0]
    found = _grown(old, new)
    assert set(found.new_rows_.born[0].rows) == set(range(400, 425))
    assert any("no old row" in words for words in found.new_rows_.alarms(0.005))


@pytest.mark.full
@pytest.mark.parametrize("kind", ["normal", "counts", "categories", "heavy"])
def test_rows_of_one_kind_raise_alarms_at_most_at_the_level(kind) -> None:
    draws = {
        "normal": lambda random: random.normal(size=(140, 4)),
        "counts": lambda random: random.poisson(1.0, size=(140, 3)).astype(float),
        "categories": lambda random: _categories([0.5, 0.3, 0.2], 140, random),
        "heavy": lambda random: random.standard_t(1.2, size=(140, 4)),
    }
    raised = 0
    for seed in range(80):
        X = draws[kind](np.random.default_rng(seed))
        raised += bool(_grown(X[:100], X[100:]).new_rows_.alarms(0.05))
    assert raised <= 10  # more than 10 of 80 at a level of 0.05 has a chance below 0.2 %


def test_points_that_pull_their_neighbours_have_no_chance_of_short_cuts() -> None:
    X = np.random.default_rng(2).normal(size=(80, 3))
    pulled = TSNE(perplexity=10, max_iter=250, random_state=0).fit(X[:60]).extend(X[60:])
    placed = LaplacianEigenmaps(n_neighbors=8).fit(X[:60]).extend(X[60:])
    assert np.isnan(pulled.new_rows_.short_cut_chance)
    assert 0 < placed.new_rows_.short_cut_chance <= 1
    assert pulled.new_rows_.to_dict()["short_cuts"]["chance"] is None


def test_rows_in_pieces_of_their_own_are_named_until_the_next_fit() -> None:
    random = np.random.default_rng(3)
    old, born = random.normal(size=(120, 3)), 0.1 * random.normal(size=(20, 3)) + 40
    grown = LaplacianEigenmaps(n_neighbors=5, left_out=()).fit(old).extend(born)
    later = grown.extend(random.normal(size=(40, 3)))
    for one in (grown, later):
        assert one.staleness_.level == "unresolved"
        verdict = one.verdict(max_foreign=1.0)
        assert verdict.word == "keep but look here"
        assert "20 rows make pieces of the graph without a fitted row" in verdict.reasons
    quick = later.verdict(certified=False, max_foreign=1.0)
    assert "was not asked for" in quick.notes[0]


@pytest.mark.full
def test_a_map_of_a_graph_raises_alarms_at_most_at_the_level() -> None:
    raised = 0
    for seed in range(80):
        X = np.random.default_rng([77, seed]).normal(size=(160, 4))
        grown = LaplacianEigenmaps(n_neighbors=8).fit(X[:120]).extend(X[120:])
        raised += bool(grown.new_rows_.alarms(0.05))
    assert raised <= 10
