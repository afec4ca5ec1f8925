"""What will be done with a table: its method and how it is read, before anything is fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from dualfold.errors import Argument, InvalidInput
from dualfold.exploration.input_table import (
    read_input,
    reading_for,
    refuse_labels,
    refuse_scaled_distances,
    refuse_weight,
)
from dualfold.exploration.job import DEFAULT_N_COMPONENTS, Job
from dualfold.methods.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.data import Prepared, Reading
    from dualfold.exploration.listener import Listener
    from dualfold.judging.recommendation import Recommendation

# Methods that map a series of tables (`AlignedMaps`).
SeriesMethod = Literal["eigenmaps", "diffusion-maps", "lpp", "pca", "tsne"]
SERIES_METHODS: tuple[str, ...] = get_args(SeriesMethod)


@dataclass(frozen=True, eq=False)
class MethodChoice:
    """The method of a table, and what was read and measured to choose it.

    n_neighbors : those that are recommended; None where nothing is
    data : the table, where it was read to decide; advice : the recommendation behind "auto"
    """

    method: str
    n_neighbors: int | None = None
    data: Prepared | None = None
    advice: Recommendation | None = None


def choose_method(
    source: Any,
    method: str | None,
    reading: Reading,
    n_components: Any,
    listener: Listener,
    question: str | None = None,
) -> MethodChoice:
    """The method that was named, that is recommended ("auto"), or that suits the columns (None).

    question : what "auto" is recommended for; None: the default of `dualfold.recommend`
    """
    if question is not None and method != "auto":
        raise InvalidInput(
            Argument("question", question), " is only asked with ", Argument("method", "auto")
        )
    if method == "auto":
        advice, data = recommendation_for(source, reading, n_components, listener, question)
        listener.say(advice.verdict)
        k = advice.n_neighbors if DESCRIPTIONS[advice.method].needs_graph else None
        return MethodChoice(advice.method, k, data, advice)
    if method is not None:
        return MethodChoice(method)
    from dualfold.data.counts import COUNTS_OFFER, looks_like_counts

    data = read_input(source, reading, listener)
    if reading.is_of_text:  # two coordinates of hundreds show little by a linear method
        return MethodChoice("tsne", data=data)
    if looks_like_counts(data):
        data = replace(data, remarks=(*data.remarks, COUNTS_OFFER))
        listener.note(COUNTS_OFFER)
    if reading.mixed == "gower":
        return MethodChoice("mds", data=data)
    return MethodChoice("famd" if data.has_categories else "pca", data=data)


def compared_coordinates(n_components: Any) -> int:
    """How many coordinates methods are compared at; words that let the data decide are refused."""
    d = DEFAULT_N_COMPONENTS if n_components is None else n_components
    if isinstance(d, int) and d >= 1:
        return d
    raise InvalidInput(
        Argument("n_components", d),
        " would let the data decide, but methods are compared at a number of coordinates; give one",
    )


def recommendation_for(
    source: Any,
    reading: Reading,
    n_components: Any,
    listener: Listener,
    question: str | None = None,
) -> tuple[Recommendation, Prepared]:
    """Read the table and measure what suits it."""
    from dualfold.judging.recommendation.questions import QUESTIONS, refuse_unknown_question

    question = QUESTIONS[0] if question is None else question
    refuse_unknown_question(question)
    d = compared_coordinates(n_components)
    data = read_input(source, reading, listener)
    from dualfold.judging.recommendation import recommend
    from dualfold.judging.recommendation.recommender import DEFAULT_METHODS

    mixed = data.has_categories
    methods = ["famd" if name == "pca" and mixed else name for name in DEFAULT_METHODS]
    if reading.weight is not None:
        rows = [DESCRIPTIONS[name] for name in methods]
        positive = bool(data.weights.all())
        methods = [row.name for row in rows if row.weighted or (row.masses and positive)]
        some = "weights" if positive else "weights, also those of 0,"
        listener.note(f"only methods that take {some} are tried")
    with listener.stage("trying methods on subsamples"):
        return recommend(data, n_components=d, methods=methods, question=question), data


@dataclass(frozen=True, eq=False)
class Plan:
    """A method with its options, the table and how it is read.

    source : a file, a data frame or an array
    data : the table, once it was read (`table`, where it must have been)
    """

    source: Any
    reading: Reading
    job: Job
    data: Prepared | None = None
    advice: Recommendation | None = None

    @classmethod
    def of(cls, source: Any, reading: Reading, job: Job, choice: MethodChoice) -> Plan:
        """The plan for a job; what cannot work is refused before the table is read."""
        job = job.by_manhattan() if reading.mixed == "gower" else job
        refuse_labels(reading.labels, job)
        refuse_weight(reading.weight, job)
        if choice.data is None:
            reading = reading_for(reading, job)
        return cls(source, reading, job, choice.data, choice.advice)

    @property
    def table(self) -> Prepared:
        if self.data is None:
            raise ValueError("the table was not read yet; take what with_table returns")
        return self.data

    def with_table(self, listener: Listener) -> Plan:
        """The plan with its table read, if the job can use it."""
        data = self.data
        if data is None:
            data = read_input(self.source, self.reading, listener)
        refuse_scaled_distances(self.reading, self.job)
        return replace(self, data=data)
