"""An audit to look at: one figure, one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.judging import Audit
from dualfold.judging.audit_text import group_text, statement_lines
from dualfold.quality.picture import percent
from dualfold.view.drawing import INK_COLOR
from dualfold.view.figures import map_figure
from dualfold.view.page import PageContent
from dualfold.view.page_map import Map, measured_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["audit_columns", "audit_content", "audit_figure"]

# Of each verdict on a group, its class in the column of judgements.
_VERDICT_WORDS = {
    "group": "group in the data, too",
    "torn": "torn off another group",
    "scattered": "neighbours elsewhere",
    "undecided": "undecided",
}
# One colour for each, whichever a map has: blue, orange, green, pink, red, light blue, purple.
_JUDGEMENT_ORDER = (
    _VERDICT_WORDS["group"],
    _VERDICT_WORDS["undecided"],
    "not dubious",
    _VERDICT_WORDS["scattered"],
    _VERDICT_WORDS["torn"],
    "in no group",
    "dubious point",
)
_JUDGEMENT_COLUMN = "audit"
# The column whose classes are the groups of the list.
_GROUP_COLUMN = "group on the map"


def judgements(audit: Audit) -> Array:
    """The judgement of each point, in a few words: of itself, else of its group."""
    if len(audit.groups) < 2:
        words = np.full(len(audit.points), "not dubious", dtype=object)
    else:
        said = np.array(
            [_VERDICT_WORDS[one.verdict] for one in audit.groups] + ["in no group"], object
        )
        words = said[audit.map_groups.codes]
    words[audit.dubious] = "dubious point"
    return words


def audit_columns(audit: Audit) -> dict[str, object]:
    """Columns for a page: the judgement, the group, the posterior, and labels if there are any."""
    names = np.array([*(one.name for one in audit.groups), ""], dtype=object)
    columns: dict[str, object] = {
        _JUDGEMENT_COLUMN: judgements(audit),
        _GROUP_COLUMN: names[audit.map_groups.codes],
    }
    if audit.labels is not None:
        columns["label"] = audit.labels
    columns["posterior of a random place"] = audit.model.posterior
    return columns


def audit_figure(audit: Audit, *, title: str = "", verdict: str | None = None) -> Figure:
    """The map, coloured by what the audit says, with the names of its groups.

    audit : what `dualfold.audit` returned
    verdict : a line under it (None: points and groups in numbers)
    """
    if verdict is None:
        verdict = (
            f"{int(audit.dubious.sum()):,} of {len(audit.points):,} points dubious; "
            f"{audit.count('group')} of {len(audit.groups)} groups are groups in the data"
        )
    shown = audit.points[:, :2] if audit.points.shape[1] > 2 else audit.points
    figure = map_figure(
        shown, judgements(audit), title=title, verdict=verdict, classes=_JUDGEMENT_ORDER
    )
    if shown.shape[1] == 2 and len(audit.groups) > 1:
        axes = figure.axes[0]
        for code, one in enumerate(audit.groups):
            x, y = np.median(shown[audit.map_groups.codes == code], axis=0)
            frame = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75}
            axes.text(
                x,
                y,
                one.name,
                ha="center",
                va="center",
                fontsize=9,
                weight="bold",
                color=INK_COLOR,
                bbox=frame,
            )
    return figure


def audit_content(
    audit: Audit, X: Any, *, name: str = "map", metric: Any = "euclidean"
) -> PageContent:
    """Content of a page of an audit: the map, its dubious points and groups in colours.

    audit, X : what `dualfold.audit` returned, and the data of the map
    name : of the map, on its tab
    metric : of the data

    `dataclasses.replace` adds to it what a `PageContent` can show besides.
    """
    weights = None if audit.weights is None else audit.weights.shares
    return PageContent(
        [measured_map(Map(name, audit.points), X, metric=metric, sample_weight=weights)],
        title="audit",
        columns=audit_columns(audit),
        notes=audit.notices,
        classes={_JUDGEMENT_COLUMN: _JUDGEMENT_ORDER},
        audit=_audit_json(audit),
    )


def _audit_json(audit: Audit) -> dict[str, object]:
    """As `page_parts/audit.js` reads it."""
    groups = audit.groups if len(audit.groups) > 1 else ()
    return {
        "text": audit.verdict.removeprefix(str(audit.picture)).strip(),
        "paragraph": audit.paragraph,
        "cards": _cards(audit),
        "colored": _JUDGEMENT_COLUMN,
        "column": _GROUP_COLUMN,
        "groups": [
            {
                "name": one.name,
                "size": one.size,
                "judged": _VERDICT_WORDS[one.verdict],
                "label": None if one.label is None else [one.label, one.label_share],
                "said": group_text(one),
            }
            for one in groups
        ],
        "statements": statement_lines(audit),
    }


def _cards(audit: Audit) -> list[dict[str, str]]:
    """Label, term, value, note and look of each."""
    found = [_group_card(audit), _point_card(audit), _dimension_card(audit)]
    if audit.impostors is not None:
        found.append(_impostor_card(audit))
    keys = ("label", "term", "value", "note", "look")
    return [dict(zip(keys, one, strict=True)) for one in found]


def _group_card(audit: Audit) -> tuple[str, ...]:
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


def _point_card(audit: Audit) -> tuple[str, ...]:
    count, whole = int(audit.dubious.sum()), f"of {len(audit.points):,}"
    label, term = "Are points misplaced?", "dubious"
    if not audit.model.can_tell:
        alike = f"a random place is as good for {percent(audit.model.random_as_good)} of them"
        return label, term, "cannot be told", alike, ""
    if not count:
        return label, term, f"none {whole}", "no point is dubious", ""
    said = "is dubious: its place says" if count == 1 else "are dubious: their places say"
    about = "it" if count == 1 else "them"
    return label, term, f"{count:,} {whole}", f"{said} nothing about {about}", ""


def _dimension_card(audit: Audit) -> tuple[str, ...]:
    found, shown = audit.dimension, audit.points.shape[1]
    low, high = sorted(max(1, round(float(one))) for one in (found.two_nn, found.levina_bickel))
    value = f"about {found.value}" if found.agree else f"{low} to {high}"
    enough = found.value <= shown
    note = "enough for distances nearby" if enough else "distances cannot all be right"
    note = f"in the data, {shown} on the map: {note}"
    return "How many dimensions?", "intrinsic dimension", value, note, ""


def _impostor_card(audit: Audit) -> tuple[str, ...]:
    assert audit.impostors is not None
    if audit.impostors.supported:
        value, note, look = "no", "where there are none the method draws none as distinct", "good"
    else:
        value, note, look = "yes", "the method draws groups as distinct where there are none", "bad"
    return "Drawn anywhere?", "impostors", value, note, look
