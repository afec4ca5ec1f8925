"""Names inside the room of methods that its tests need, each with its reason.

Everything else is tested by estimators and by the public names of `dualfold.methods`.
"""

from __future__ import annotations

# The share of negative eigenvalues, for matrices larger than those of tests.
from dualfold.methods._mds import negative_mass

# By which matrix PCA is computed, and beyond which sizes.
from dualfold.methods._pca import MAX_DENSE_ROWS, MOST_SPARSE_ROWS, pca_matrix

# Batches are merged far from 0.
from dualfold.methods.fitting.moments import Moments

# Overtones, beside the formula of the literature.
from dualfold.methods.fitting.overtones import kept_neighbors, overtones, unexplained_share

# The worst level of several, each of which no table shows.
from dualfold.methods.fitting.piecewise_certificate import WORST_FIRST, PiecewiseCertificate

# Rules for new rows, without a fit, and their forms in files.
from dualfold.methods.maps.attraction_map import AttractionMap
from dualfold.methods.maps.landmark_map import GeodesicMap, triangulation
from dualfold.methods.maps.out_of_sample import (
    STORED_KINDS,
    OutOfSampleMap,
    map_from_parts,
    parts_of,
)
from dualfold.methods.maps.parts import Parts
from dualfold.methods.maps.random_maps import gaussian_map, orthogonal_map, sparse_map

# The bound of slices held together, and its relaxed problem.
from dualfold.methods.points.aligned.certificate import certify_aligned
from dualfold.methods.points.aligned.problem import AlignedProblem, link_matrix
from dualfold.methods.points.aligned.relaxation import constrained_inverse, relaxed_vectors
from dualfold.methods.points.attracting_lists import NeighborSettings

# Neighbours kept, by brute force.
from dualfold.methods.points.checks import neighbors_kept

# The same bits for any number of threads, and phases that lose nothing.
from dualfold.methods.points.descent import descend

# A method with other forces.
from dualfold.methods.points.fit import DescentSettings, PointsMethod, fit_points
from dualfold.methods.points.force_balance import force_balance
from dualfold.methods.points.forces import Forces

# The bound of neighbour maps: objective, gradient, relaxed problem, sums by polynomials.
from dualfold.methods.points.neighbor_map.fantope import (
    _clipped_eigenvalues,
    fantope_minimum,
    in_fantope,
)
from dualfold.methods.points.neighbor_map.gaussian_sums import GaussianSums
from dualfold.methods.points.neighbor_map.homotopy import neighbor_answer, stiefel_descent
from dualfold.methods.points.neighbor_map.lower_bound import searched_bound
from dualfold.methods.points.neighbor_map.problem import (
    divergence,
    kernel,
    pair_shares,
    slope,
    slope_times,
    squared_distances,
)
from dualfold.methods.points.objective import unproved_objective
from dualfold.methods.points.problem import AttractionProblem
from dualfold.methods.points.schedule import Phase, Schedule, late_phases

# Starts, beside PCA.
from dualfold.methods.points.starts import principal_points

# Stress: its bounds from any points, each step, and orders.
from dualfold.methods.points.stress.certificate import certify_stress
from dualfold.methods.points.stress.disparities import Order
from dualfold.methods.points.stress.first_points import classical_start, without_coincidences
from dualfold.methods.points.stress.lower_bound import convex_bound, rank_bound
from dualfold.methods.points.stress.majorization import (
    StopRule,
    guttman_transform,
    stress_descent,
)
from dualfold.methods.points.stress.pair_sums import forces_between
from dualfold.methods.points.stress.problem import stress_problem

# Sums of Student's t by edges, pairs, a grid and a tree, beside the definition.
from dualfold.methods.points.tsne.attraction import DoubleAttraction, PackedAttraction
from dualfold.methods.points.tsne.grid import LEAST_SPACING
from dualfold.methods.points.tsne.repulsion import ByGrid, ByPairs, ByTree
from dualfold.methods.points.tsne.student import STUDENT
