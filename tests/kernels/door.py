"""Inner names of `kernels` that its tests may enter by, each group with its reason.

No user calls them: rooms above do, and a C kernel is compared with plain NumPy here.
"""

from __future__ import annotations

# Shortcuts and sweeps as their caller drives them, part by part.
from dualfold.graph.elimination import EliminatedGraph

# A constant that C and Python share.
from dualfold.graph.geodesics import SOURCES_BY_BATCH

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
from dualfold.kernels.arithmetic.exact import (
    ExactMatrix,
    double_above,
    double_below,
    fractions,
    integers,
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

# Sparse rows and products, against SciPy.
from dualfold.kernels.sparse import canonical_rows, sparse_product

# Work in threads.
from dualfold.kernels.threads import Threads, in_shares, in_threads, row_slices, thread_count
