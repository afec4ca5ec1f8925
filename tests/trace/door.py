"""Inner names of `trace` that its tests may enter by, each group with its reason.

Everything else is tested through `dualfold.trace`, `dualfold.trace.solvers` and the judges of
`tests/proofs`.
"""

from __future__ import annotations

# Modules with several bounds: a formula is written as that of its module.
from dualfold.trace import certificate, equivalent_problems, metric

# The rule from evidence to a level: most evidence cannot be made by a problem.
from dualfold.trace.certificate import _angle, _level

# Doubts about stored answers, which models ask for.
from dualfold.trace.doubts import StoredPoints, point_doubts, row_doubts

# Equivalent problems: that no entry is rounded is seen in them alone.
from dualfold.trace.equivalent_problems import (
    _is_exact,
    _scaled_matrix,
    balanced_problem,
    reordered_problem,
    rescaled_problem,
)

# Lifts, which methods and models hold.
from dualfold.trace.lift import (
    DiffusionLift,
    EdgeLengthScale,
    EigenvalueScale,
    ScaledVectorLift,
    SelectedColumns,
    VectorLift,
    rayleigh_matrix,
)

# How far matrices are from symmetric is a bound that certificates charge.
from dualfold.trace.matrix_entries import asymmetry, symmetric

# Metrics and spans as proofs see them.
from dualfold.trace.metric import DenseMetric, ExcludedSpan, SparseMetric

# Products in doubles with matrices of float32.
from dualfold.trace.problem import product
from dualfold.trace.proof import (
    completeness,
    exact_arithmetic,
    random_search,
    rounding,
    singular_values,
    trial_directions,
)

# Bounds' arithmetic is held to its formula module by module.
from dualfold.trace.proof import dense_inertia as pivots

# Floors, each by itself: a certificate shows the best of them.
from dualfold.trace.proof.completeness import (
    SpectralFloor,
    cholesky_floor,
    counted_height,
    deflated_norm_floor,
    excluded_trial,
    factor_with_room,
    inertia_floor,
    norm_floor,
    pivot_floor,
    product_rounding,
)

# Pivots and their errors, by hand and against eigenvalues.
from dualfold.trace.proof.dense_inertia import (
    _negative_blocks,
    dense_inertia,
    form_bound,
    row_errors,
)

# Exact proofs, which a certificate takes last.
from dualfold.trace.proof.exact_arithmetic import IntegerPencil, _ritz_values, exact_proof

# Brackets and losses, against Lehmann's theorem.
from dualfold.trace.proof.lehmann_bounds import (
    Bracket,
    TrialHeight,
    _below_the_last,
    bracket,
    temple_loss,
    trial_heights,
)

# The chance of a search is that of its theorem, shared among its looks.
from dualfold.trace.proof.random_search import (
    CHECKPOINT_STEPS,
    MISS_CHANCE,
    _blur,
    _ends,
    _height,
    random_floor,
    seed_of,
    uniform_start,
)

# Bounds of rounding, against exact fractions.
from dualfold.trace.proof.rounding import (
    column_norms,
    dual_lengths,
    inner,
    inner_depth,
    metric_errors,
    norm_bound,
    product_errors,
    squares_in_metric,
    underflow,
)

# Evidence, and what excluded directions cost that are not exact.
from dualfold.trace.proof.routes import AnswerEvidence, _Case, _coupling_loss

# Floors and brackets of singular values, in their units.
from dualfold.trace.proof.singular_values import (
    dense_singular_floor,
    factor_norm,
    null_error,
    ritz_directions,
    singular_bracket,
    singular_floor,
    singular_heights,
)

# Trial directions with their bounds, against exact fractions.
from dualfold.trace.proof.trial_directions import Trial, residual_lengths, span_error, trial

# Signs of vectors, which all solvers share.
from dualfold.trace.solution import with_signs

# Shifts of the factoring solvers.
from dualfold.trace.solvers import factored

# The choice among solvers by counted work.
from dualfold.trace.solvers.auto import (
    MIN_SMALL_WORLD_ROWS,
    Pace,
    _is_small_world,
    _product_seconds,
    krylov_space_for,
)

# Shifts of the factoring solvers.
from dualfold.trace.solvers.factored import gershgorin, shift_below

# The derivative and the starts of descents, against differences.
from dualfold.trace.solvers.gradient import _distances, _new_directions, _projection_error, _start

# Spaces that grow, which the choice of coordinates asks for.
from dualfold.trace.solvers.krylov import KrylovSpace

# Chebyshev filters, against their polynomials.
from dualfold.trace.solvers.lanczos import ChebyshevFilter

# Forms and values that several solvers share.
from dualfold.trace.solvers.subspace import Progress, _in_own_sense, _standard_form

# How often a pattern is ordered, and whose memory a factor takes.
from dualfold.trace.sparse import factorisation
from dualfold.trace.sparse import shifted_matrices as matrices

# The factor with its bound of errors, on which counts rest.
from dualfold.trace.sparse.factorisation import (
    Factorisation,
    factorise,
    fill_reducing_ordering,
    memory_used_again,
    ordering_after,
    paired_ordering,
)

# Rows of LLE and their mirror images, against the matrix written out.
from dualfold.trace.sparse.mirrored_rows import MirroredRows, RotatedMatrix, mirrored_pattern

# Matrices that are factorised, of every form.
from dualfold.trace.sparse.shifted_matrices import (
    MAX_SMALL_ROWS,
    prefers_filled_square,
    share_ordering,
    shifted_matrices,
)

# Certificates of frozen maps, which growth asks for.
from dualfold.trace.staleness import certify_frozen
