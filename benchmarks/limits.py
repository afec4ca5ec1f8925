"""For rows that are not met: what limits them, found with a profile. Shown in the table."""

from __future__ import annotations

# case → one sentence. Kept by hand after a full run; a row that is met does not show it.
LIMITS: dict[str, str] = {}
