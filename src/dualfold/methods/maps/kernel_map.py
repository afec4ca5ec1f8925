"""New rows by their kernel with fitted rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import Argument, InvalidInput
from dualfold.methods.maps.linear_map import LinearLift, LinearMap, ProjectionLift
from dualfold.methods.maps.out_of_sample import OutOfSampleMap, StoredAnswer, float_array
from dualfold.methods.maps.parts import Parts
from dualfold.trace.lift import Solve, WeightedVectorLift, unit_columns
from dualfold.trace.problem import TraceProblem
from dualfold.weights.kernel_matrix import KERNEL_NAMES, Kernel, kernel_tiles

# Directions of a kernel between landmarks below this share of the largest are rounding.
RESOLVED_KERNEL_RATIO = 1e-10


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """x ↦ (k(x, r))_r over some rows r, times a matrix.

    rows : the rows r; shift : what is subtracted from all rows first (None: nothing)
    whitening : m×r, so that inner products of features are the kernel (None: no such matrix)
    """

    rows: Any
    kernel: Kernel
    shift: Array | None = None
    whitening: Array | None = None

    def with_whitening(self) -> KernelFeatures:
        """Nyström's features: the kernel between the rows themselves is exact."""
        K = self.kernel.matrix(self.shifted_rows(self.rows))
        values, vectors = scipy.linalg.eigh(K)
        real = values > RESOLVED_KERNEL_RATIO * max(float(values.max()), 0.0)
        if not real.any():
            raise InvalidInput(
                "the kernel between the landmarks has no positive eigenvalue; take another ",
                Argument("kernel"),
            )
        whitening = np.ascontiguousarray(vectors[:, real] / np.sqrt(values[real]))
        return KernelFeatures(self.rows, self.kernel, self.shift, whitening)

    def shifted_rows(self, X: Rows) -> Rows:
        """Rows as the kernel takes them."""
        return X if self.shift is None else X - self.shift

    def __call__(self, X: Rows) -> Array:
        """The features of the rows of X."""
        values = self.kernel.between(self.shifted_rows(X), self.shifted_rows(self.rows))
        return values if self.whitening is None else values @ self.whitening

    def table(self, X: Rows) -> Array:
        """Kernels of many rows, tile by tile."""
        m = self.rows.shape[0]
        return np.vstack([self(X[part]) for part in kernel_tiles(X, m)])


@dataclass(frozen=True, eq=False)
class KernelMap(OutOfSampleMap):
    """Out-of-sample map of kernel PCA: a linear map of the kernel's features.

    Parameters
    ----------
    features : KernelFeatures
        The kernel with the fitted rows, or with the landmarks.
    linear : LinearMap
        From the features to the coordinates.

    See Also
    --------
    dualfold.KernelPCA : The method whose new rows it places.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> model = KernelPCA(2, kernel="rbf").fit(X)
    >>> bool(np.allclose(model.placing_map()(X), model.embedding_))
    True
    """

    features: KernelFeatures
    linear: LinearMap

    kind: ClassVar[str] = "kernel"

    def __call__(self, X: Rows) -> Array:
        m = self.features.rows.shape[0]
        return np.vstack([self.linear(self.features(X[part])) for part in kernel_tiles(X, m)])

    @property
    def n_coordinates(self) -> int:
        return self.linear.n_coordinates

    def fitted_rows(self) -> tuple[Rows, Metric]:
        return self.features.rows, "euclidean"

    def parts(self) -> Parts:
        kernel = self.features.kernel
        if not isinstance(kernel.function, str):
            raise InvalidInput(
                "a kernel that is a function cannot be saved as data, since a model file never "
                "holds code; fit with a kernel by its name (",
                Argument("kernel", "rbf"),
                ", …)",
            )
        parts = Parts(self.kind)
        parts.facts["kernel"] = kernel.function
        parts.facts |= {name: float(value) for name, value in kernel.parameters.items()}
        parts.put("features", self.features.rows)
        parts.put("shift", self.features.shift, "placing")
        parts.put("whitening", self.features.whitening, "placing")
        parts.put_inner("linear", self.linear.parts())
        return parts

    @classmethod
    def from_parts(cls, parts: Parts) -> KernelMap:
        name = parts.word("kernel", KERNEL_NAMES)
        limits: dict[str, dict[str, Any]] = {"gamma": {"least": 0.0}, "degree": {"least": 0.0}}
        numbers = {
            fact: parts.number(fact, **limits.get(fact, {}))
            for fact in ("gamma", "degree", "coef0")
        }
        rows = parts.table("features", [None, None], features=True)
        shift = parts.optional_array("shift", [rows.shape[1]])
        whitening = parts.optional_array("whitening", [rows.shape[0], None])
        linear = LinearMap.from_parts(parts.inner("linear"))
        features = KernelFeatures(rows, Kernel(name, numbers), shift, whitening)
        wide = rows.shape[0] if whitening is None else whitening.shape[1]
        linear._refuse_width(wide, linear.n_columns, "kernel features")
        return cls(features, linear)

    def stored_answer(self, problem: TraceProblem, solve: Solve) -> StoredAnswer:
        if isinstance(problem.lift, LinearLift):
            return self.linear.stored_answer(problem, solve)
        lift = problem.lift
        if not isinstance(lift, KernelLift):
            return super().stored_answer(problem, solve)
        return StoredAnswer(lift.vectors_of(float_array(self.linear.components)))


@dataclass(frozen=True, eq=False)
class KernelLift(WeightedVectorLift):
    """VΛ^½/√w for eigenvectors of a centred kernel, with the rows that make new rows' kernels.

    features : None where the kernel was given as a matrix
    column_means : of the kernel before it was centred
    """

    features: KernelFeatures | None
    column_means: Array

    def coefficients(self, V: Array, values: Array) -> Array:
        """√w·V/√λ, what new rows' kernels are multiplied by; 0 where λ is 0."""
        real = values > 0
        scales = np.where(real, 1 / np.sqrt(np.where(real, values, 1.0)), 0.0)
        return np.ascontiguousarray((self.roots[:, None] * V * scales).T)

    def vectors_of(self, coefficients: Array) -> Array:
        """The way back: unit vectors of stored coefficients."""
        columns = coefficients.T
        fits = columns.shape[:1] == self.roots.shape
        return unit_columns(columns / self.roots[:, None]) if fits else columns

    def kernel_map(self, V: Array, values: Array) -> OutOfSampleMap:
        """The map of new rows: ⟨k − k̄, √w·v⟩/√λ, 0 where λ is 0."""
        linear = LinearMap(self.column_means, self.coefficients(V, values))
        return kernel_map(self.features, linear)

    def rows_to_compare(self) -> Rows | None:
        return None if self.features is None else self.features.rows


@dataclass(frozen=True, eq=False)
class NystromLift(ProjectionLift):
    """Points as linear images of Nyström's features of the `rows`."""

    features: KernelFeatures | None = None
    rows: Any = None

    def kernel_map(self, V: Array, values: Array) -> OutOfSampleMap:
        """The map of new rows: their features, then the linear map."""
        return kernel_map(self.features, self.linear_map(V, values))

    def rows_to_compare(self) -> Rows:
        return self.rows


def kernel_map(features: KernelFeatures | None, linear: LinearMap) -> OutOfSampleMap:
    """The map of new rows, or of their kernels where these are given."""
    return linear if features is None else KernelMap(features, linear)
