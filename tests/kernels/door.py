"""Inner names of `kernels` that its tests may enter by, each group with its reason.

No user calls them: rooms above do, and a C kernel is compared with plain NumPy here.
"""

from __future__ import annotations

# The threads of the operating system, which may be refused or late.
from dualfold.kernels import threads

# The module whose unit of rounding is replaced by a coarse one (tests/proofs/coarse.py).
from dualfold.kernels.arithmetic import intervals

# Double-doubles, against fractions.
from dualfold.kernels.arithmetic.double_double import (
    DoubleDouble,
    backward,
    cholesky,
    forward,
    inverse,
    products,
)

# Fractions of doubles and doubles beside fractions, for the tests of every proof.
# Whole numbers and elimination, in which exact proofs are compared.
from dualfold.kernels.arithmetic.exact import (
    ExactMatrix,
    IntegerMatrix,
    double_above,
    double_below,
    fractions,
    integers,
    positive_solution,
)

# Each operation, against exact fractions at the corners of what its operands hold.
from dualfold.kernels.arithmetic.intervals import (
    Interval,
    SizedMatrix,
    dot,
    gram_interval,
    interval,
    largest_eigenvalue,
    least_eigenvalue,
    length,
    norm_interval,
    upper_product,
    upper_sum,
)

# What prototypes say of their arguments.
from dualfold.kernels.conditions import checker, conditions

# The order in which shortcuts are made.
from dualfold.kernels.ordering import fill_reducing_ordering

# Counted work and stages of a fit.
from dualfold.kernels.reports import count_work, reporting_to

# Counts of work, which are what a user of many problems pays.
# Sparse rows and products, against SciPy; runs of equal patterns are eliminated once.
from dualfold.kernels.sparse import canonical_rows, distinct_rows, sparse_product

# Work in threads.
from dualfold.kernels.threads import Threads, in_shares, in_threads, row_slices, thread_count
