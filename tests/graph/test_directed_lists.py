"""Terminal components of directed lists, against reachability."""

from __future__ import annotations

import numpy as np

from dualfold.graph import knn
from dualfold.graph.directed_lists import terminal_components


def test_terminal_components_of_a_real_graph_against_reachability():
    rng = np.random.default_rng(7)
    lists = knn(rng.standard_normal((60, 2)), 2).lists
    reach = np.eye(60, dtype=bool)
    reach[np.repeat(np.arange(60), 2), lists.indices] = True
    for k in range(60):
        reach |= np.outer(reach[:, k], reach[k])
    terminal = [bool(np.all(reach[reach[i], i])) for i in range(60)]
    group = terminal_components(lists)
    np.testing.assert_array_equal(group >= 0, terminal)
    for i in np.flatnonzero(terminal):
        np.testing.assert_array_equal(group == group[i], reach[i])
