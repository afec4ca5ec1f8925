"""Numbers with a unit that are no measurements, as phrases that docstrings, help and pages share.

A page can also say it beside the number: <!-- not measured: WHAT IT IS -->.
"""

from __future__ import annotations

import re

# A phrase (a regular expression; a space is any white space) and what its number is.
STATED = {
    r"within (3|12) %|at most 3 % worse": "the example of a proved gap",
    r"95 % intervals?|\(95 %: ": "the level of an interval",
    r"auto\W+90 % of the variance": "a parameter",
    r"largest piece holds 90 % of": "a parameter",
    r"1 % of the rows hold most of": "a rule of how tables are read",
    r"rare levels \(p below 1 %\)": "an order of magnitude",
    r"no more than 2 GiB of": "a limit",
    r"memory_limit=.2GB.|as .?2GB|--memory-limit 2GB": "an example of an argument",
    r"about once in 20 times": "the level 0.05 in words",
    r"all 800 times smaller|1\.5 times what a power iteration": "arithmetic of the estimate",
}


def without_stated(text: str) -> str:
    """The text without the digits of phrases that are no measurements."""
    for phrase in STATED:
        anywhere = phrase.replace(" ", r"\s+")
        text = re.sub(anywhere, lambda found: re.sub(r"\d", "#", found[0]), text)
    return text
