"""An audit to look at: one figure, one page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.arrays import Array
from dualfold.auditing import Audit
from dualfold.view.figures import map_figure
from dualfold.view.page import Page, make_page, measured_map
from dualfold.view.page_audit import GROUPS, audit_content
from dualfold.view.page_size import MOST_MB

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["audit_columns", "audit_figure", "audit_page", "write_audit_page"]

_WORDS = {
    "group": "group in the data, too",
    "torn": "torn off another group",
    "scattered": "neighbours elsewhere",
    "undecided": "undecided",
}
# One colour for each, whichever a map has: blue, orange, green, pink, red, light blue, purple.
_ORDER = (
    _WORDS["group"], _WORDS["undecided"], "not dubious", _WORDS["scattered"], _WORDS["torn"],
    "in no group", "dubious point",
)  # fmt: skip
_JUDGED = "audit"


def judgements(audit: Audit) -> Array:
    """What is said of each point, in a few words: of itself, else of its group."""
    if len(audit.groups) < 2:
        words = np.full(len(audit.points), "not dubious", dtype=object)
    else:
        said = np.array([_WORDS[one.verdict] for one in audit.groups] + ["in no group"], object)
        words = said[audit.map_groups.codes]
    words[audit.dubious] = "dubious point"
    return words


def audit_columns(audit: Audit) -> dict[str, Any]:
    """Columns for a page: the judgement, the group, the posterior, and labels if there are any."""
    names = np.array([*(one.name for one in audit.groups), ""], dtype=object)
    columns: dict[str, Any] = {_JUDGED: judgements(audit), GROUPS: names[audit.map_groups.codes]}
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
    figure = map_figure(shown, judgements(audit), title=title, verdict=verdict, classes=_ORDER)
    if shown.shape[1] == 2 and len(audit.groups) > 1:
        axes = figure.axes[0]
        for code, one in enumerate(audit.groups):
            x, y = np.median(shown[audit.map_groups.codes == code], axis=0)
            axes.text(
                x, y, one.name, ha="center", va="center", fontsize=9, weight="bold",
                color="#222222",
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75},
            )  # fmt: skip
    return figure


def write_audit_page(
    path: str | os.PathLike[str],
    audit: Audit,
    X: Any,
    *,
    name: str = "map",
    columns: Any = None,
    features: Any = None,
    names: Any = None,
    title: str = "audit",
    metric: Any = "euclidean",
    notes: Sequence[str] | None = None,
    overwrite: bool = False,
) -> None:
    """One HTML file with the map, its dubious points and groups in colours.

    path : of the file; one that is there is replaced only with overwrite=True
    audit, X : what `dualfold.audit` returned, and the data it was asked about
    name : of the map, on its tab
    columns : further columns to colour by, a DataFrame or name → one value for each row
    features : the table itself, to colour by and compare, as for `dualfold.view.make_page`
    names, title : one for each row, to search for; of the page
    metric : of the data
    notes : sentences about how the table was read (None: the audit's own)
    """
    page = audit_page(
        audit, X, name=name, columns=columns, features=features, names=names, title=title,
        metric=metric, notes=notes,
    )  # fmt: skip
    page.write(path, overwrite=overwrite)


def audit_page(
    audit: Audit,
    X: Any,
    *,
    name: str = "map",
    columns: Any = None,
    features: Any = None,
    names: Any = None,
    title: str = "audit",
    metric: Any = "euclidean",
    notes: Sequence[str] | None = None,
    most_mb: float | None = MOST_MB,
) -> Page:
    """The page of an audit, ready to be written.

    `audit`, `X`, `name`, `columns`, `features`, `names`, `title`, `metric` and `notes` are those
    of `write_audit_page`, `most_mb` is that of `make_page`.
    """
    given = columns.items() if hasattr(columns, "items") else ()
    whole = audit_columns(audit) | {str(key): values for key, values in given}
    shown = measured_map(name, X, audit.points, metric=metric)
    return make_page(
        [shown], title=title, columns=whole, features=features, names=names, most_mb=most_mb,
        notes=audit.notices if notes is None else notes,
        classes={_JUDGED: _ORDER}, audit=audit_content(audit, _JUDGED, _WORDS),
    )  # fmt: skip
