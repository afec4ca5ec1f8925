"""The method of a table: named, recommended, or suited to its columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dualfold.data.counts import COUNTS_OFFER, looks_like_counts
from dualfold.errors import Argument, InvalidInput
from dualfold.exploration.input_table import read_input
from dualfold.exploration.plan import DEFAULT_N_COMPONENTS, Plan
from dualfold.methods.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.data import Prepared, Reading
    from dualfold.exploration.listener import Listener
    from dualfold.judging.recommendation import Recommendation


def chosen_plan(
    source: Any,
    method: str | None,
    reading: Reading,
    n_components: Any,
    listener: Listener,
    question: str | None = None,
) -> Plan:
    """Plan with the method that was named, is recommended ("auto") or suits the columns (None).

    question : what "auto" is recommended for; None: the default of `dualfold.recommend`
    """
    if question is not None and method != "auto":
        raise InvalidInput(
            Argument("question", question), " is only asked with ", Argument("method", "auto")
        )
    if method == "auto":
        advice, data = recommendation_for(source, reading, n_components, listener, question)
        listener.say(advice.verdict)
        row = DESCRIPTIONS[advice.method]
        options = {"n_neighbors": advice.n_neighbors} if row.needs_graph else {}
        return Plan(row, options=options, table=data, advice=advice)
    if method is not None:
        return Plan(DESCRIPTIONS[method])

    data = read_input(source, reading, listener)
    if reading.is_of_text:  # two coordinates of hundreds show little by a linear method
        return Plan(DESCRIPTIONS["tsne"], table=data)
    if looks_like_counts(data):
        data = replace(data, remarks=(*data.remarks, COUNTS_OFFER))
        listener.note(COUNTS_OFFER)
    if reading.mixed == "gower":
        return Plan(DESCRIPTIONS["mds"], table=data)
    return Plan(DESCRIPTIONS["famd" if data.has_categories else "pca"], table=data)


def compared_coordinates(n_components: Any) -> int:
    """Number of coordinates that methods are compared at; words are refused."""
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
