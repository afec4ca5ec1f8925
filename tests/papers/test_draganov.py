"""The mathematics inside Draganov's experiments against brute force and exact values."""

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.point_pca import algorithm_one, point_error, point_gradient
from papers import Setting
from papers.draganov.descent import _gaps, _ours, convergence
from papers.draganov.forces import (
    LINE,
    TRIANGLE,
    _farthest_of_a_table,
    _near_pairs_repelling,
    _share,
    data_sets,
    double_centred,
)
from papers.draganov.gradient import error, numeric_gradient, printed_gradient
from papers.figures.forces import convergence_figure

RNG = np.random.default_rng(3)
X, Y = RNG.standard_normal((9, 5)) + 2, RNG.standard_normal((9, 2)) - 1


def test_the_error_by_its_definition_and_by_products() -> None:
    centred = X - X.mean(axis=0)
    squares = float(np.square(centred.T @ centred).sum())
    assert error(X, Y) == pytest.approx(point_error(X, Y, squares))
    # Two points 2 apart and a map 1 apart: c = ∓½(4 − 1), four entries.
    assert error(np.array([[0.0], [2.0]]), np.array([[0.0], [1.0]])) == pytest.approx(4 * 1.5**2)


def test_gradients() -> None:
    assert numeric_gradient(X, Y) == pytest.approx(point_gradient(X, Y), rel=1e-6, abs=1e-5)
    assert 2 * printed_gradient(X, Y) == pytest.approx(point_gradient(X, Y), rel=1e-10)


def test_a_negative_rate_is_the_update_as_printed() -> None:
    first = algorithm_one(X, 2, n_epochs=1, rate=-1e-3)
    assert first[1] - first[0] == pytest.approx(1e-3 * printed_gradient(X, first[0]))


def test_centring_needs_no_differences_of_all_features() -> None:
    E = np.square(X[:, None] - X[None]).sum(axis=2)
    H = np.eye(9) - 1 / 9
    assert double_centred(X) == pytest.approx(H @ E @ H)


def test_gaps_are_shares_of_the_fall() -> None:
    centred = X - X.mean(axis=0)
    U, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    squares = sizes**2
    whole, fall = float((squares**2).sum()), 4 * float((squares[:2] ** 2).sum())
    least = 4 * float((squares[2:] ** 2).sum())
    best = U[:, :2] * sizes[:2]
    assert error(X, best) == pytest.approx(least)  # the exact minimum
    assert error(X, 0 * best) - least == pytest.approx(fall)
    gaps = _gaps(X, squares, 1 / (16 * squares[0]), 3)
    start = algorithm_one(X, 2, n_epochs=1, rate=1e-9)[0]
    assert gaps[0] == pytest.approx((error(X, start) - least) / fall)
    assert len(gaps) == 4
    assert _ours(X, squares, 0)[-1] < 1e-13
    assert whole > 0


def test_the_limit_of_the_step() -> None:
    """Just below 1/(8σ₁²) Algorithm 1 arrives, just above it does not."""
    data = RNG.standard_normal((20, 4)) * [5.0, 3.0, 0.5, 0.2]
    squares = np.linalg.svd(data - data.mean(axis=0), compute_uv=False) ** 2
    limit = 1 / (8 * squares[0])
    assert _gaps(data, squares, 0.95 * limit, 800)[-1] < 1e-10
    assert not _gaps(data, squares, 1.05 * limit, 800)[-1] < 1e-4


def test_the_counterexamples_by_hand() -> None:
    centred = TRIANGLE - TRIANGLE.mean(axis=0)
    assert -2 * LINE[0, 0] * LINE[1, 0] == pytest.approx(double_centred(LINE)[0, 1])
    assert -2 * centred[-1] @ centred[-2] == pytest.approx(double_centred(TRIANGLE)[-1, -2])
    far = np.linalg.norm(TRIANGLE[:, None] - TRIANGLE[None], axis=2)
    assert far.max() == far[-1, -2]  # no two points are farther apart, and yet c < 0
    assert double_centred(TRIANGLE)[-1, -2] < 0


def test_shares_of_quarters() -> None:
    # Four points on a line have six pairs; quarters of 2, 2, 1 and 1 of them.
    distances = np.abs(np.subtract.outer([0.0, 1.0, 3.0, 7.0], [0.0, 1.0, 3.0, 7.0]))
    strengths = distances.copy()  # 1 2 | 3 4 | 6 | 7
    assert _share((distances, strengths), slice(1)) == pytest.approx(3 / 23)
    assert _share((distances, -strengths), slice(-1, None)) == pytest.approx(7 / 23)


def test_near_pairs_never_repel_and_the_count_sees_those_that_would() -> None:
    assert _near_pairs_repelling(X) == 0
    # The nearest pair of LINE repels, but each is nearer to the mean than to the other.
    assert _near_pairs_repelling(LINE) == 0


def test_the_two_farthest_samples_of_a_real_table_attract() -> None:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer().data
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    far = max(
        ((i, j) for i in range(569) for j in range(i)),
        key=lambda pair: float(np.square(data[pair[0]] - data[pair[1]]).sum()),
    )
    assert _farthest_of_a_table().ours == pytest.approx(-2 * data[far[0]] @ data[far[1]])
    assert not _farthest_of_a_table().holds  # the paper's claim, on real data


def test_seven_sets() -> None:
    assert len(data_sets(Setting("brief"))) == 7


def test_a_changed_answer_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were Algorithm 1 to climb in both runs, the row of the corrected one would not hold."""
    import papers.draganov.descent as module

    def climbing(X, n_components, *, n_epochs, rate, seed=0):  # type: ignore[no-untyped-def]
        return algorithm_one(X, n_components, n_epochs=min(n_epochs, 30), rate=-abs(rate))

    monkeypatch.setattr(module, "algorithm_one", climbing)
    failed = {row.what for row in convergence(Setting("brief")).failed}
    assert "gap, Algorithm 1 with the sign corrected" in failed


def test_a_run_is_drawn_until_it_leaves() -> None:
    figure = convergence_figure({"up": [1.0, 50.0, 1e3, 1e9], "down": [1.0, 1e-3, 1e-20, 1e-30]})
    up, down = figure.axes[0].get_lines()
    assert list(up.get_ydata()) == [1.0, 50.0, 1e3]
    assert list(down.get_ydata()) == [1.0, 1e-3, 1e-15]
    with pytest.raises(InvalidInput, match="at least one run"):
        convergence_figure({})
