"""Planes below convex functions, and shares of them: what slack costs."""

from __future__ import annotations

import numpy as np

from dualfold.theory.games import (
    Convex,
    Quadratic,
)
from dualfold.theory.games.planes import Plane, Share


class Tilted(Convex):
    """A bowl whose plane is known to a slack, taken away from the origin."""

    concavity, strong_convexity = 0.0, 2.0

    def maximiser(self, y):
        return np.array([2.0, 0.0])

    def plane(self, z):
        return Plane(1.0, np.array([0.5, 0.0]), 0.25)


def test_curved_planes_pay_for_their_slack_at_the_point_itself():
    """⟨r, x − o⟩ − s‖x − o‖ + (m/2)‖x − c‖² ≥ ⟨r, d⟩ − s‖d‖ − (‖r‖ + s)²/2m."""
    rest, slack = np.array([0.25, 0.0]), 0.25
    found = Tilted().share(np.array([-0.25, 0.0]), 0.0, np.zeros(2))
    plain = 1.0 - 0.5 * 2 - slack * 2
    most = plain + rest[0] * 2 - slack * 2 - (0.25 + slack) ** 2 / (2 * 2.0)
    assert most - 1e-9 <= found.bound <= most


def test_a_share_is_whole_only_without_rest_and_without_slack():
    zero, one = np.zeros(2), np.array([0.0, 1.0])
    cases = ((zero, 0.0, True), (zero, 0.5, False), (one, 0.0, False), (one, 0.5, False))
    for rest, slack, whole in cases:
        assert Share(1.0, rest, slack).is_whole is whole


def test_what_is_carried_of_a_tilt_is_a_lower_bound():
    """With slack, seen from afar: at many points, and at the plane's own."""
    rng = np.random.default_rng(0)
    f = Quadratic(np.diag([1.0, 4.0]), np.array([1.0, -2.0]))
    for slack in (0.0, 0.5, 2.0):
        slope, origin = rng.normal(size=2), 3 + rng.normal(size=2)
        found = Convex.share(f, slope, slack, origin)
        points = np.vstack([origin + 3 * rng.normal(size=(200, 2)), f.maximiser(-slope)])
        for x in points:
            left = slope @ (x - origin) - slack * np.linalg.norm(x - origin) + f.value(x)
            right = found.bound + found.rest @ (x - origin)
            assert left >= right - found.slack * np.linalg.norm(x - origin) - 1e-12


class FlatTilted(Convex):
    """A plane that is known to a slack only, taken at one point."""

    concavity, strong_convexity = 0.0, 0.0

    def maximiser(self, y):
        return np.array([2.0, 0.0])

    def plane(self, z):
        return Plane(1.0, np.array([0.5, 0.0]), 0.25)


def test_planes_with_a_slack_carry_less():
    """f(x) ≥ h + ⟨y, x − z⟩ − s‖x − z‖, seen from the origin: s‖z‖ less at the least."""
    found = FlatTilted().share(np.array([-0.5, 0.0]), 0.0, np.zeros(2))
    assert 1.0 - 0.5 * 2 - 0.25 * 2 - 1e-12 <= found.bound <= 1.0 - 0.5 * 2 - 0.25 * 2
    assert found.slack >= 0.25
