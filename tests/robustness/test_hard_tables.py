"""Every method on tables that are hard to read: it makes a map, or refuses in one sentence."""

import warnings

import numpy as np
import pytest

from dualfold import Isomap, LaplacianEigenmaps
from dualfold.errors import DualfoldError, DualfoldWarning, FewerNeighbors, InvalidInput
from dualfold.methods.descriptions import DESCRIPTIONS
from tests.robustness.door import Plan

RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(60, 5))
TABLES = {
    "3 rows": RNG.normal(size=(3, 4)),
    "5 rows": RNG.normal(size=(5, 4)),
    "12 rows": RNG.normal(size=(12, 4)),
    "pairs of duplicates": np.vstack([CLOUD, CLOUD[:30]]),
    "six rows, 20 times each": np.repeat(CLOUD[:6], 20, axis=0),
    "whole numbers": RNG.integers(0, 3, (100, 3)).astype(float),
    "a constant column": np.column_stack([CLOUD, np.full(60, 7.0)]),
    "a nearly constant column": np.column_stack([CLOUD, 1 + 1e-13 * RNG.normal(size=60)]),
    "columns of other scales": CLOUD * np.array([1, 1e6, 1e-6, 1, 1e9]),
    "all entries huge": CLOUD * 1e30,
    "all entries beyond reason": CLOUD * 1e150,
    "heavy tails": np.exp(3 * CLOUD),
    "categories by the hundred": np.eye(300)[RNG.integers(0, 300, 80)],
    "one outlier": np.vstack([CLOUD, np.full((1, 5), 1e6)]),
    "one line": CLOUD[:, :1] * [1.0, 2.0, -1.0],
    "one row, 20 times": np.ones((20, 3)),
}
NEVER_REFUSE = {"pca", "isomap", "eigenmaps", "mds"}


def tried(estimator, X, classes):
    """The points, or the words of a refusal."""
    try:
        return estimator.fit_transform(X, classes), ""
    except DualfoldError as refusal:
        return None, str(refusal)


# Those that say what an ordinary table may do to every method; the others under full.
USUAL = ("3 rows", "a constant column", "heavy tails", "one outlier", "one row, 20 times")
LONG = [pytest.param(name, marks=[] if name in USUAL else pytest.mark.full) for name in TABLES]


@pytest.mark.parametrize("table", LONG)
def test_a_map_or_one_sentence(table):
    X = TABLES[table]
    classes = np.arange(len(X)) % 3
    for name, row in DESCRIPTIONS.items():
        estimator = Plan(row).for_rows(len(X))[0].estimator()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing from below
            warnings.simplefilter("ignore", DualfoldWarning)
            points, refusal = tried(estimator, X, classes)
        if points is None:
            assert name not in NEVER_REFUSE, refusal
            assert len(refusal) < 400
            assert "\n" not in refusal
        else:
            assert points.shape == (len(X), 2), name
            assert np.isfinite(points).all(), name


def test_a_default_adapts_to_few_rows_and_a_number_does_not():
    X = RNG.normal(size=(8, 3))
    with pytest.warns(FewerNeighbors, match="the other 7"):
        model = LaplacianEigenmaps().fit(X)
    assert model.graph_.n_neighbors == 7
    with pytest.raises(InvalidInput, match="n_neighbors=9"):
        LaplacianEigenmaps(n_neighbors=9).fit(X)
    with pytest.raises(InvalidInput, match="n_neighbors=10"):
        Isomap(n_neighbors=10).fit(X)  # not its default


def test_the_command_line_gives_few_rows_a_perplexity_they_can_have():
    tsne = DESCRIPTIONS["tsne"]
    plan, remarks = Plan(tsne).for_rows(16)
    assert plan.estimator().perplexity == 5
    assert remarks == ["tsne: 16 rows get a perplexity of 5, not the usual 30"]
    assert Plan(tsne).for_rows(31) == (Plan(tsne), [])
    chosen = Plan(tsne, options={"perplexity": 40.0})
    assert chosen.for_rows(16) == (chosen, [])
