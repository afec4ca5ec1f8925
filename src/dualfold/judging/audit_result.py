"""What an audit found: numbers, words, tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.judging.audit_text import finding_lines, group_text, paragraph_text, verdict_text
from dualfold.judging.groups import Group, Pair
from dualfold.judging.nearness import Nearness, NearnessStatement
from dualfold.judging.place_mixture import DUBIOUS_POSTERIOR, TwoGroups
from dualfold.judging.point_reliability import Reliability
from dualfold.judging.reruns import Impostors, Repeats
from dualfold.notebook import drawn_audit, shown_html
from dualfold.quality.dimension_estimates import Dimension
from dualfold.quality.estimate import MeasuredWeights, mean_over_rows
from dualfold.quality.picture import Picture
from dualfold.quality.visible_groups import MapGroups

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Audit"]


@dataclass(frozen=True, eq=False)
class Audit:
    """Result of an audit of a map; `print` it.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_components)
        The map.
    picture : Picture
        Share of neighbours kept, beside chance, with a grade.
    reliability : Reliability
        Score of every point, 0 (right) to 1, with its p-value.
    model : TwoGroups
        Mixture of right and random places; its `posterior` is that of a random place.
    map_groups : MapGroups
        The visible groups of the map.
    groups : tuple of Group
        What the data say of each visible group, the largest first.
    pairs : tuple of Pair
        What the data say of each pair of groups.
    nearness : Nearness
        Statements about three groups, each true, false or undecided in the data.
    dimension : Dimension
        Intrinsic dimension of the data.
    impostors : Impostors or None
        The method on data without groups; None where no method was given.
    repeats : Repeats or None
        The method with other seeds and on subsamples; None where no method was given.
    linked : int
        Number of rows whose links were counted for the groups.
    seconds : float
        Duration without impostors and repeats.
    labels : ndarray or None
        The labels as given.
    unions : tuple of Group
        Groups joined where the data have no border between them, judged again.
    notices : tuple of str
        What was decided about the columns of a data frame.
    weights : MeasuredWeights or None
        `shares`, how much each point counts, together 1, and `effective_rows`, how many points that
        count alike are as certain; None where all count alike.

    See Also
    --------
    dualfold.audit : Makes it.

    Examples
    --------
    >>> import numpy as np
    >>> import dualfold
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> found = dualfold.audit(X, X[:, :2])
    >>> int(found.dubious.sum()), found.supported
    (0, False)
    """

    points: Array
    picture: Picture
    reliability: Reliability
    model: TwoGroups
    map_groups: MapGroups
    groups: tuple[Group, ...]
    pairs: tuple[Pair, ...]
    nearness: Nearness
    dimension: Dimension
    impostors: Impostors | None
    repeats: Repeats | None
    linked: int
    seconds: float
    labels: Array | None = None
    unions: tuple[Group, ...] = ()
    notices: tuple[str, ...] = ()
    weights: MeasuredWeights | None = None

    @property
    def dubious(self) -> Array:
        """Points whose place is random with a posterior probability of at least 0.95.

        Returns
        -------
        ndarray of bool
            True for these points.
        """
        return self.model.dubious

    @property
    def share_dubious(self) -> float:
        """Share of dubious points.

        Returns
        -------
        float
            Their number divided by that of all points, or their share of all weights.
        """
        return float(mean_over_rows(self.dubious, self.weights))

    @property
    def supported(self) -> bool:
        """Whether the map shows groups and at least one of them is a group in the data.

        Groups that the map tore count joined (`unions`). False says that this was not shown, not
        that it is untrue. Impostors do not count: they tell whether gaps on maps by this method
        mean something, and groups of the data are there whichever method draws them.

        Returns
        -------
        bool
            True where a group of the map was found in the data.
        """
        return len(self.groups) > 1 and any(
            one.verdict == "group" for one in (*self.groups, *self.unions)
        )

    def count(self, verdict: str) -> int:
        """Number of groups with a verdict.

        Parameters
        ----------
        verdict : str
            One of "group", "torn", "scattered" and "undecided".

        Returns
        -------
        int
            How many of `groups` have it.
        """
        return Counter(one.verdict for one in self.groups)[verdict]

    def nearer(self, group: str, near: str, far: str) -> NearnessStatement:
        """The statement that a group lies nearer to one group than to another.

        Only what the map shows was judged: distances there must differ by a fifth.

        Parameters
        ----------
        group : str
            Name of the group.
        near : str
            Name of the group that is nearer on the map.
        far : str
            Name of the group that is farther on the map.

        Returns
        -------
        NearnessStatement
            Whether the statement is true in the data.

        Raises
        ------
        InvalidInput
            If the map does not show this.
        """
        for one in self.nearness.statements:
            if (one.group, one.near, one.far) == (group, near, far):
                return one
        raise InvalidInput(
            Argument("near"),
            f": the map does not say that {group} lies nearer to {near} than to {far}; the groups "
            f"are {', '.join(one.name for one in self.groups)}",
        )

    @property
    def verdict(self) -> str:
        """Findings in a few sentences.

        Returns
        -------
        str
            The sentences.
        """
        return verdict_text(self)

    @property
    def paragraph(self) -> str:
        """Paragraph for the methods section of a paper, with numbers and citations.

        Returns
        -------
        str
            One paragraph.
        """
        return paragraph_text(self)

    def __str__(self) -> str:
        parts = [[self.verdict], finding_lines(self), list(self.notices)]
        return "\n\n".join("\n".join(lines) for lines in parts if lines)

    def __repr__(self) -> str:
        n, many = len(self.groups), len(self.groups) > 1
        said = f"{n} groups on the map, {self.count('group')} in the data" if many else "no groups"
        return f"Audit({len(self.points)} points, {int(self.dubious.sum())} dubious; {said})"

    def _repr_html_(self) -> str:
        rows = [
            (one.title, f"{one.size:,}", group_text(one))
            for one in self.groups
            if len(self.groups) > 1
        ]
        return shown_html("May I believe this map?", self.verdict, rows, ("group", "points", ""))

    def plot(self, *, title: str = "") -> Figure:
        """Draw the map, coloured by the verdicts on its points, with the names of its groups.

        Parameters
        ----------
        title : str, default=""
            Text above the figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. `dualfold.view.page(audit, X)` is the same to explore.
        """
        return drawn_audit(self, title=title)

    def points_frame(self) -> pd.DataFrame:
        """A table with one row for each point.

        Returns
        -------
        pandas.DataFrame
            Group, score, p-value, posterior probability of a random place, and whether it is
            dubious.
        """
        import pandas as pd

        names = np.array([*(one.name for one in self.groups), ""], dtype=object)
        return pd.DataFrame(
            {
                "group": names[self.map_groups.codes],
                "score": self.reliability.scores,
                "p_value": self.reliability.p_values,
                "posterior_random": self.model.posterior,
                "dubious": self.dubious,
            }
        )

    def to_dict(self) -> dict[str, object]:
        """All findings, with the numbers of the dubious rows.

        Returns
        -------
        dict
            Ready for JSON.
        """
        dimension = self.dimension
        both = {"two_nn": dimension.two_nn, "levina_bickel": dimension.levina_bickel}
        false = self.nearness.count(False)
        return {
            "schema": "dualfold.audit/1",
            "rows": len(self.points),
            "coordinates": self.points.shape[1],
            "effective_rows": None if self.weights is None else self.weights.effective_rows,
            "verdict": self.verdict,
            "supported": self.supported,
            "picture": self.picture.to_dict(),
            "dubious": {
                "level": DUBIOUS_POSTERIOR,
                "share": self.share_dubious,
                "rows": np.flatnonzero(self.dubious).tolist(),
                "share_random": self.model.share_random,
                "can_tell": self.model.can_tell,
                "random_as_good": self.model.random_as_good,
                "expected_false": self.model.expected_false,
                "references": self.reliability.references,
                "permuted": len(self.reliability.random),
            },
            "groups": [one.to_dict() for one in self.groups],
            "unions": [one.to_dict() for one in self.unions],
            "pairs": [one.to_dict() for one in self.pairs],
            "linked": self.linked,
            "nearness": {
                "true": self.nearness.count(True),
                "false": false,
                "undecided": self.nearness.count(None),
                "statements": [one.to_dict() for one in self.nearness.statements],
            },
            "dimension": {"value": dimension.value, "agree": dimension.agree}
            | {name: [float(e), e.low, e.high] for name, e in both.items()},
            "impostors": None if self.impostors is None else self.impostors.to_dict(),
            "repeats": None if self.repeats is None else self.repeats.to_dict(),
            "paragraph": self.paragraph,
            "seconds": self.seconds,
            "notices": list(map(str, self.notices)),
        }
