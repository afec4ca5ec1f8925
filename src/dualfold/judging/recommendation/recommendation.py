"""What is recommended for a table: dimension, neighbours and method, each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dualfold.arrays import Array
from dualfold.judging.recommendation.questions import (
    QUESTION_WORDS,
    QUESTIONS,
    best_for_groups,
    best_for_order,
)
from dualfold.judging.recommendation.short_cuts import NeighborScan, number_list
from dualfold.judging.recommendation.trial import (
    TIE_TOLERANCE,
    Candidate,
    unfitted_estimator,
    winner,
    with_shuffled,
)
from dualfold.notebook import shown_html
from dualfold.quality.dimension_estimates import Dimension
from dualfold.quality.estimate import Estimate
from dualfold.quality.picture import MIN_FAIR_SHARE

__all__ = ["Recommendation"]


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
        """Doubt from the data alone, without shuffled columns."""
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
            return one.shown.headline if one.shown.is_measured else ""
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
        """Expectation for all rows, where they are many more than in a subsample."""
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
            counts = "{} of {}".format(*one.shown.group_counts)
            groups = counts if one.shown.is_measured else ""
            numbers = (
                f"{one.mean_kept:6.2f} {one.shown.order_grade:<10} {groups:>8} {one.stability:9.2f}"
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

    def to_dict(self) -> dict[str, object]:
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

    def _candidate_dict(self, one: Candidate) -> dict[str, object]:
        expected = one.expected_kept(self.n, self.sampled)
        limits = [getattr(expected, "low", expected), getattr(expected, "high", expected)]
        return vars(one) | {
            "shown": one.shown.to_dict() if one.shown.is_measured else None,
            "mean_kept": one.mean_kept,
            "expected_kept": [float(expected), *map(float, limits)],
            "reason": self.reason(one),
        }


def _shows(one: Candidate) -> str:
    """End of a sentence on what a candidate's map shows."""
    text = one.shown.headline.rstrip(".")
    return text[0].lower() + text[1:]


def _number(question: str, one: Candidate) -> str:
    """By how much a candidate answers a question."""
    if question == "neighbours":
        return f"(keeps {100 * one.mean_kept:.0f} % beyond chance)"
    if question == "order":
        return f"({one.shown.order_grade})"
    return "({} of {} visible ones)".format(*one.shown.group_counts)
