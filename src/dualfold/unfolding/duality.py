"""The Lagrangian of an unfolding problem and its dual, as functions to put numbers into.

    maximise tr K   subject to   K ⪰ 0,  1ᵀK1 = 0,  tr(KE_ij) = d_ij²         (E_ij as in L(w))

    L(K, w, ν, Z) = tr K + tr KZ − ν 1ᵀK1 − Σ w_ij (tr KE_ij − d_ij²)
    g(w, ν, Z) = sup over K  =  Σ w d²  if I + Z − ν11ᵀ − L(w) = 0,  ∞ otherwise
    minimise Σ w d²   subject to   I − ν11ᵀ − L(w) ⪯ 0,   that is ν ≥ 1/n and λ₂(L(w)) ≥ 1
    maximise λ₂(L(w))   subject to   Σ w d² = c,   with the optimum c/c* and the weights (c/c*)w*

These are (28)–(48) of Cunha's report on Xiao, Sun and Boyd. Points with masses have M in the place
of I and m in that of 1. Everything is dense algebra in doubles, for some hundred points: what is
proved is in `certificate`. `connections` has (52) and what follows from it.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.unfolding.problem import UnfoldingProblem, doubles


def gram_lengths(problem: UnfoldingProblem, K: Array) -> Array:
    """tr(KE_ij) = K_ii + K_jj − 2K_ij on the edges."""
    i, j = problem.edges.T
    return np.asarray(K[i, i] + K[j, j] - 2 * K[i, j])


def lagrangian(
    problem: UnfoldingProblem, K: Array, weights: Array, nu: float, Z: Array | None = None
) -> float:
    """Evaluate the Lagrangian L(K, w, ν, Z) of an unfolding problem.

    Parameters
    ----------
    problem : UnfoldingProblem
        Edges and their lengths.
    K : ndarray of shape (n, n)
        Symmetric matrix, the Gram matrix of points.
    weights : array-like of shape (n_edges,)
        The dual weights w, one for each edge.
    nu : float
        The multiplier ν of 1ᵀK1 = 0.
    Z : ndarray of shape (n, n) or None, default=None
        The multiplier of K ⪰ 0; None is 0.

    Returns
    -------
    float
        The value tr K + tr KZ − ν1ᵀK1 − Σ w_ij(tr KE_ij − d_ij²).

    See Also
    --------
    dual_function : Its supremum over K.

    References
    ----------
    .. [1] L. Xiao, J. Sun and S. Boyd, "A duality view of spectral methods for dimensionality
       reduction", Proceedings of the 23rd International Conference on Machine Learning, 1041–1048,
       2006.

    Examples
    --------
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> y = np.array([[-1.0], [0.0], [1.0]])
    >>> lagrangian(chain, y @ y.T, [1.0, 1.0], nu=1 / 3)
    2.0
    """
    K, w = _square(problem, K, "K"), _weights(problem, weights)
    m = problem.mass
    value = float(m @ np.diagonal(K)) - nu * float(m @ K @ m)
    if Z is not None:
        value += float(np.sum(K * _square(problem, Z, "Z")))
    return value - float(w @ (gram_lengths(problem, K) - problem.squared))


def dual_slack(problem: UnfoldingProblem, weights: Array, nu: float | None = None) -> Array:
    """Compute Z = L(w) + ν11ᵀ − I, for which the dual function is finite.

    Weights are dual feasible if Z ⪰ 0.

    Parameters
    ----------
    problem : UnfoldingProblem
        Edges and their lengths.
    weights : array-like of shape (n_edges,)
        The dual weights w, one for each edge.
    nu : float or None, default=None
        The multiplier ν; None takes 1/n, the least that is feasible.

    Returns
    -------
    ndarray of shape (n, n)
        The matrix Z.

    See Also
    --------
    lowest_bend : The eigenvalue that decides feasibility.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.unfolding import UnfoldingProblem, dual_slack
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> bool(np.linalg.eigvalsh(dual_slack(chain, [1.0, 1.0])).min() > -1e-9)
    True
    """
    m = problem.mass
    nu = 1 / float(m.sum()) if nu is None else nu
    L = problem.laplacian(_weights(problem, weights)).toarray()
    return np.asarray(L + nu * np.outer(m, m) - np.diag(m))


def dual_function(
    problem: UnfoldingProblem,
    weights: Array,
    nu: float,
    Z: Array,
    *,
    rounding: float = 1e-9,
) -> float:
    """Evaluate the dual function g(w, ν, Z), the supremum of the Lagrangian over K.

    It is Σ w d² if I + Z − ν11ᵀ − L(w) = 0, and infinite otherwise. With Z ⪰ 0 no feasible K has a
    larger trace; for edges "at_most" d long w ≥ 0 is needed, too.

    Parameters
    ----------
    problem : UnfoldingProblem
        Edges and their lengths.
    weights : array-like of shape (n_edges,)
        The dual weights w, one for each edge.
    nu : float
        The multiplier ν of 1ᵀK1 = 0.
    Z : ndarray of shape (n, n)
        The multiplier of K ⪰ 0.
    rounding : float, default=1e-9
        Share of its terms by which the equation may be off.

    Returns
    -------
    float
        The value g(w, ν, Z).

    See Also
    --------
    dual_slack : The Z that makes it finite.
    lagrangian : The function of K.

    References
    ----------
    .. [1] L. Xiao, J. Sun and S. Boyd, "A duality view of spectral methods for dimensionality
       reduction", Proceedings of the 23rd International Conference on Machine Learning, 1041–1048,
       2006.

    Examples
    --------
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> dual_function(chain, [1.0, 1.0], 1 / 3, dual_slack(chain, [1.0, 1.0]))
    2.0
    """
    w, Z = _weights(problem, weights), _square(problem, Z, "Z")
    off = Z - dual_slack(problem, w, nu)
    size = float(np.abs(Z).max(initial=1.0) + np.abs(w).sum() + abs(nu) + problem.mass.max())
    return float(w @ problem.squared) if np.abs(off).max() <= rounding * size else float("inf")


def lowest_bend(problem: UnfoldingProblem, weights: Array) -> tuple[float, Array]:
    """Compute λ₂(L(w)): the least Σ w_ij(u_i − u_j)² over u with Σ m u² = 1 and Σ m u = 0.

    With weights of both signs it may be negative; then the eigenvalue 0 of the constant vector is
    not the smallest.

    Parameters
    ----------
    problem : UnfoldingProblem
        Edges and their lengths.
    weights : array-like of shape (n_edges,)
        The dual weights w, one for each edge.

    Returns
    -------
    value : float
        The least value.
    vector : ndarray of shape (n,)
        The u that attains it.

    Examples
    --------
    >>> from dualfold.unfolding import UnfoldingProblem, lowest_bend
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> round(lowest_bend(chain, [1.0, 1.0])[0], 9)
    1.0
    """
    root = np.sqrt(problem.mass)
    L = problem.laplacian(_weights(problem, weights)).toarray() / np.outer(root, root)
    above = 1 + 2 * float(np.abs(L).sum(axis=1).max())
    unit = root / np.linalg.norm(root)
    values, vectors = np.linalg.eigh(L + above * np.outer(unit, unit))
    return float(values[0]), np.asarray(vectors[:, 0] / root)


def weights_of_budget(problem: UnfoldingProblem, weights: Array, budget: float) -> Array:
    """Scale weights until Σ w d² = c.

    If w* minimises Σ w d² over λ₂ ≥ 1, with the value c*, these maximise λ₂ over Σ w d² = c, with
    the value c/c*: both sides are positive homogeneous.

    Parameters
    ----------
    problem : UnfoldingProblem
        The problem, with its edges and lengths.
    weights : array-like of shape (n_edges,)
        One number for each edge.
    budget : float
        The number c.

    Returns
    -------
    ndarray of shape (n_edges,)
        The scaled weights.

    Raises
    ------
    InvalidInput
        If Σ w d² is not positive.

    See Also
    --------
    weights_of_unit_bend : The scale of the other form.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.unfolding import UnfoldingProblem, weights_of_budget
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> weights_of_budget(chain, np.array([1.0, 3.0]), 2.0)
    array([0.5, 1.5])
    """
    w = _weights(problem, weights)
    total = float(w @ problem.squared)
    if not total > 0:
        raise InvalidInput(
            Argument("weights"), f" have Σ w d² = {total:.3g}; a budget needs a positive number"
        )
    return np.asarray(w * (budget / total))


def weights_of_unit_bend(problem: UnfoldingProblem, weights: Array) -> Array:
    """Scale weights until λ₂(L(w)) = 1, so that Σ w d² bounds tr K.

    Parameters
    ----------
    problem : UnfoldingProblem
        The problem, with its edges and lengths.
    weights : array-like of shape (n_edges,)
        One number for each edge.

    Returns
    -------
    ndarray of shape (n_edges,)
        The scaled weights.

    Raises
    ------
    InvalidInput
        If λ₂ is not positive.

    See Also
    --------
    weights_of_budget : The scale of the other form.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.unfolding import UnfoldingProblem, weights_of_unit_bend
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> weights_of_unit_bend(chain, np.array([2.0, 2.0])).round(6)
    array([1., 1.])
    """
    least, _ = lowest_bend(problem, weights)
    if not least > 0:
        raise InvalidInput(
            Argument("weights"), f" have λ₂ = {least:.3g}; only a positive one can be scaled to 1"
        )
    return np.asarray(_weights(problem, weights) / least)


@dataclass(frozen=True)
class OptimalityResiduals:
    """Violations of the optimality conditions by K and weights; all are 0 at the optimum.

    gap : (Σ w d² − tr K)/Σ w d²
    lengths : the largest |tr(KE_ij) − d²|/d², of edges that are too long only for "at_most"
    centring : |1ᵀK1|/tr K
    definiteness : −λ/tr K for the smallest eigenvalue λ of K, where it is negative
    bend : 1 − λ₂(L(w)), where it is positive
    sign : −w/max|w| of the smallest weight, for "at_most" edges
    slackness : ‖L(w)K − K‖/‖K‖
    """

    gap: float
    lengths: float
    centring: float
    definiteness: float
    bend: float
    sign: float
    slackness: float

    @property
    def largest(self) -> float:
        """The largest of all."""
        return max(abs(number) for number in astuple(self))


def optimality_residuals(
    problem: UnfoldingProblem, K: Array, weights: Array
) -> OptimalityResiduals:
    """Compute the residuals of the conditions of Karush, Kuhn and Tucker.

    Parameters
    ----------
    problem : UnfoldingProblem
        Edges and their lengths.
    K : ndarray of shape (n, n)
        Symmetric matrix, the Gram matrix of points.
    weights : array-like of shape (n_edges,)
        The dual weights w, one for each edge.

    Returns
    -------
    OptimalityResiduals
        Residuals `gap`, `lengths`, `centring`, `definiteness`, `bend`, `sign` and `slackness`, all
        0 at the optimum, and the `largest` of them.

    See Also
    --------
    certify_unfolding : A proof, with all rounding.

    References
    ----------
    .. [1] L. Xiao, J. Sun and S. Boyd, "A duality view of spectral methods for dimensionality
       reduction", Proceedings of the 23rd International Conference on Machine Learning, 1041–1048,
       2006.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.unfolding import UnfoldingProblem, optimality_residuals
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> y = np.array([[-1.0], [0.0], [1.0]])
    >>> optimality_residuals(chain, y @ y.T, [1.0, 1.0]).largest < 1e-9
    True
    """
    K, w, m = _square(problem, K, "K"), _weights(problem, weights), problem.mass
    trace = float(m @ np.diagonal(K))
    budget = float(w @ problem.squared)
    away = gram_lengths(problem, K) / problem.squared - 1
    at_most = problem.constraints == "at_most"
    least, _ = lowest_bend(problem, w)
    lowest = float(np.linalg.eigvalsh(K)[0])
    LK = problem.laplacian(w) @ K
    return OptimalityResiduals(
        gap=(budget - trace) / budget,
        lengths=float(np.max(away if at_most else np.abs(away), initial=0.0)),
        centring=abs(float(m @ K @ m)) / trace,
        definiteness=max(0.0, -lowest) / trace,
        bend=max(0.0, 1 - least),
        sign=max(0.0, float(-w.min(initial=0.0) / np.abs(w).max())) if at_most else 0.0,
        slackness=float(np.linalg.norm(LK - m[:, None] * K) / np.linalg.norm(m[:, None] * K)),
    )


def _square(problem: UnfoldingProblem, matrix: Array, name: str) -> Array:
    A = doubles(matrix, name)
    size = float(np.abs(A).max(initial=np.finfo(float).tiny))
    if A.shape != (problem.n, problem.n) or not np.allclose(A, A.T, rtol=0, atol=1e-9 * size):
        raise InvalidInput(
            Argument(name), f" must be a symmetric {problem.n}×{problem.n} matrix, one row a point"
        )
    return A


def _weights(problem: UnfoldingProblem, weights: Array) -> Array:
    w = doubles(weights, "weights")
    if w.shape != (problem.m,):
        raise InvalidInput(
            Argument("weights"), f" must be {problem.m} numbers, one an edge; given is {w.shape}"
        )
    return w
