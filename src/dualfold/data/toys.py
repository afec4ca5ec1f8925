"""Surfaces and curves whose right answer is known.

Every toy returns a `Sample`: points in space, and the flat coordinates an ideal
embedding would find. Where the surface can be unrolled without stretching (rolls,
the S, a helix) the flat coordinates are *isometric*: a short step on the surface is
a step of the same length in the plane. That is why a roll's first coordinate is
the arc length of its spiral and not the angle, which would be stretched outside and
squeezed inside. Points are drawn uniformly by area (or length) unless a function
says otherwise.

n : number of points
noise : standard deviation of the normal noise added to every coordinate in space
random_state : seed or generator; None draws new points every time
turns : how often a curve winds round its axis
height : how wide the strip is across its curve
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dualfold.errors import Argument, InvalidInput
from dualfold.inputs import random_generator

Floats = NDArray[np.float64]
Seed = int | np.random.Generator | np.random.RandomState | None

# The usual roll (Tenenbaum et al. 2000; scikit-learn): radius = angle,
# from 3π/2 over one and a half turns, 21 high.
# Of lengths and numbers of turns: squares have room, and angles have digits.
MAX_LENGTH = 1e6
ROLL_START = 1.5 * np.pi
ROLL_TURNS = 1.5
ROLL_HEIGHT = 21.0


@dataclass(frozen=True)
class Sample:
    """Points of a known surface and where they lie on it.

    points: n×3 coordinates in space, noise included.
    flat: n×d coordinates on the surface itself, without noise.
    color: one number for each point that changes smoothly over the surface, for drawing.
    names: what the columns of `flat` are.
    isometric: whether short distances in `flat` are those on the surface.
    dense: which points lie in the part that was sampled more densely, where there is one.
    """

    points: Floats
    flat: Floats
    color: Floats
    names: tuple[str, ...]
    isometric: bool = True
    dense: NDArray[np.bool_] | None = None


def swiss_roll(
    n: int,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    turns: float = ROLL_TURNS,
    height: float = ROLL_HEIGHT,
) -> Sample:
    """Swiss roll: a rectangle rolled up along a spiral.

    Parameters
    ----------
    n : int ≥ 1
        Number of points.
    noise : float, default=0.0
        Standard deviation of the normal noise that is added to every coordinate.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points; None draws other points every time.
    turns : float, default=1.5
        Number of turns of the spiral.
    height : float, default=21.0
        Height of the roll.

    Returns
    -------
    Sample
        `points`, the coordinates in space; `flat`, those on the surface without noise, with the
        `names` of their columns; `color`, a number for each point to draw with.
        The columns of `flat` are arc length and height.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    See Also
    --------
    holed_swiss_roll : A roll with a hole.
    oversampled_swiss_roll : A roll with a dense band.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for
       nonlinear dimensionality reduction", Science, 290(5500), 2319–2323, 2000.

    Examples
    --------
    >>> from dualfold.data import swiss_roll
    >>> sample = swiss_roll(100, random_state=0)
    >>> sample.points.shape, sample.flat.shape, sample.names
    ((100, 3), (100, 2), ('arc length', 'height'))
    """
    rng = _generator(n, noise, random_state, turns=turns, height=height)
    along = rng.uniform(size=n) * _roll_length(turns)
    return _roll_sample(along, rng.uniform(size=n) * height, noise, rng)


def oversampled_swiss_roll(
    n: int,
    *,
    share: float = 0.5,
    place: tuple[float, float] = (0.4, 0.6),
    noise: float = 0.0,
    random_state: Seed = None,
    turns: float = ROLL_TURNS,
    height: float = ROLL_HEIGHT,
) -> Sample:
    """Swiss roll of which one band holds more points than its share of the area.

    It shows which methods mistake density for shape.

    Parameters
    ----------
    n : int ≥ 1
        Number of points.
    share : float in [0, 1], default=0.5
        Share of the points that lie in the band, rounded to whole points.
    place : tuple of float, default=(0.4, 0.6)
        Begin and end of the band, as fractions of the arc length from the inner end.
    noise : float, default=0.0
        Standard deviation of the normal noise that is added to every coordinate.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points; None draws other points every time.
    turns : float, default=1.5
        Number of turns of the spiral.
    height : float, default=21.0
        Height of the roll.

    Returns
    -------
    Sample
        As of `swiss_roll`; the mask `dense` says which points are in the band. With the defaults
        the band is four times as dense as the rest.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    See Also
    --------
    swiss_roll : A roll of uniform density.

    Examples
    --------
    >>> from dualfold.data import oversampled_swiss_roll
    >>> int(oversampled_swiss_roll(100, share=0.3, random_state=0).dense.sum())
    30
    """
    rng = _generator(n, noise, random_state, turns=turns, height=height)
    start, stop = place
    if not 0 <= start < stop <= 1:
        raise InvalidInput(
            Argument("place"),
            " must be two fractions of the arc length with 0 <= start < stop <= 1, but is "
            f"{place}; ",
            Argument("place", (0.4, 0.6)),
            " is the middle fifth",
        )
    if not 0 <= share <= 1 or (stop - start == 1 and share < 1):
        raise InvalidInput(
            Argument("share", share),
            " of the points cannot lie in ",
            Argument("place", place),
            ": it must be between 0 and 1, and 1 if the place is the whole roll",
        )
    dense = rng.permutation(n) < round(share * n)
    inside = start + rng.uniform(size=n) * (stop - start)
    outside = rng.uniform(size=n) * (1 - (stop - start))
    outside = np.where(outside < start, outside, outside + (stop - start))
    along = np.where(dense, inside, outside) * _roll_length(turns)
    return _roll_sample(along, rng.uniform(size=n) * height, noise, rng, dense)


def holed_swiss_roll(
    n: int,
    *,
    hole: tuple[tuple[float, float], tuple[float, float]] = ((0.4, 0.6), (0.3, 0.7)),
    noise: float = 0.0,
    random_state: Seed = None,
    turns: float = ROLL_TURNS,
    height: float = ROLL_HEIGHT,
) -> Sample:
    """Swiss roll with a rectangular hole.

    It is locally as flat as the whole roll, but shortest paths must go round the hole: methods that
    trust geodesic distances (Isomap, MVU) stretch it.

    Parameters
    ----------
    n : int ≥ 1
        Number of points.
    hole : tuple of two tuples of float, default=((0.4, 0.6), (0.3, 0.7))
        Begin and end of the hole, as fractions of the arc length and of the height.
    noise : float, default=0.0
        Standard deviation of the normal noise that is added to every coordinate.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points; None draws other points every time.
    turns : float, default=1.5
        Number of turns of the spiral.
    height : float, default=21.0
        Height of the roll.

    Returns
    -------
    Sample
        `points`, the coordinates in space; `flat`, those on the surface without noise, with the
        `names` of their columns; `color`, a number for each point to draw with.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    See Also
    --------
    swiss_roll : A roll without a hole.

    Examples
    --------
    >>> from dualfold.data import holed_swiss_roll
    >>> holed_swiss_roll(100, random_state=0).points.shape
    (100, 3)
    """
    rng = _generator(n, noise, random_state, turns=turns, height=height)
    (left, right), (low, high) = hole
    area = (right - left) * (high - low)
    if not (0 <= left < right <= 1 and 0 <= low < high <= 1 and area < 1):
        raise InvalidInput(
            Argument("hole"),
            " must be ((left, right), (low, high)), increasing fractions between 0 and 1 "
            f"that leave something of the roll, but is {hole}",
        )
    # Four bars around the hole, chosen by area: no rejection, so no loop.
    bars = np.array(
        [[0, left, 0, 1], [right, 1, 0, 1], [left, right, 0, low], [left, right, high, 1]]
    )
    areas = (bars[:, 1] - bars[:, 0]) * (bars[:, 3] - bars[:, 2])
    bar = bars[rng.choice(4, size=n, p=areas / areas.sum())]
    across = bar[:, 0] + rng.uniform(size=n) * (bar[:, 1] - bar[:, 0])
    up = bar[:, 2] + rng.uniform(size=n) * (bar[:, 3] - bar[:, 2])
    return _roll_sample(across * _roll_length(turns), up * height, noise, rng)


def s_curve(
    n: int, *, noise: float = 0.0, random_state: Seed = None, height: float = 2.0
) -> Sample:
    """S curve: a strip bent along two three-quarter circles of radius 1.

    Parameters
    ----------
    n : int ≥ 1
        Number of points.
    noise : float, default=0.0
        Standard deviation of the normal noise that is added to every coordinate.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points; None draws other points every time.
    height : float, default=2.0
        Height of the strip.

    Returns
    -------
    Sample
        `points`, the coordinates in space; `flat`, those on the surface without noise, with the
        `names` of their columns; `color`, a number for each point to draw with.
        The columns of `flat` are arc length and height.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    See Also
    --------
    swiss_roll : A strip that is rolled up.

    Examples
    --------
    >>> from dualfold.data import s_curve
    >>> s_curve(100, random_state=0).flat.shape
    (100, 2)
    """
    rng = _generator(n, noise, random_state, height=height)
    # On circles of radius 1 the angle is the arc length already.
    along = rng.uniform(-1.5 * np.pi, 1.5 * np.pi, size=n)
    up = rng.uniform(size=n) * height
    points = np.column_stack([np.sin(along), up, np.sign(along) * (np.cos(along) - 1)])
    flat = np.column_stack([along, up])
    return Sample(_noisy(points, noise, rng), flat, along, ("arc length", "height"))


def helix(
    n: int,
    *,
    noise: float = 0.0,
    random_state: Seed = None,
    turns: float = 3.0,
    radius: float = 1.0,
    pitch: float = 1.0,
) -> Sample:
    """Open helix, a curve in space.

    Parameters
    ----------
    n : int ≥ 1
        Number of points.
    noise : float, default=0.0
        Standard deviation of the normal noise that is added to every coordinate.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points; None draws other points every time.
    turns : float, default=3.0
        Number of turns.
    radius : float, default=1.0
        Radius of the helix.
    pitch : float, default=1.0
        Height of one turn.

    Returns
    -------
    Sample
        `points`, the coordinates in space; `flat`, those on the surface without noise, with the
        `names` of their columns; `color`, a number for each point to draw with.
        `flat` is the arc length.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    See Also
    --------
    toroidal_helix : A closed helix.

    Examples
    --------
    >>> from dualfold.data import helix
    >>> helix(100, random_state=0).flat.shape
    (100, 1)
    """
    rng = _generator(n, noise, random_state, turns=turns, radius=radius, pitch=pitch)
    angle = rng.uniform(size=n) * (2 * np.pi * turns)
    rise = pitch / (2 * np.pi)
    points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), rise * angle])
    along = angle * np.hypot(radius, rise)
    return Sample(_noisy(points, noise, rng), along[:, None], along, ("arc length",))


def toroidal_helix(
    n: int, *, noise: float = 0.0, random_state: Seed = None, windings: int = 8, radius: float = 2.0
) -> Sample:
    """Closed helix, wound round a torus of tube radius 1.

    Parameters
    ----------
    n : int ≥ 1
        Number of points.
    noise : float, default=0.0
        Standard deviation of the normal noise that is added to every coordinate.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points; None draws other points every time.
    windings : int, default=8
        Number of windings.
    radius : float, default=2.0
        Radius of the torus.

    Returns
    -------
    Sample
        As of `helix`. A closed curve cannot be laid on a line without stretching, so `flat` is a
        point on the circle whose circumference is the length of the curve; `color` is the arc
        length.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    See Also
    --------
    helix : An open helix.

    Examples
    --------
    >>> from dualfold.data import toroidal_helix
    >>> toroidal_helix(100, random_state=0).names
    ('circle x', 'circle y')
    """
    rng = _generator(n, noise, random_state, windings=windings, radius=radius)

    def curve_speed(angle: Floats) -> Floats:
        return np.hypot(radius + np.cos(windings * angle), windings)

    angle, along, length = _uniform_on_curve(curve_speed, 2 * np.pi, rng.uniform(size=n))
    reach = radius + np.cos(windings * angle)
    points = np.column_stack(
        [reach * np.cos(angle), reach * np.sin(angle), np.sin(windings * angle)]
    )
    flat = length / (2 * np.pi) * _circle(along * (2 * np.pi / length))
    return Sample(_noisy(points, noise, rng), flat, along, ("circle x", "circle y"))


def linked_rings(n: int, *, noise: float = 0.0, random_state: Seed = None) -> Sample:
    """Two unit circles that pass through each other.

    They have no point in common and cannot be pulled apart in space: a neighbour graph of them is
    in two pieces.

    Parameters
    ----------
    n : int ≥ 1
        Number of points.
    noise : float, default=0.0
        Standard deviation of the normal noise that is added to every coordinate.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points; None draws other points every time.

    Returns
    -------
    Sample
        `points` in space; `flat` has the circles side by side; `color` is 0 on one ring and 1 on
        the other.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    Examples
    --------
    >>> from dualfold.data import linked_rings
    >>> float(linked_rings(100, random_state=0).color.mean())
    0.5
    """
    rng = _generator(n, noise, random_state)
    second = rng.permutation(n) < n // 2
    circle = _circle(rng.uniform(size=n) * (2 * np.pi))
    empty = np.zeros(n)
    lying = np.column_stack([circle, empty])
    standing = np.column_stack([circle[:, 0] + 1, empty, circle[:, 1]])
    points = np.where(second[:, None], standing, lying)
    # Three radii between the centres keep the flat rings apart.
    flat = circle + np.column_stack([3.0 * second, empty])
    return Sample(_noisy(points, noise, rng), flat, second.astype(float), ("x", "y"))


def sphere_cap(
    n: int, *, noise: float = 0.0, random_state: Seed = None, angle: float = np.pi / 3
) -> Sample:
    """Cap of the unit sphere, which no map in the plane can keep whole.

    Parameters
    ----------
    n : int ≥ 1
        Number of points.
    noise : float, default=0.0
        Standard deviation of the normal noise that is added to every coordinate.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the points; None draws other points every time.
    angle : float in (0, π], default=1.0471975511965976
        Largest angle from the pole, in radians; the default is π/3.

    Returns
    -------
    Sample
        `points` in space. `flat` is the azimuthal equidistant map: distances from the pole are
        right, those around it too long by up to angle / sin(angle). `isometric` is False.

    Raises
    ------
    InvalidInput
        If a number is out of its range.

    Examples
    --------
    >>> from dualfold.data import sphere_cap
    >>> sphere_cap(100, random_state=0).isometric
    False
    """
    rng = _generator(n, noise, random_state)
    if not 0 < angle <= np.pi:
        raise InvalidInput(
            Argument("angle"), f" must be in (0, π] radians from the pole, but is {angle}"
        )
    # Archimedes: the area of a sphere between two heights is proportional to their difference.
    up = 1 - rng.uniform(size=n) * (1 - np.cos(angle))
    from_pole = np.arccos(up)
    circle = _circle(rng.uniform(size=n) * (2 * np.pi))
    points = np.column_stack([circle * np.sin(from_pole)[:, None], up])
    flat = circle * from_pole[:, None]
    return Sample(_noisy(points, noise, rng), flat, from_pole, ("map x", "map y"), isometric=False)


def _generator(n: int, noise: float, random_state: Seed, **lengths: float) -> np.random.Generator:
    """The source of random numbers; sizes that make no sample are refused."""
    if n < 1:
        raise InvalidInput(Argument("n"), f" must be at least 1 point, but is {n}")
    for name, length in lengths.items():
        if not abs(length) <= MAX_LENGTH:
            raise InvalidInput(Argument(name), f" must be at most {MAX_LENGTH:g}, but is {length}")
    if not 0 <= noise <= MAX_LENGTH:
        raise InvalidInput(
            Argument("noise"),
            f" is a standard deviation and must be from 0 to {MAX_LENGTH:g}, but is {noise}",
        )
    return random_generator(random_state)


def _noisy(points: Floats, noise: float, rng: np.random.Generator) -> Floats:
    return points + noise * rng.standard_normal(points.shape) if noise else points


def _circle(angle: Floats) -> Floats:
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _roll_sample(
    along: Floats,
    up: Floats,
    noise: float,
    rng: np.random.Generator,
    dense: NDArray[np.bool_] | None = None,
) -> Sample:
    angle = _spiral_angle(along + _spiral_length(np.float64(ROLL_START)))
    points = np.column_stack([angle * np.cos(angle), up, angle * np.sin(angle)])
    flat = np.column_stack([along, up])
    names = ("arc length", "height")
    return Sample(_noisy(points, noise, rng), flat, angle, names, dense=dense)


def _roll_length(turns: float) -> float:
    if not turns > 0:
        raise InvalidInput(
            Argument("turns"), f" must be positive, but is {turns}; 1.5 is the usual roll"
        )
    stop = np.float64(ROLL_START + 2 * np.pi * turns)
    return float(_spiral_length(stop) - _spiral_length(np.float64(ROLL_START)))


def _spiral_length(angle: Floats | np.float64) -> Floats:
    """The arc length of r = angle from the centre: ∫ √(1 + t²) dt."""
    return np.asarray(0.5 * (angle * np.hypot(1.0, angle) + np.arcsinh(angle)))


def _spiral_angle(length: Floats) -> Floats:
    """The inverse of `_spiral_length`.

    The length is convex in the angle and at least angle²/2, so Newton's steps from
    √(2·length) come down to the answer without overshooting; 8 reach rounding.
    """
    angle = np.sqrt(2 * length)
    for _ in range(8):
        angle = angle - (_spiral_length(angle) - length) / np.hypot(1.0, angle)
    return angle


def _uniform_on_curve(
    speed: Callable[[Floats], Floats], stop: float, fraction: Floats
) -> tuple[Floats, Floats, float]:
    """(parameter, arc length, whole length) at the given fractions of a curve's length.

    The length has no closed form: Gauss-Legendre on short pieces, then Newton.
    """
    edges = np.linspace(0, stop, 4097)
    nodes, weights = np.polynomial.legendre.leggauss(5)
    half = (edges[1:] - edges[:-1]) / 2
    pieces = speed(edges[:-1, None] + half[:, None] * (nodes + 1)) @ weights * half
    lengths = np.concatenate([[0.0], np.cumsum(pieces)])
    along = fraction * lengths[-1]
    piece = np.clip(np.searchsorted(lengths, along, side="right") - 1, 0, len(pieces) - 1)
    start, rest = edges[piece], along - lengths[piece]
    step = rest / speed(start)
    for _ in range(4):
        inner = start[:, None] + step[:, None] / 2 * (nodes + 1)
        step = step - (speed(inner) @ weights * (step / 2) - rest) / speed(start + step)
    return start + step, along, float(lengths[-1])
