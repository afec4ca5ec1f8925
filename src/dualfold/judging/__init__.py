"""Audits: a map, whoever made it, compared with its data.

found = dualfold.audit(X, Y)
print(found)
found.dubious, found.groups, found.paragraph
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.lazy_names import lazy_names

if TYPE_CHECKING:
    from dualfold.judging.audit_result import Audit
    from dualfold.judging.groups import Group, Pair
    from dualfold.judging.map_audit import audit
    from dualfold.judging.three_questions import map_verdict
    from dualfold.quality.map_verdict import MapVerdict

__all__ = ["Audit", "Group", "MapVerdict", "Pair", "audit", "map_verdict", "recommendation"]
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Audit": "audit_result",
        "Group": "groups",
        "MapVerdict": "three_questions",
        "Pair": "groups",
        "audit": "map_audit",
        "map_verdict": "three_questions",
    },
    rooms=("recommendation",),
)
