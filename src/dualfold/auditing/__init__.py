"""Audits: a map, whoever made it, compared with its data.

    found = dualfold.audit(X, Y)
    print(found)
    found.dubious, found.groups, found.paragraph

What the functions share: x and y are the data and the map as `dualfold.quality` has them, `seed`
is that of samples and permutations, `codes` are numbers of groups (−1: none), `lists` the nearest
rows of each row, nearest first.
"""

from dualfold.auditing.audit_result import Audit
from dualfold.auditing.groups import Group, Pair
from dualfold.auditing.map_audit import audit
from dualfold.auditing.nearness import Nearness, Statement
from dualfold.auditing.place_mixture import TwoGroups, two_groups
from dualfold.auditing.point_reliability import Reliability, reliability
from dualfold.auditing.reruns import Impostors, Repeats
from dualfold.auditing.three_questions import map_verdict
from dualfold.auditing.valleys import Valley
from dualfold.quality.visible_groups import MapGroups, map_groups

__all__ = [
    "Audit",
    "Group",
    "Impostors",
    "MapGroups",
    "Nearness",
    "Pair",
    "Reliability",
    "Repeats",
    "Statement",
    "TwoGroups",
    "Valley",
    "audit",
    "map_groups",
    "map_verdict",
    "reliability",
    "two_groups",
]
