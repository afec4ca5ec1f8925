"""Names inside the room of weights that its tests need, each with its reason.

Everything else is tested by the public names of `dualfold.weights`.
"""

from __future__ import annotations

# Deviations are held to exact fractions, and to what counts as constant.
from dualfold.weights.column_moments import column_deviations

# Stated errors of scatter and Gram matrices are held to exact fractions.
from dualfold.weights.covariance import scatter_error

# The refusal of distances that differ there and back, which several methods share.
from dualfold.weights.gram import point_gram_error, refuse_asymmetry

# Kernel matrices are held to the bounds of their rounding.
from dualfold.weights.kernel_matrix import Kernel, KernelProducts, centre_kernel

# Classes as every method takes them.
from dualfold.weights.labels import labels_of

# The width of the heat kernel that a graph has by default.
from dualfold.weights.laplacians import heat_width

# Affinities of a perplexity, beside scikit-learn's.
from dualfold.weights.perplexity import conditional_affinities, joint_affinities

# The row space of a table, its forms and directions.
from dualfold.weights.reduction import row_space

# Passes over rows are held to NumPy's digits in every layout.
from dualfold.weights.row_passes import projected_rows
from dualfold.weights.row_weights import RowWeights
