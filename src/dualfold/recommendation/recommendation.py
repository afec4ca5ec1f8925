"""What to do with a table: dimension, neighbours and method, each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.data.prepared import Prepared, prepare
from dualfold.data.reading import PLAIN_READING
from dualfold.data.row_weights import present_rows, validated_weights
from dualfold.descriptions import DESCRIPTIONS
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.number_rows import rows_in_units
from dualfold.inputs import random_generator
from dualfold.notebook import shown_html
from dualfold.quality.dimension_estimates import Dimension, intrinsic_dimension
from dualfold.quality.estimate import Estimate
from dualfold.quality.picture import MIN_FAIR_SHARE
from dualfold.recommendation.questions import (
    QUESTION_WORDS,
    QUESTIONS,
    best_for_groups,
    best_for_order,
    refuse_unknown_question,
)
from dualfold.recommendation.short_cuts import NeighborScan, neighbor_scan, number_list, worst_of
from dualfold.recommendation.trial import (
    TIE_TOLERANCE,
    Candidate,
    candidate_on_subsamples,
    subsamples,
    unfitted_estimator,
    winner,
    with_shuffled,
)

__all__ = ["Recommendation", "recommend"]

# Simpler methods first: of equally good ones the first is taken.
DEFAULT_METHODS = ("pca", "isomap", "eigenmaps", "lle", "tsne")
MAX_SUBSAMPLE_ROWS = 800
N_SUBSAMPLES = 5
MAX_DIMENSION_ROWS = 2_000
MIN_ROWS = 40


@dataclass(frozen=True)
class Recommendation:
    """Which method, with how many neighbours, and whether the data decide; `print` it.

    Attributes
    ----------
    dimension : Dimension
        Intrinsic dimension of the data, by two estimates.
    neighbors : NeighborScan
        Scan over numbers of neighbours.
    candidates : tuple of Candidate
        The methods, the recommended one first.
    votes : tuple of str
        The choice of each subsample: the simplest of the stable methods that keep as many
        neighbours as the best of these, to 0.03.
    n_components : int
        Number of coordinates of the maps that were judged.
    n : int
        Number of rows.
    sampled : int
        Number of rows of a subsample.
    seconds : float
        Duration of the recommendation.
    notices : tuple of str
        What was decided about the columns of a data frame.
    order : tuple of str
        Names of the methods as they were given, simpler ones first.
    question : str
        What the method is recommended for: "neighbours" (who is near whom), "order" (overall order)
        or "groups".

    See Also
    --------
    recommend : Makes it.

    Examples
    --------
    >>> import dualfold
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(40, random_state=0).points
    >>> found = dualfold.recommend(X, methods=("pca",))
    >>> found.estimator()
    PCA(n_components=2, random_state=0)
    """

    dimension: Dimension
    neighbors: NeighborScan
    candidates: tuple[Candidate, ...]
    votes: tuple[str, ...]
    n_components: int
    n: int
    sampled: int
    seconds: float
    notices: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    question: str = QUESTIONS[0]

    @property
    def answers(self) -> dict[str, Candidate | None]:
        """For each question the method that answers it best.

        Returns
        -------
        dict
            Questions and candidates; None where no method answers a question.
        """
        order = self.order or tuple(one.method for one in self.candidates)
        simple = sorted(self.candidates, key=lambda one: order.index(one.method))
        near = self.candidates[0] if self.question == "neighbours" else winner(simple)
        good = near.mean_kept >= MIN_FAIR_SHARE
        return {
            "neighbours": near if good else None,
            "order": best_for_order(simple),
            "groups": best_for_groups(simple),
        }

    @property
    def method(self) -> str:
        """Name of the recommended method.

        Returns
        -------
        str
            The name, as on the command line.
        """
        return self.candidates[0].method

    @property
    def decided(self) -> bool:
        """Whether the data speak for the recommended method, and not only its place in the list.

        In every subsample no other method keeps more neighbours (to 0.03), and it keeps more than
        each simpler one (the simplest: than each other one), and than with shuffled columns.

        Returns
        -------
        bool
            True where the data decide.
        """
        return not self._doubt

    @property
    def simpler(self) -> tuple[Candidate, ...]:
        """Methods with a map that stand before the recommended one in the list.

        Returns
        -------
        tuple of Candidate
            These methods.
        """
        order = self.order or tuple(one.method for one in self.candidates)
        before = order[: order.index(self.method)]
        return tuple(one for one in self.candidates[1:] if one.kept and one.method in before)

    @property
    def rivals(self) -> tuple[Candidate, ...]:
        """Methods that the recommended one must exceed.

        Returns
        -------
        tuple of Candidate
            The simpler ones, or all others if it is the simplest.
        """
        return self.simpler or tuple(one for one in self.candidates[1:] if one.kept)

    @property
    def _doubt(self) -> str:
        """Why the data do not decide; "" where they do."""
        if self.question != "neighbours":
            shown = self.answers[self.question] is self.candidates[0]
            return "" if shown else f"no method shows {QUESTION_WORDS[self.question]}"
        if self._doubt_of_data or self.candidates[0].exceeds_shuffled or not self.rivals:
            return self._doubt_of_data
        return f"{self.method} keeps hardly more neighbours than with shuffled columns"

    @property
    def _doubt_of_data(self) -> str:
        """The same from the data alone, without shuffled columns."""
        best, runs = self.candidates[0], len(self.votes)
        counts = Counter(self.votes).most_common()
        if len(counts) > 1:
            chosen = ", ".join(f"{name} in {times}" for name, times in counts)
            return f"of {runs} subsamples, the choice is {chosen}"
        for one in self.candidates[1:]:
            if best.is_exceeded_by(one):
                but = "" if one.stable else ", though two samples give different maps of it"
                return f"{one.method} keeps more neighbours than {best.method}{but}"
        for one in self.rivals:
            if not best.exceeds(one):
                return f"{best.method} does not clearly keep more neighbours than {one.method}"
        return ""

    def with_shuffled_columns(
        self, X: Any, parts: Sequence[Array], seed: int, weights: Array | None = None
    ) -> Recommendation:
        """The recommendation with maps of shuffled columns, where the decision depends on them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        parts : sequence of ndarray of int
            Row numbers of each subsample.
        seed : int
            Seed of the permutations.
        weights : ndarray of shape (n_samples,) or None, default=None
            How much each row counts; None: all alike.

        Returns
        -------
        Recommendation
            The same, with the control.
        """
        if self.question != "neighbours" or self._doubt_of_data or not self.rivals:
            return self
        first, *others = self.candidates
        counts = self.n_components, self.n_neighbors
        first = with_shuffled(first, X, parts, counts, seed, weights)
        return replace(self, candidates=(first, *others))

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours of the graph, where the method has one.

        Returns
        -------
        int
            The number.
        """
        return self.neighbors.best_n_neighbors

    def estimator(self) -> Any:
        """The recommended estimator, not fitted.

        Returns
        -------
        estimator
            With the recommended parameters.
        """
        return unfitted_estimator(self.method, self.n_components, self.n_neighbors)

    def reason(self, one: Candidate) -> str:
        """Why a candidate is where it is.

        Parameters
        ----------
        one : Candidate
            One of `candidates`.

        Returns
        -------
        str
            The reason in words.
        """
        first = self.candidates[0]
        if not one.kept:
            return f"no map: {one.trouble}"
        if self.question != "neighbours":
            return "" if one.shown is None else one.shown.headline
        if one is first:
            return self._reason_of_first()
        if not one.stable:
            return "two samples give different maps"
        if one.mean_kept < first.mean_kept - TIE_TOLERANCE:
            times = first.mean_kept / max(one.mean_kept, 1e-3)
            more = f"{times:.1f} times as many" if 1.1 <= times <= 100 else "more"
            return f"{first.method} keeps {more} neighbours beyond chance"
        simpler = one in self.simpler
        why = "was chosen in more subsamples" if simpler else "is simpler"
        amount = "more" if one.mean_kept > first.mean_kept + TIE_TOLERANCE else "as many"
        as_first = "than" if amount == "more" else "as"
        return f"keeps {amount} neighbours {as_first} {first.method}, which {why}"

    def _reason_of_first(self) -> str:
        first = self.candidates[0]
        best = max(self.candidates, key=lambda other: other.mean_kept)
        if best is first:
            return "keeps most neighbours"
        if best.mean_kept <= first.mean_kept + TIE_TOLERANCE and best not in self.simpler:
            return f"keeps as many neighbours as {best.method}, and is simpler"
        if not best.stable:
            return f"{best.method} keeps more neighbours, but two samples give different maps of it"
        return "no method was chosen in more subsamples"

    @property
    def verdict(self) -> str:
        """The answer, and whether the data decide.

        Returns
        -------
        str
            A few sentences.
        """
        best, runs = self.candidates[0], len(self.votes)
        good = f"{100 * best.mean_kept:.0f} % of the neighbours beyond chance{self._expectation}"
        if self.question != "neighbours":
            return self._verdict_of_question()
        if self._doubt:
            text = f"The data do not decide: {self._doubt}. Take {best.method}; it keeps {good}."
        elif not self.rivals:
            text = f"{best.method}: the only method that gives a map; it keeps {good}."
        else:
            names = number_list([one.method for one in self.rivals])
            others = [one for one in self.candidates[1:] if one.kept and one not in self.rivals]
            equal = f", and no other method keeps more (to {TIE_TOLERANCE})" if others else ""
            text = (
                f"{best.method}: in all {runs} subsamples it keeps more neighbours than {names}"
                f"{equal}; it keeps {good}, with shuffled columns {100 * best.mean_shuffled:.0f} %."
            )
        if max(one.mean_kept for one in self.candidates) < MIN_FAIR_SHARE:
            plural = "" if self.n_components == 1 else "s"
            where = f"in {self.n_components} dimension{plural}"
            text = f"No method makes a good picture {where}. {text}"
        return text

    @property
    def _expectation(self) -> str:
        """What may be expected of all rows, where they are many more than in a subsample."""
        found = self.candidates[0].expected_kept(self.n, self.sampled)
        if not isinstance(found, Estimate):
            return ""
        low, high = (f"{100 * end:.0f}" for end in (found.low, found.high))
        return f" in subsamples of {self.sampled} rows (of all {self.n:,} expect {low} to {high} %)"

    def _verdict_of_question(self) -> str:
        best, words = self.candidates[0], QUESTION_WORDS[self.question]
        if self._doubt:
            return f"No method shows {words}. Take {best.method}, which is the simplest."
        return f"{best.method}, for {words}: its map of {self.sampled} rows {_shows(best)}."

    @property
    def answer_lines(self) -> list[str]:
        """For each question the method that answers it.

        Returns
        -------
        list of str
            One line for each question.
        """
        found = []
        for question, one in self.answers.items():
            words = "no method" if one is None else f"{one.method} {_number(question, one)}"
            found.append(f"For {QUESTION_WORDS[question]}: {words}.")
        return found

    def __str__(self) -> str:
        lines = [
            self.verdict,
            *self.answer_lines,
            f"Intrinsic dimension: {self.dimension}.",
            f"Graph: {self.neighbors}.",
            "",
            f"{'method':<11} {'kept':>6} {'order':<10} {'groups':>8} {'stability':>9}",
        ]
        for one in self.candidates:
            groups = (
                "" if one.shown is None else f"{one.groups_found} of {one.shown.groups.visible}"
            )
            numbers = (
                f"{one.mean_kept:6.2f} {one.order_grade:<10} {groups:>8} {one.stability:9.2f}"
                if one.kept
                else " " * 36
            )
            lines.append(f"{one.method:<11} {numbers}  {self.reason(one)}")
        return "\n".join([*lines, *(["", *self.notices] if self.notices else [])])

    def __repr__(self) -> str:
        sure = "decided" if self.decided else "not decided"
        return f"Recommendation({self.method}, {sure}; {self.n} rows)"

    def _repr_html_(self) -> str:
        words = f"{self.verdict} Intrinsic dimension: {self.dimension}. Graph: {self.neighbors}."
        rows = [
            (one.method, f"{one.mean_kept:.2f}" if one.kept else "", self.reason(one))
            for one in self.candidates
        ]
        heads = ("method", "neighbours kept beyond chance", "why")
        words = " ".join([words, *(f"{notice}." for notice in self.notices)])
        return shown_html("Which method?", words, rows, heads)

    def to_dict(self) -> dict[str, Any]:
        """The answers with their numbers.

        Returns
        -------
        dict
            Ready for JSON.
        """
        both = {"two_nn": self.dimension.two_nn, "levina_bickel": self.dimension.levina_bickel}
        return {
            "schema": "dualfold.recommendation/1",
            "method": self.method,
            "n_neighbors": self.n_neighbors,
            "n_components": self.n_components,
            "decided": self.decided,
            "votes": list(self.votes),
            "verdict": self.verdict,
            "dimension": {"value": self.dimension.value, "agree": self.dimension.agree}
            | {name: [float(e), e.low, e.high] for name, e in both.items()},
            "neighbors": [vars(row) | {"usable": row.usable} for row in self.neighbors.rows],
            "candidates": [self._candidate_dict(one) for one in self.candidates],
            "question": self.question,
            "answers": {
                question: None if one is None else one.method
                for question, one in self.answers.items()
            },
            "rows": self.n,
            "sampled": self.sampled,
            "seconds": self.seconds,
            "notices": list(map(str, self.notices)),
        }

    def _candidate_dict(self, one: Candidate) -> dict[str, Any]:
        expected = one.expected_kept(self.n, self.sampled)
        limits = [getattr(expected, "low", expected), getattr(expected, "high", expected)]
        return vars(one) | {
            "shown": None if one.shown is None else one.shown.to_dict(),
            "mean_kept": one.mean_kept,
            "expected_kept": [float(expected), *map(float, limits)],
            "reason": self.reason(one),
        }


