"""For rows that are not met: what limits them, found with a profile. Shown in the table."""

from __future__ import annotations

# case → one sentence. Kept by hand after a full run; a row that is met does not show it.
LIMITS: dict[str, str] = {
    "pca-mnist": "warm, 0.53 s: the scatter of the shifted rows takes 0.32 (the bare XᵀX 0.27; "
    "the rest is the mean and the shift), the projection, made in float64, 0.10, the "
    "eigen-solve 0.06, the certificate 0.02; the first fit of a process adds 0.09, most of it "
    "the search for the BLAS library whose threads are to be set",
    "isomap-mnist": "scikit-learn took 24 s here, not the 40 of the plan; of our 3.3 s the "
    "neighbours take 0.8, geodesics and centring of the 10,000² float32 matrix 1.7, solving 0.3 "
    "and proving 0.4, the last three bound by memory traffic",
}
