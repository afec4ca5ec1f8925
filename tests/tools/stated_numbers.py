"""Numbers with a unit that are no measurements: levels, limits, examples; and where texts may say so.

A page gives the reason beside its numbers, <!-- not measured: REASON -->. Docstrings and messages
have no comments; their numbers are listed here, as phrases, and so are words that pages share.
"""

from __future__ import annotations

import re

# A phrase (a regular expression) and what its number is.
STATED = {
    r"within 3 %": "the example of a proved gap",
    r"95 % intervals?|interval of 95 %|\(95 %|95 % of (?:such|the) intervals": "the level of intervals",
}


def without_stated(text: str) -> str:
    """The text without phrases that are no measurements."""
    for phrase in STATED:
        text = re.sub(phrase, lambda found: re.sub(r"\d", "#", found[0]), text)
    return text
