"""Names inside the room of graphs that its tests need, each with its reason.

Everything else is tested by the public names of `dualfold.graph`.
"""

from __future__ import annotations

# Estimators attach new rows, grow and cut graphs; the tests compare every edge.
from dualfold.graph.attachment import attach, nearest_and_reverse

# A list of the approximate search is held to all rows of its cells.
from dualfold.graph.cells import cell_lists, cells_of_points, needed_probes

# Terminal components and joined lists, as LLE needs them.
from dualfold.graph.directed_lists import connected_lists, terminal_components

# The kernel of distances is the judge of ties.
from dualfold.graph.distances import pair_distances

# Given pairs and drawn ones: the interval is that of Clopper and Pearson.
from dualfold.graph.distortion import distortion_of_pairs, drawn_pairs

# Paths by elimination are held to a bound of their rounding, on graphs of any size.
from dualfold.graph.elimination import EliminatedGraph, eliminated_graph, tree_height
from dualfold.graph.forest import NO_NEIGHBOR

# Every kernel of shortest paths is held to the bits of Dijkstra's rule.
from dualfold.graph.geodesics import (
    SOURCES_BY_BATCH,
    Landmarks,
    RenumberedGraph,
    geodesic_rounding,
    landmarks_at,
)

# Lists of any length and order, which no search returns.
from dualfold.graph.graph import Lists, symmetric_lengths
from dualfold.graph.grown_graphs import graph_without, grown_graph

# Lower bounds in float32 are held to their formula.
from dualfold.graph.lower_bounds import (
    SLACK_SHARE,
    fewer_directions,
    frame_of,
    principal_directions,
)
from dualfold.graph.metrics import metric_distances, present_nearest
from dualfold.graph.neighbor_lists import recall_interval
from dualfold.graph.pieces import joining_n_neighbors, merge_graphs, one_piece, subgraph
from dualfold.graph.scan import scan_self
