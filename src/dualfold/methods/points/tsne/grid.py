"""Repulsion between all pairs by a grid: φ(y) = Σ_j 1/(1 + ‖y − y_j‖²), its values and gradient.

One convolution is enough. The push of t-SNE, Σ_j (y_i − y_j)/(1 + ‖y_i − y_j‖²)², is −½∇φ(y_i), and
the normalisation Z = Σ_i φ(y_i) − n; with B-splines φ has a gradient, so that nothing else need
be summed (FIt-SNE, Linderman et al. 2019, convolves four times). Points are spread with splines of
degree 5, the kernel is divided by the splines' own transform, so that the sums at the nodes are
those of the kernel (as in particle-mesh Ewald sums), and the gradient is that of the sum Z that is
used: the descent follows a true objective near the exact one. `NODE_SPACING` decides how near.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.fft

from dualfold.arrays import Array, DType
from dualfold.errors import InvalidInput
from dualfold.kernels import c_constant, kernel, kernels_by_dtype
from dualfold.kernels.threads import Threads

# The largest distance between nodes, and that of the last iterations; the kernel's width is 1. The
# repulsion is right to 0.7 % and to 0.1 % (docs/dev/notes/tsne-grid.md).
NODE_SPACING = 0.42
FINE_SPACING = 0.28
# Small maps (of the first iterations) are at least this many nodes wide.
MIN_NODES = 32
# Between nearer nodes φ, which falls with the square of a distance, is flat to rounding.
LEAST_SPACING = 1e-6
MARGIN_NODES = 6  # beyond the points
FADING_NODES = 24  # over which the splines' inverse fades out, by a factor of 0.43 a node

_spread_on_line, _read_from_line = kernel("spread_on_line"), kernel("read_from_line")
_spread_on_grid = kernels_by_dtype("spread_on_grid")
_read_from_grid = kernels_by_dtype("read_from_grid")
_transform_rows = kernels_by_dtype("transform_rows")
_convolve_columns = kernels_by_dtype("convolve_columns")
_restore_rows = kernels_by_dtype("restore_rows")
_box_of_points = kernel("box_of_points")


class Grid:
    """A grid over a box, large enough for `points`; it is made anew when they outgrow it.

    spacing : the distance between nodes
    dtype : of its numbers; None takes float32, but for a map so small that φ, nearly n everywhere,
        would hide its slope: one that is MIN_NODES nodes wide loses 1e-6 of the push
    wide : how wide the points are that were placed last
    """

    def __init__(
        self, points: Array, spacing: float = NODE_SPACING, dtype: DType | None = None
    ) -> None:
        low, high = _box(points)
        self.wide = wide = float((high - low).max())
        self.spacing = self.widest = spacing
        while self._is_coarse_for(wide):
            self.spacing /= 2
        cells = np.ceil((high - low) / self.spacing).astype(np.int64)
        if int((cells + 1).prod()) > 2**26:
            raise InvalidInput(
                f"the map is {wide:.1e} wide, too wide for a grid; lower the learning rate"
            )
        # Room to grow into: a tenth, but at least a few nodes.
        self.nodes = cells + cells // 10 + 4 + 2 * MARGIN_NODES
        lengths = [_smooth(2 * int(nodes) + FADING_NODES) for nodes in self.nodes]
        self.nodes = np.array([(length - FADING_NODES) // 2 for length in lengths])
        self.lengths = lengths  # of the padded grid
        self.origin = np.zeros(len(low))
        if len(low) == 1 or self.spacing < spacing:
            dtype = np.float64
        self.dtype = np.dtype(dtype or np.float32)
        self.values = np.zeros(self.nodes, self.dtype)
        self.kernel = _kernel(tuple(lengths), self.spacing, self.dtype)
        if len(low) == 2:
            self.turns = [_turns(length, self.dtype) for length in lengths]
            lanes = _lanes(self.dtype)
            blocks = lengths[1] // 2 // lanes + 1
            self.spectrum = np.zeros((blocks, int(self.nodes[0]), 2 * lanes), self.dtype)
        self._scratch: list[Array] = []

    def holds(self, points: Array) -> bool:
        """Whether the points fit, and not a much smaller grid would do. Places the box."""
        low, high = _box(points)
        self.wide = wide = float((high - low).max())
        needed = (high - low) / self.spacing + 2 * MARGIN_NODES + 1
        if not (needed <= self.nodes).all():
            return False
        fine = self.spacing < self.widest and wide > 4 * MIN_NODES * self.spacing
        if fine or self._is_coarse_for(wide):
            return False
        self.origin = (low + high) / 2 - (self.nodes - 1) / 2 * self.spacing
        return True

    def _is_coarse_for(self, wide: float) -> bool:
        """Whether a map of this width is too few nodes wide, and nodes can be nearer."""
        return 0 < wide < MIN_NODES * self.spacing and self.spacing > LEAST_SPACING

    def edges(self) -> tuple[Array, Array]:
        """The lowest and the highest places at which sums can be read."""
        inner = self.origin + MARGIN_NODES * self.spacing
        return inner, self.origin + (self.nodes - 1 - MARGIN_NODES) * self.spacing

    def spread_points(self, points: Array) -> None:
        """Put the points on the nodes."""
        self.values[...] = 0
        spread = _spread_on_line if points.shape[1] == 1 else _spread_on_grid[self.dtype]
        _refuse_outside(spread(len(points), points, *self._frame()))

    def _frame(self) -> tuple[Any, ...]:
        """Where the grid lies, its shape and its values, as the kernels take them."""
        start: Any = self.origin if len(self.nodes) == 2 else float(self.origin[0])
        return start, 1 / self.spacing, *(int(nodes) for nodes in self.nodes), self.values

    def convolve(self, pool: Threads, parts: int) -> None:
        """The sums over all points at the nodes, in place. Rows and columns come in fours."""
        if len(self.nodes) == 1:
            spectrum = np.fft.rfft(self.values, self.lengths[0]) * self.kernel
            self.values = np.fft.irfft(spectrum, self.lengths[0])[: self.nodes[0]].copy()
            return
        high, wide = (int(nodes) // 4 for nodes in self.nodes)
        lanes = _lanes(self.dtype)
        while len(self._scratch) < parts:
            self._scratch.append(np.empty(4 * lanes * max(self.lengths), self.dtype))
        rows = _shares(high, parts, lanes // 2)
        blocks = _shares(len(self.spectrum), parts, 1)
        along, down = self.lengths[1] // 8, self.lengths[0] // 8

        def work(kernels: Any, *given: Any) -> Callable[[tuple[int, int, int]], None]:
            def on(part: tuple[int, int, int]) -> None:
                number, first, last = part
                kernels[self.dtype](first, last, *given, self._scratch[number])

            return on

        in_rows, in_columns = (high, wide, along, self.turns[1]), (high, down, self.turns[0])
        pool.map(work(_transform_rows, *in_rows, self.values, self.spectrum), rows)
        pool.map(work(_convolve_columns, *in_columns, self.kernel, self.spectrum), blocks)
        pool.map(work(_restore_rows, *in_rows, self.spectrum, self.values), rows)

    def reader(self, points: Array, phi: Array, push: Array) -> Callable[[slice], None]:
        """A function that reads φ and −½∇φ at some rows of `points` into the other two."""
        read = _read_from_line if points.shape[1] == 1 else _read_from_grid[self.dtype]
        frame = self._frame()

        def work(rows: slice) -> None:
            _refuse_outside(read(rows.start, rows.stop, points, *frame, phi, push))

        return work


def _box(points: Array) -> Array:
    """The least and the largest number of each coordinate."""
    box = np.empty((2, points.shape[1]))
    _box_of_points(*points.shape, points, box)
    return box


def _refuse_outside(refused: int) -> None:
    if refused:
        raise InvalidInput("a point of the map is not a finite number; lower the learning rate")


def _shares(count: int, parts: int, together: int) -> list[tuple[int, int, int]]:
    """(number, first, last) of each part; firsts are multiples of `together`."""
    groups = -(-count // together)
    bounds = [min(count, together * (groups * part // parts)) for part in range(parts + 1)]
    bounds[-1] = count
    ranges = [(number, a, b) for number, (a, b) in enumerate(pairwise(bounds))]
    return [share for share in ranges if share[1] < share[2]]


def _smooth(least: int) -> int:
    """The smallest product of 2, 3 and 5 that is a multiple of 8 and not below `least`."""
    length = -(-least // 8) * 8
    while True:
        rest = length
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return length
        length += 8


@lru_cache(maxsize=8)
def _turns(length: int, dtype: DType) -> Array:
    """exp(−2πi·t/length) as pairs."""
    angle = 2 * np.pi * np.arange(length) / length
    return np.ascontiguousarray(np.column_stack([np.cos(angle), -np.sin(angle)]), dtype)


@lru_cache(maxsize=2)
def _kernel(lengths: tuple[int, ...], spacing: float, dtype: DType) -> Array:
    """The transform of the kernel on the padded grid, over that of the splines, twice.

    Both are even: a transform of cosines of a quarter of the grid has all of it.
    """
    quarter: Any = np.ones([length // 2 + 1 for length in lengths])
    for axis, length in enumerate(lengths):
        quarter += _along(axis, len(lengths), (np.arange(length // 2 + 1) * spacing) ** 2)
    transform = scipy.fft.dctn(np.reciprocal(quarter, out=quarter), type=1, overwrite_x=True)
    for axis, length in enumerate(lengths):
        angle = 2 * np.pi * np.arange(length // 2 + 1) / length
        symbol = (33 + 26 * np.cos(angle) + np.cos(2 * angle)) / 60
        transform /= _along(axis, len(lengths), symbol**2)
    if len(lengths) == 1:
        return np.asarray(transform)
    transform /= lengths[0] * lengths[1]
    lanes = _lanes(dtype)
    half = lengths[1] // 2 + 1
    padded = np.zeros((lengths[0], lengths[1] // 2 // lanes + 1, lanes), dtype)
    rows = np.arange(lengths[0])
    padded.reshape(lengths[0], -1)[:, :half] = transform[np.minimum(rows, lengths[0] - rows)]
    return np.ascontiguousarray(padded.transpose(1, 0, 2))


def _lanes(dtype: DType) -> int:
    """Sequences that are transformed side by side."""
    return c_constant("FOURIER_BYTES") // int(np.dtype(dtype).itemsize)


def _along(axis: int, axes: int, numbers: Array) -> Array:
    """A vector that is broadcast along one axis."""
    return numbers.reshape([-1 if other == axis else 1 for other in range(axes)])
