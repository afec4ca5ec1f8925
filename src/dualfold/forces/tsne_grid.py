"""Repulsion between all pairs by a grid: φ(y) = Σ_j 1/(1 + ‖y − y_j‖²), its values and gradient.

One convolution is enough. The push of t-SNE, Σ_j (y_i − y_j)/(1 + ‖y_i − y_j‖²)², is −½∇φ(y_i), and
the normalisation Z = Σ_i φ(y_i) − n; with B-splines φ has a gradient, so that nothing else need
be summed (FIt-SNE, Linderman et al. 2019, convolves four times). Points are spread with cubic
splines, the kernel is divided by the splines' own transform, so that what is read at the nodes is
what was meant (as in particle-mesh Ewald sums), and the gradient is that of the very sum Z that
is used: the descent follows a true objective, near to the exact one. How near, `SPACING` says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.fft

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels import kernel, shared
from dualfold.kernels.threads import Threads

# The distance of nodes at most; the kernel's width is 1. Measured on maps of 10,000 images: errors
# of the push, as a share of its root mean square, 0.7: 10 %, 0.5: 4 %, 0.35: 1.2 %.
SPACING = 0.35
# Small maps (the first rounds) have at least so many nodes across.
FEWEST_NODES = 32
# Nodes beyond the points, and nodes over which the splines' inverse dies out (0.27 a node).
MARGIN, FADING = 3, 16

_spread = {1: kernel("spread_on_line"), 2: kernel("spread_on_grid")}
_read = {1: kernel("read_from_line"), 2: kernel("read_from_grid")}
_transform_rows = kernel("transform_rows")
_convolve_columns = kernel("convolve_columns")
_restore_rows = kernel("restore_rows")


class Grid:
    """A grid over a box, large enough for `points`; it is made anew when they outgrow it.

    spacing : the distance between nodes
    """

    def __init__(self, points: Array, spacing: float = SPACING) -> None:
        low, high = points.min(axis=0), points.max(axis=0)
        wide = float((high - low).max())
        self.spacing = self.widest = spacing
        while wide > 0 and wide < FEWEST_NODES * self.spacing and self.spacing > 1e-9:
            self.spacing /= 2
        cells = np.ceil((high - low) / self.spacing).astype(np.int64)
        if int((cells + 1).prod()) > 2**26:
            raise InvalidInput(
                f"the map is {wide:.1e} wide, too wide for a grid; lower the learning rate"
            )
        # Room to grow into: a tenth, but at least a few nodes.
        self.nodes = cells + cells // 10 + 4 + 2 * MARGIN
        lengths = [_smooth(2 * int(nodes) + FADING) for nodes in self.nodes]
        self.nodes = np.array([(length - FADING) // 2 for length in lengths])
        self.lengths = lengths
        self.origin = np.zeros(len(low))
        self.values = np.zeros(self.nodes)
        self.kernel = _kernel(tuple(lengths), self.spacing)
        self.turns = [_turns(length) for length in lengths]
        if len(low) == 2:
            blocks = lengths[1] // 2 // shared("FOURIER_LANES") + 1
            self.spectrum = np.zeros((blocks, int(self.nodes[0]), 2 * shared("FOURIER_LANES")))
        self._scratch: list[Array] = []

    def holds(self, points: Array) -> bool:
        """Whether the points fit, and not a much smaller grid would do. Places the box."""
        low, high = points.min(axis=0), points.max(axis=0)
        wide = float((high - low).max())
        needed = (high - low) / self.spacing + 2 * MARGIN + 1
        if not (needed <= self.nodes).all():
            return False
        fine = wide < FEWEST_NODES * self.spacing and wide > 0
        coarse = self.spacing < self.widest and wide > 4 * FEWEST_NODES * self.spacing
        if fine or coarse:
            return False
        self.origin = (low + high) / 2 - (self.nodes - 1) / 2 * self.spacing
        return True

    def edges(self) -> tuple[Array, Array]:
        """The lowest and the highest places at which sums can be read."""
        inner = self.origin + MARGIN * self.spacing
        return inner, self.origin + (self.nodes - 1 - MARGIN) * self.spacing

    def spread(self, points: Array) -> None:
        """Put the points on the nodes."""
        self.values[...] = 0
        start: Any = self.origin if points.shape[1] == 2 else float(self.origin[0])
        shape = [int(nodes) for nodes in self.nodes]
        spread = _spread[points.shape[1]]
        _inside(spread(len(points), points, start, 1 / self.spacing, *shape, self.values))

    def convolve(self, pool: Threads, parts: int) -> None:
        """The sums over all points at the nodes, in place."""
        if len(self.nodes) == 1:
            spectrum = np.fft.rfft(self.values, self.lengths[0]) * self.kernel
            self.values = np.fft.irfft(spectrum, self.lengths[0])[: self.nodes[0]].copy()
            return
        height, width = (int(nodes) for nodes in self.nodes)
        lanes = shared("FOURIER_LANES")
        while len(self._scratch) < parts:
            self._scratch.append(np.empty(4 * lanes * max(self.lengths)))
        rows = _shares(height, parts, 2 * lanes)
        blocks = _shares(len(self.spectrum), parts, 1)
        along, down = self.lengths[1], self.lengths[0]

        def forth(part: tuple[int, int, int]) -> None:
            number, first, last = part
            _transform_rows(
                first, last, height, width, along, self.turns[1], self.values, self.spectrum,
                self._scratch[number],
            )  # fmt: skip

        def across(part: tuple[int, int, int]) -> None:
            number, first, last = part
            _convolve_columns(
                first, last, height, down, self.turns[0], self.kernel, self.spectrum,
                self._scratch[number],
            )  # fmt: skip

        def back(part: tuple[int, int, int]) -> None:
            number, first, last = part
            _restore_rows(
                first, last, height, width, along, self.turns[1], self.spectrum, self.values,
                self._scratch[number],
            )  # fmt: skip

        for work, shares in ((forth, rows), (across, blocks), (back, rows)):
            pool.map(work, shares)

    def reader(self, points: Array, phi: Array, push: Array) -> Callable[[slice], None]:
        """A function that reads φ and −½∇φ at some rows of `points` into the other two."""
        start: Any = self.origin if points.shape[1] == 2 else float(self.origin[0])
        shape = [int(nodes) for nodes in self.nodes]
        read = _read[points.shape[1]]

        def work(rows: slice) -> None:
            _inside(
                read(
                    rows.start, rows.stop, points, start, 1 / self.spacing, *shape, self.values,
                    phi, push,
                )
            )  # fmt: skip

        return work


def _inside(refused: int) -> None:
    if refused:
        raise InvalidInput("a point of the map is not a finite number; lower the learning rate")


def _shares(count: int, parts: int, together: int) -> list[tuple[int, int, int]]:
    """(number, first, last) of each part; firsts are multiples of `together`."""
    groups = -(-count // together)
    bounds = [min(count, together * (groups * part // parts)) for part in range(parts + 1)]
    bounds[-1] = count
    found = [(number, a, b) for number, (a, b) in enumerate(pairwise(bounds))]
    return [share for share in found if share[1] < share[2]]


def _smooth(least: int) -> int:
    """The smallest even product of 2, 3 and 5 that is not below `least`."""
    length = least + least % 2
    while True:
        rest = length
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return length
        length += 2


@lru_cache(maxsize=8)
def _turns(length: int) -> Array:
    """exp(−2πi·t/length) as pairs."""
    angle = 2 * np.pi * np.arange(length) / length
    return np.ascontiguousarray(np.column_stack([np.cos(angle), -np.sin(angle)]))


@lru_cache(maxsize=2)
def _kernel(lengths: tuple[int, ...], spacing: float) -> Array:
    """The transform of the kernel on the padded grid, over that of the splines, twice.

    Both are even: a transform of cosines of a quarter of the grid has all of it.
    """
    quarter: Any = np.ones([length // 2 + 1 for length in lengths])
    for axis, length in enumerate(lengths):
        quarter += _along(axis, len(lengths), (np.arange(length // 2 + 1) * spacing) ** 2)
    transform = scipy.fft.dctn(np.reciprocal(quarter, out=quarter), type=1, overwrite_x=True)
    for axis, length in enumerate(lengths):
        symbol = (2 + np.cos(2 * np.pi * np.arange(length // 2 + 1) / length)) / 3
        transform /= _along(axis, len(lengths), symbol**2)
    if len(lengths) == 1:
        return np.asarray(transform)
    transform /= lengths[0] * lengths[1]
    lanes = shared("FOURIER_LANES")
    half = lengths[1] // 2 + 1
    padded = np.zeros((lengths[0], lengths[1] // 2 // lanes + 1, lanes))
    rows = np.arange(lengths[0])
    padded.reshape(lengths[0], -1)[:, :half] = transform[np.minimum(rows, lengths[0] - rows)]
    return np.ascontiguousarray(padded.transpose(1, 0, 2))


def _along(axis: int, axes: int, numbers: Array) -> Array:
    """A vector that is broadcast along one axis."""
    return numbers.reshape([-1 if one == axis else 1 for one in range(axes)])
