"""What a page says of an audit: cards, the list of groups, sentences. All of it JSON-ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualfold.auditing import Audit
from dualfold.auditing.words import said_of, statements_of

__all__ = ["GROUPS", "audit_content"]

# The column whose classes are the groups of the list.
GROUPS = "group on the map"


def audit_content(audit: Audit, colored: str, words: Mapping[str, str]) -> dict[str, Any]:
    """As `page_parts/audit.js` reads it.

    colored : the column of judgements; groups are named on the map where it is chosen
    words : verdict → its class in that column
    """
    groups = audit.groups if len(audit.groups) > 1 else ()
    return {
        "text": audit.verdict.removeprefix(str(audit.picture)).strip(),
        "paragraph": audit.paragraph,
        "cards": _cards(audit),
        "colored": colored,
        "column": GROUPS,
        "groups": [
            {
                "name": one.name,
                "size": one.size,
                "judged": words[one.verdict],
                "label": None if one.label is None else [one.label, one.label_share],
                "said": said_of(one),
            }
            for one in groups
        ],
        "statements": statements_of(audit),
    }


def _cards(audit: Audit) -> list[dict[str, str]]:
    """Label, term, value, note and look of each."""
    found = [_groups(audit), _points(audit), _dimension(audit)]
    if audit.impostors is not None:
        found.append(_anywhere(audit))
    keys = ("label", "term", "value", "note", "look")
    return [dict(zip(keys, one, strict=True)) for one in found]


def _groups(audit: Audit) -> tuple[str, ...]:
    label, term = "Are its groups real?", "group in the data"
    count, real = len(audit.groups), audit.count("group")
    if count < 2:
        return label, term, "no groups", "the map shows one cloud", ""
    said = [f"{'is a group' if real == 1 else 'are groups'} in the data, too"]
    for verdict, words in (
        ("torn", "torn off others"),
        ("scattered", "with neighbours elsewhere"),
        ("undecided", "undecided"),
    ):
        said += [f"{audit.count(verdict)} {words}"] if audit.count(verdict) else []
    joined = sum(one.verdict == "group" for one in audit.unions)
    if audit.unions:
        said.append(f"torn ones joined: {joined} of {len(audit.unions)}")
    look = "good" if real == count else "fair" if audit.supported else "bad"
    return label, term, f"{real} of {count}", "; ".join(said), look


def _points(audit: Audit) -> tuple[str, ...]:
    count, whole = int(audit.dubious.sum()), f"of {len(audit.points):,}"
    label, term = "Are points misplaced?", "dubious"
    if not count:
        return label, term, f"none {whole}", "no point is dubious", ""
    said = "is dubious: its place says" if count == 1 else "are dubious: their places say"
    about = "it" if count == 1 else "them"
    return label, term, f"{count:,} {whole}", f"{said} nothing about {about}", ""


def _dimension(audit: Audit) -> tuple[str, ...]:
    found, shown = audit.dimension, audit.points.shape[1]
    low, high = sorted(max(1, round(float(one))) for one in (found.two_nn, found.levina_bickel))
    value = f"about {found.value}" if found.agree else f"{low} to {high}"
    enough = found.value <= shown
    return (
        "How many dimensions?", "intrinsic dimension", value,
        f"in the data, {shown} on the map: "
        + ("enough for distances nearby" if enough else "distances cannot all be right"), "",
    )  # fmt: skip


def _anywhere(audit: Audit) -> tuple[str, ...]:
    assert audit.impostors is not None
    drawn = not audit.impostors.supported
    return (
        "Drawn anywhere?", "impostors", "yes" if drawn else "no",
        "the method draws groups as distinct where there are none" if drawn
        else "where there are none the method draws none as distinct", "bad" if drawn else "good",
    )  # fmt: skip
