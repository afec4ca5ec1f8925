"""Audits: a map, whoever made it, compared with its data.

found = dualfold.audit(X, Y)
print(found)
found.dubious, found.groups, found.paragraph
"""

from dualfold.auditing.audit_result import Audit
from dualfold.auditing.groups import Group, Pair
from dualfold.auditing.map_audit import audit
from dualfold.auditing.three_questions import map_verdict
from dualfold.quality.map_verdict import MapVerdict

__all__ = [
    "Audit",
    "Group",
    "MapVerdict",
    "Pair",
    "audit",
    "map_verdict",
]
