"""Errata of Draganov's note: each printed form against the right one."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from dualfold.data import digits
from dualfold.point_pca import point_gradient
from papers.draganov.attraction import attraction
from tests.papers.errata import normal, shows

N = 8
# Rows are points, as in the note; means are not 0.
X = normal(N, 5) + 1.0
Y = normal(N, 2, seed=1) + 0.5
L = np.eye(N) - 1 / N


def squares(points):
    return cdist(points, points, "sqeuclidean")


def doubly_centred(points):
    return L @ squares(points) @ L


C = doubly_centred(X) - doubly_centred(Y)
ARROWS = Y[:, None, :] - Y[None, :, :]


def objective(points):
    return float(np.linalg.norm(doubly_centred(X) - doubly_centred(points)) ** 2)


def slope_along(step):
    """Central differences of the objective at Y."""
    return (objective(Y + 1e-5 * step) - objective(Y - 1e-5 * step)) / 2e-5


def row_and_column_means(E):
    return E.mean(axis=1)[:, None] + E.mean(axis=0)[None, :]


def test_grand_mean_of_the_centring():
    E = squares(X)
    printed = E - row_and_column_means(E)
    right = printed + E.mean()
    assert np.abs(right - L @ E @ L).max() < 1e-12
    shows(abs(printed.mean()), abs(right.mean()))  # centred means that the mean is 0


def test_sign_of_the_centring():
    means = row_and_column_means(squares(X)) - row_and_column_means(squares(Y))
    grand = squares(X).mean() - squares(Y).mean()
    difference = squares(X) - squares(Y)
    error = {
        sign: np.abs(difference - sign * (means - grand) - C).max() for sign in (-1, 1)
    }  # printed: Λ = −(means), and Λ is subtracted
    assert error[1] < 1e-12
    shows(error[-1], error[1])


def test_sign_of_the_centring_of_the_map():
    E = squares(Y)
    means = row_and_column_means(E) - E.mean()
    error = {sign: np.abs(E - sign * means - doubly_centred(Y)).max() for sign in (-1, 1)}
    assert error[1] < 1e-12
    shows(error[-1], error[1])


def centring_of(points):
    """Λ as it should be: what double centring takes away from E^X − E^Y."""
    E = squares(X) - squares(points)
    return row_and_column_means(E) - E.mean()


def test_derivative_of_the_centring():
    """Of each λ_ij only its own y_i is moved; over all pairs the true derivatives cancel."""
    step = normal(N, 2, seed=2)
    true = slope_along(step)
    printed = 0.0
    for i in range(N):
        one = np.zeros_like(Y)
        one[i] = 1e-5 * step[i]
        change = (centring_of(Y + one)[i] - centring_of(Y - one)[i]) / 2e-5
        printed += -4 * np.sum(C[i] * (change + ARROWS[i] @ step[i]))
    whole = (centring_of(Y + 1e-5 * step) - centring_of(Y - 1e-5 * step)) / 2e-5
    assert abs(np.sum(C * whole)) < 1e-6
    without = -8 * np.sum(C[:, :, None] * ARROWS * step[:, None, :])
    assert abs(without / true - 1) < 1e-7
    shows(printed / true, without / true)


def test_gradient_is_halved():
    pulls = np.sum(C[:, :, None] * ARROWS, axis=1)
    step = normal(N, 2, seed=2)
    true = slope_along(step)
    assert abs(np.sum(-8 * pulls * step) / true - 1) < 1e-7
    assert np.abs(-8 * pulls - point_gradient(X, Y)).max() < 1e-9
    shows(np.sum(-4 * pulls * step) / true, np.sum(-8 * pulls * step) / true)


def test_update_climbs():
    gradient = point_gradient(X, Y)
    before, rate = objective(Y), 1e-4
    printed, right = objective(Y + rate * gradient), objective(Y - rate * gradient)
    assert right < before < printed
    shows(printed / before, right / before)


def forces():
    of_data = np.sum(doubly_centred(X)[:, :, None] * ARROWS, axis=1)
    of_map = np.sum(doubly_centred(Y)[:, :, None] * ARROWS, axis=1)
    return of_data, of_map


def test_sign_of_the_forces():
    of_data, of_map = forces()
    step = normal(N, 2, seed=2)
    true = slope_along(step)
    printed = np.sum(4 * (of_data - of_map) * step) / true
    right = np.sum(-8 * (of_data - of_map) * step) / true
    assert abs(right - 1) < 1e-7
    shows(printed, right)


def test_forces_summed_over_both_indices():
    """Every pull has its counter-pull: over i and j they cancel, over j alone they do not."""
    pulls = C[:, :, None] * ARROWS
    printed, right = np.sum(pulls, axis=(0, 1)), np.sum(pulls[0], axis=0)
    assert np.abs(-8 * right - point_gradient(X, Y)[0]).max() < 1e-9
    shows(np.linalg.norm(printed), np.linalg.norm(right))


def pull(points, i, j):
    """c_ij: negative pulls together, positive pushes apart."""
    E = squares(points)
    H = np.eye(len(E)) - 1 / len(E)
    return float((H @ E @ H)[i, j])


def test_nearest_neighbors_may_repel():
    line = np.array([[-0.1], [0.1], [-10.0], [10.0]])
    E = squares(line) + np.diag(np.full(4, np.inf))
    assert (E.argmin(axis=1)[:2] == [1, 0]).all()
    assert pull(line, 0, 1) > 0
    shows(1.0, attraction(line).nearest_attract)


def test_farthest_neighbors_may_attract():
    """A heavy third corner pulls the mean away: both ends are seen from it at an acute angle."""
    corner = np.vstack([[[0.0, 0.0], [2.0, 0.0]], np.tile([[1.0, 1.6]], (20, 1))])
    corner += 1e-3 * normal(22, 2)
    E = squares(corner)
    assert (E.argmax(axis=1)[:2] == [1, 0]).all()
    c = pull(corner, 0, 1)
    centred = corner - corner.mean(axis=0)
    assert abs(c + 2 * centred[0] @ centred[1]) < 1e-12
    assert c < 0
    shows(1.0, attraction(corner).farthest_repel)


def test_force_does_not_grow_with_distance():
    """On the line seen from 0.1: 10 is farther than −0.1 and yet pulls, where −0.1 pushes."""
    line = np.array([[-0.1], [0.1], [-10.0], [10.0]])
    assert pull(line, 1, 0) > 0 > pull(line, 1, 3)
    assert squares(line)[1, 0] < squares(line)[1, 3]
    shows(1.0, attraction(digits().points[:500]).rank_correlation)


def test_gram_matrix_of_rows():
    square = normal(N, N, seed=3)  # with N = D the printed product has the right shape
    error = {}
    for name, G in (("printed", square.T @ square), ("right", square @ square.T)):
        g = np.diag(G)
        error[name] = np.abs(g[:, None] + g[None, :] - 2 * G - squares(square)).max()
    assert error["right"] < 1e-9
    shows(error["printed"], error["right"])


def test_trace_form_needs_centred_data():
    difference = Y @ Y.T - X @ X.T
    true = objective(Y)
    printed = 4 * np.trace(L @ difference @ difference)
    right = 4 * np.trace(L @ difference @ L @ difference)
    assert abs(right - true) < 1e-9 * true
    centred = L @ difference @ L  # Gram matrices of centred points
    assert abs(4 * np.trace(L @ centred @ centred) - true) < 1e-9 * true
    shows(printed / true, right / true)


# In §1.2 columns are centred points: both Gram matrices are then as the note wants them.
GX, GY = L @ X @ X.T @ L, L @ Y @ Y.T @ L
YC = L @ Y


def right_differential(step):
    change = step @ YC.T + YC @ step.T
    return 8 * float(np.sum(L * ((GY - GX) @ change)))


def test_differential_at_rest():
    """No step, no change; the printed differential has a term without a step in it."""
    none, step = np.zeros((N, 2)), L @ normal(N, 2, seed=2)
    printed = 8 * np.sum(L * (GY @ (none @ YC.T + YC @ none.T))) - 4 * np.sum(L * (2 * GX))
    assert abs(right_differential(step) / slope_along(step) - 1) < 1e-7
    shows(printed, right_differential(none))


def test_factor_of_the_constant_term():
    """8 vec(L)ᵀvec(G), on the next line 8 vec(L)ᵀvec(2G), on the one after 4 vec(L)ᵀvec(2G)."""
    lines = [8 * np.sum(L * GX), 8 * np.sum(L * (2 * GX)), 4 * np.sum(L * (2 * GX))]
    assert abs(lines[0] - lines[2]) < 1e-9
    shows(lines[1] / lines[0], lines[2] / lines[0])


def test_minimum_is_one_up_to_motions():
    """A turned and shifted map has the same objective and the same balance of forces."""
    U, sigma, _ = np.linalg.svd(L @ X, full_matrices=False)
    best = U[:, :2] * sigma[:2]
    turned = best @ np.array([[0.0, 1.0], [-1.0, 0.0]]) + 3.0
    assert abs(objective(turned) / objective(best) - 1) < 1e-9
    assert np.linalg.norm(point_gradient(X, turned)) < 1e-6 * np.linalg.norm(point_gradient(X, Y))
    shows(0, np.abs(turned - best).max())
