"""For rows that are not met: what limits them, found with a profile. Shown in the table."""

from __future__ import annotations

# case → one sentence. Kept by hand after a full run; a row that is met does not show it.
LIMITS: dict[str, str] = {
    "pca-mnist": "the scatter takes 0.25 s (the bare XᵀX 0.22), the eigen-solve 0.06 on one "
    "thread, the projection 0.06, the certificate 0.025, the check that X is finite 0.025; "
    "scikit-learn has no certificate to make, takes no mean off and sums all rows in float32. "
    "Beside other busy processes, where its threads wait for one another, it took 1.1 to 10 "
    "times as long as ours",
}
