"""Names inside the room that its tests need, each with its reason.

Valleys, mixtures of p-values, statements about distances and names are held to simulations, brute
force and formulas on data that no map shows; everything else is tested by the public names of
`dualfold.judging`.
"""

from __future__ import annotations

import numpy as np

from dualfold.judging.column_differences import group_differences
from dualfold.judging.groups import Group, LinkedGroups, _inside, groups_with_verdicts
from dualfold.judging.judgement import Judgement, mean_judgement
from dualfold.judging.map_meaning import map_meaning
from dualfold.judging.named_groups import NamedGroup, NamedGroups
from dualfold.judging.nearness import Nearness, NearnessStatement, nearness
from dualfold.judging.nested_groups import nested_groups
from dualfold.judging.place_mixture import SMALLEST_POWER, _fit_mixture, two_groups
from dualfold.judging.point_reliability import reliability
from dualfold.judging.recommendation.questions import best_for_groups
from dualfold.judging.recommendation.recommendation import Recommendation
from dualfold.judging.recommendation.short_cuts import NeighborScan, ScanRow
from dualfold.judging.recommendation.trial import Candidate, candidate_on_subsamples
from dualfold.judging.reruns import impostors, method_runner, repeats
from dualfold.judging.term_names import telling_terms
from dualfold.judging.valleys import (
    LINKS_PER_POINT,
    Valley,
    _chance,
    _distance_at_threshold,
    half_valley,
    valley_between,
)
from dualfold.quality.column_directions import ColumnDirection
from dualfold.quality.dimension_estimates import levina_bickel, two_nn
from dualfold.quality.estimate import Estimate
from dualfold.quality.map_layout import Layout, layout_of
from dualfold.quality.picture import Picture
from dualfold.quality.ranks import picture_of
from dualfold.quality.space import EuclideanSpace, space_of, subspace
from dualfold.quality.visible_groups import MapGroups, map_groups
from dualfold.view.group_labels import draw_group_names, untested_note


def groups_with(*findings: str, n_rows: int = 500, untested: str = "") -> NamedGroups:
    """Groups of equal size with these findings of their tests."""
    parts = np.array_split(np.arange(n_rows), max(1, len(findings)))
    groups = [
        NamedGroup(letter, rows, finding=finding)
        for letter, rows, finding in zip("ABCDEFGH", parts, findings, strict=False)
    ]
    return NamedGroups(tuple(groups), n_rows, 0 if untested else n_rows, untested)