def _shows(one: Candidate) -> str:
    """What a candidate's map shows, as the end of a sentence."""
    assert one.shown is not None
    text = one.shown.headline.rstrip(".")
    return text[0].lower() + text[1:]


def _number(question: str, one: Candidate) -> str:
    """By how much a candidate answers a question."""
    if question == "neighbours":
        return f"(keeps {100 * one.mean_kept:.0f} % beyond chance)"
    assert one.shown is not None
    if question == "order":
        return f"({one.order_grade})"
    return f"({one.groups_found} of {one.shown.groups.visible} visible ones)"


def recommend(
    X: Any,
    *,
    n_components: int = 2,
    methods: Sequence[str] = DEFAULT_METHODS,
    question: str = QUESTIONS[0],
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Recommendation:
    """Recommend a method for a table, by trying several on subsamples.

    It estimates the intrinsic dimension, rejects numbers of neighbours with short cuts in any
    subsample, and runs each method on five subsamples of up to 800 rows. Maps are judged by the
    neighbours that they keep beyond chance, by distances, and by whether two subsamples give the
    same map. Of methods that are equal within 0.03 the simpler one is taken.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Prepared
        Data, 40 rows or more. A data frame is prepared as files are. Where cells were filled in,
        each subsample is judged on a plausible filling.
    n_components : int ≥ 1, default=2
        Number of coordinates of the map.
    methods : sequence of str, default=("pca", "isomap", "eigenmaps", "lle", "tsne")
        Names as on the command line, simpler ones first.
    question : {"neighbours", "order", "groups"}, default="neighbours"
        What the map is for: who is near whom, overall order, or groups.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How much each row counts, 0 or more; None: all alike, or the weights of a `Prepared`. Fits
        that take weights or masses get them, neighbours kept and stability are weighted means over
        rows, and rows of weight 0 are left out. Order and groups count every row once.
    random_state : int, default=0
        Seed of the subsamples.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    Recommendation
        `print` it; `method` and `n_neighbors` are the answer, `decided` says whether the data
        decide, `estimator()` makes the estimator.

    Raises
    ------
    InvalidInput
        If there are too few rows, a method or a question is unknown, or no method gives a map.

    See Also
    --------
    dualfold.explore : Makes the map, too, with `method="auto"`.

    Notes
    -----
    The data decide if all five subsamples choose the same method, no other method keeps more
    neighbours, and the method keeps more than the simpler ones do and more than on shuffled
    columns. Tables of noise decide for no method, except about 1 in 20 (docs/calibration.md). It
    takes seconds.

    Examples
    --------
    >>> import dualfold
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(60, random_state=0).points
    >>> found = dualfold.recommend(X, methods=("pca", "isomap"))
    >>> found.method
    'isomap'
    """
    begin = perf_counter()
    given = X.weights if sample_weight is None and isinstance(X, Prepared) else sample_weight
    X, tables, notices = _with_judges(X)
    X, tables, weights = _counting_rows(X, tables, given)
    _refuse_unsuitable(X, n_components, "" if given is None else " with a weight above 0")
    _refuse_unknown(methods)
    refuse_unknown_question(question)
    n = X.shape[0]
    parts, core = subsamples(n, MAX_SUBSAMPLE_ROWS, N_SUBSAMPLES, random_state)
    dimension = intrinsic_dimension(
        _dimension_rows(tables[0], random_state), random_state=random_state
    )
    scans = [
        neighbor_scan(tables[0][rows], random_state=random_state, n_jobs=n_jobs) for rows in parts
    ]
    scan = worst_of(scans)
    found = [
        candidate_on_subsamples(
            name,
            X,
            parts,
            core,
            n_components,
            scan.best_n_neighbors,
            judges=tables,
            weights=weights,
        )
        for name in methods
    ]
    if not any(one.kept for one in found):
        raise InvalidInput("no method gave a map of the subsamples: " + found[0].trouble)
    votes = tuple(winner(found, run).method for run in range(N_SUBSAMPLES))
    first = _best_for(question, found, votes)
    others = sorted((one for one in found if one is not first), key=lambda one: -one.mean_kept)
    result = Recommendation(
        dimension, scan, (first, *others), votes, n_components, n, len(parts[0]), 0.0, notices
    )
    result = replace(result, order=tuple(methods), question=question)
    result = result.with_shuffled_columns(X, parts, random_state, weights)
    return replace(result, seconds=perf_counter() - begin)


def _with_judges(X: Any) -> tuple[Any, list[Any], tuple[str, ...]]:
    """The table, the tables that its maps are judged on, and notices of a data frame."""
    notices: tuple[str, ...] = ()
    if hasattr(X, "iloc"):
        X = prepare(X, PLAIN_READING)
        notices = X.notices
    data, X = (X, X.X) if isinstance(X, Prepared) else (None, X)
    X, _ = rows_in_units(X)
    if data is None or data.filled is None:
        return X, [X], notices
    return X, [rows_in_units(table)[0] for table in data.plausible_tables()], notices


def _counting_rows(
    X: Any, tables: list[Any], sample_weight: Any
) -> tuple[Any, list[Any], Array | None]:
    """The rows that count, and their weights; None where all count alike."""
    if sample_weight is None:
        return X, tables, None
    given = validated_weights(sample_weight, X.shape[0])
    tables = [present_rows(table, given) for table in tables]
    X, positive = present_rows(X, given), given[given > 0]
    return X, tables, None if (positive == positive[0]).all() else positive


def _refuse_unsuitable(X: Any, n_components: int, which: str) -> None:
    """Refuse too few rows (`which` says of what kind), too many coordinates, and equal rows."""
    n, width = X.shape
    if n < MIN_ROWS:
        raise InvalidInput(
            Argument("X"),
            f" needs {MIN_ROWS} rows or more{which} for subsamples to mean something; it has {n}. "
            "With so few look at PCA",
        )
    if not 1 <= n_components <= width:
        raise InvalidInput(
            Argument("n_components", n_components), f" must be from 1 to {width}, the columns"
        )
    if (X.max(axis=0) - X.min(axis=0)).sum() == 0:
        raise InvalidInput("all rows of ", Argument("X"), " are the same: there is nothing to map")


def _refuse_unknown(methods: Sequence[str]) -> None:
    """Refuse names that are no methods, and an empty list."""
    known = tuple(DESCRIPTIONS)
    unknown = [name for name in methods if name not in known]
    if not len(methods) or isinstance(methods, str) or unknown:
        what = f"{unknown[0]!r} is none of them" if unknown else f"it is {methods!r}"
        raise InvalidInput(
            Argument("methods"), f" must be a list of names among {', '.join(known)}; {what}"
        )


def _dimension_rows(X: Any, seed: int) -> Any:
    """The rows whose dimension is estimated: all, or a sample."""
    n, rng = X.shape[0], random_generator(seed)
    if n <= MAX_DIMENSION_ROWS:
        return X
    return X[np.sort(rng.choice(n, MAX_DIMENSION_ROWS, replace=False))]


def _best_for(question: str, found: list[Candidate], votes: tuple[str, ...]) -> Candidate:
    """The one that answers a question best; of neighbours the one with most votes; else the first.

    Of several the simplest.
    """
    if question == "order":
        return best_for_order(found) or found[0]
    if question == "groups":
        return best_for_groups(found) or found[0]
    counts = Counter(votes)
    most = max(counts.values())
    return next(one for one in found if counts[one.method] == most)
