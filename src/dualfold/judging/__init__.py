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
    from dualfold.judging.judgement import Judgement, map_judgement
    from dualfold.judging.map_audit import audit

__all__ = [
    "Audit",
    "Group",
    "Judgement",
    "Pair",
    "audit",
    "map_judgement",
    "recommendation",
]
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Audit": "audit_result",
        "Group": "groups",
        "Judgement": "judgement",
        "Pair": "groups",
        "audit": "map_audit",
        "map_judgement": "judgement",
    },
    rooms=("recommendation",),
)
