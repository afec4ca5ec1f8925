"""Every method on real tables: a map or a refusal in one sentence, in seconds, silent below."""

import numpy as np
import pytest

from benchmarks import corpus
from dualfold.methods.descriptions import DESCRIPTIONS

FEW = ("scikit-learn/linnerud", pytest.param("scikit-learn/wine", marks=pytest.mark.full))
NEVER_REFUSE = {"pca", "famd", "isomap", "eigenmaps"} & DESCRIPTIONS.keys()


def judged(found):
    """The outcomes must be maps, or refusals where those are allowed."""
    for one in found:
        assert one.outcome in ("map", "refused"), one
        assert one.outcome == "map" or one.method not in NEVER_REFUSE, one
        assert one.outcome == "map" or (len(one.words) < 400 and "\n" not in one.words), one


@pytest.mark.parametrize("name", FEW)
def test_a_table_of_scikit_learn(name):
    found = list(corpus.cells((name,), tuple(DESCRIPTIONS)))
    assert len(found) == len(DESCRIPTIONS)
    judged(found)
    assert sum(one.outcome == "refused" for one in found) <= 1


@pytest.mark.full
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", corpus.names())
def test_a_table(name):
    found = list(corpus.cells((name,), tuple(DESCRIPTIONS)))
    if not found:
        pytest.skip("its package is not installed: pip install dualfold[corpus]")
    judged(found)


def test_a_defect_is_seen():
    X = np.random.default_rng(0).normal(size=(30, 3))
    whole = corpus.cell("noise", "pca", X, corpus.thirds(X[:, 0]))
    assert whole.outcome == "map"
    refused = corpus.cell("noise", "pca", X[:, :1], corpus.thirds(X[:, 0]))
    assert refused.outcome == "refused"
    with pytest.raises(AssertionError):
        judged([refused])


def test_tables_are_read_as_promised():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "number": [1.0, 2.0, 4.0, 7.0, np.nan],
            "kind": ["a", "b", "a", "c", "a"],
            "constant": 3.0,
            "gaps": [np.nan, np.nan, 1.0, 2.0, 3.0],
        }
    )
    X = corpus.numbers(frame)
    assert X.shape == (4, 4)  # one number, three kinds; a row and a column had gaps
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(X[0, 1:] - X[1, 1:]), np.sqrt(2))
