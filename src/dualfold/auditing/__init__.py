"""Judge anybody's map against its data.

    found = dualfold.audit(X, Y)
    print(found)
    found.dubious, found.groups, found.paragraph

What the functions share: x and y are the data and the map as `dualfold.quality` has them, `seed`
is that of samples and permutations, `codes` are numbers of groups (−1: none), `lists` the nearest
rows of each row, nearest first.
"""

from dualfold.auditing.audit import audit
from dualfold.auditing.density import MapGroups, map_groups
from dualfold.auditing.groups import Group, Pair
from dualfold.auditing.nearness import Nearness, Statement
from dualfold.auditing.reliability import Reliability, reliability
from dualfold.auditing.repeats import Impostors, Repeats
from dualfold.auditing.result import Audit
from dualfold.auditing.two_groups import TwoGroups, two_groups
from dualfold.auditing.valleys import Cut

__all__ = [
    "Audit",
    "Cut",
    "Group",
    "Impostors",
    "MapGroups",
    "Nearness",
    "Pair",
    "Reliability",
    "Repeats",
    "Statement",
    "TwoGroups",
    "audit",
    "map_groups",
    "reliability",
    "two_groups",
]
