"""A prepared table whose first columns are its texts, or vectors that the user has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.data.notices import quoted_names
from dualfold.data.prepared import Prepared, fitted_preparation
from dualfold.data.reading import Reading, spelt_names
from dualfold.data.scales import Standard
from dualfold.data.text.text_block import TextBlock, joined_texts, vector_rows
from dualfold.data.text.text_rule import TextRule
from dualfold.data.text.text_vectors import TextVectors, refuse_uncomparable
from dualfold.errors import Argument, InvalidInput, Message, counted
from dualfold.quality.picture import percent
from dualfold.weights.encoding import words_of
from dualfold.weights.written_dates import as_dates

__all__ = ["TextFeatures", "with_text"]

# The share of the text in squared distances where other columns join it.
DEFAULT_WEIGHT = 0.5
PARAMETERS = tuple(one.name for one in fields(TextVectors) if one.name != "_")
WORDS_FOR_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, eq=False)
class TextFeatures:
    """Features that were made of the text of a table.

    columns : of text; () where only vectors were given
    sources : for each of the first columns of X where it comes from
    rule : for texts that come later; None where vectors were given
    terms, weights : of the texts, TF-IDF; none without text
    """

    columns: tuple[str, ...]
    sources: tuple[str, ...]
    rule: TextRule | None
    terms: tuple[str, ...] = ()
    weights: sp.csr_array | None = None

    @property
    def width(self) -> int:
        """Number of columns of X that come from texts or vectors."""
        return len(self.sources)

    def block(self, reading: Reading) -> TextBlock:
        """Rule for later texts, which a model keeps."""
        return TextBlock(self.columns, tuple(reading.vectors), self.width, self.rule)


@dataclass(frozen=True)
class TextOptions:
    """The text options of a reading: parameters of `TextVectors`, and the weight of the text."""

    parameters: Mapping[str, Any]
    weight: float = DEFAULT_WEIGHT

    @classmethod
    def of(cls, reading: Reading) -> TextOptions:
        """Options parsed from "name=value"."""
        parameters: dict[str, Any] = {}
        for words in reading.text_options:
            name, _, value = words.partition("=")
            if name not in (*PARAMETERS, "weight"):
                raise InvalidInput(
                    Argument("text_options", words),
                    f" is no option of texts; these are {', '.join(PARAMETERS)} and weight",
                )
            parameters[name] = _value(name, value, words)
        weight = parameters.pop("weight", DEFAULT_WEIGHT)
        if not isinstance(weight, int | float) or not 0 < weight < 1:
            raise InvalidInput(
                Argument("text_options", f"weight={weight}"), " must be between 0 and 1"
            )
        return cls(parameters, float(weight))


def _value(name: str, value: str, words: str) -> Any:
    """The value of an option, as its type has it."""
    text = value.strip().strip("()[]").strip()
    if text in ("", "None"):
        return None
    if name == "stop_words" and text != "english":
        return [word.strip(" '\"") for word in text.split(",")]
    if text.lower() in WORDS_FOR_TRUTH:
        return WORDS_FOR_TRUTH[text.lower()]
    try:
        if name == "ngram_range":
            low, high = map(int, text.split(","))
            return low, high
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        if name in ("analyzer", "strip_accents", "stop_words"):
            return text
    how = "; two numbers are needed, as ngram_range=1,2" if name == "ngram_range" else ""
    raise InvalidInput(Argument("text_options", words), f": {value!r} is no value of {name}{how}")


@contextlib.contextmanager
def _options_as_typed() -> Iterator[None]:
    """Errors name parameters of the vectoriser as options of texts."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(*map(_as_option, error.message.parts)) from error


def _as_option(part: str) -> str:
    if not isinstance(part, Argument) or part.name not in PARAMETERS:
        return part
    value = ",".join(map(str, part.value)) if isinstance(part.value, tuple) else part.value
    return Argument("text_options", f"{part.name}={value}")


def with_text(data: Prepared) -> Prepared:
    """The table with rows of length 1 for its texts or vectors before the columns that join them.

    Rows without a known term, and vectors of 0, have no direction: they are left out.
    """
    reading, options = data.reading, TextOptions.of(data.reading)
    if reading.mixed in ("gower", "counts"):
        raise InvalidInput(
            Argument("mixed", reading.mixed),
            " has no distances for texts and vectors, which are compared by cosine; leave it out",
        )
    labels, text = data.table.labels, tuple(data.reading.text)
    texts = joined_texts(labels, text) if text else []
    if reading.vectors:
        rows, features, notices = _given_vectors(data, texts, options)
    else:
        of_numbers = _number_notices(labels, text)
        refuse_uncomparable(texts, Argument("text", " ".join(text)))
        with _options_as_typed():
            model = TextVectors(**options.parameters).fit(texts)
        rows = model.embedding_
        sources = (" + ".join(text),) * rows.shape[1]
        features = TextFeatures(
            text, sources, model.rule_, tuple(model.terms_), model.term_weights_
        )
        notices = [_text_notice(text, model), *of_numbers]
    kept = np.flatnonzero(rows.any(axis=1))
    if len(kept) < len(rows):
        notices.append(_left_out_notice(len(rows) - len(kept), reading))
    if not len(kept):
        raise InvalidInput("no row has a text or vector that can be compared with others")
    weights = None if features.weights is None else features.weights[kept]
    used = set(spelt_names(reading.vectors, list(labels)))
    return _with_block(
        _of_rows(data, kept, used), rows[kept], replace(features, weights=weights), options, notices
    )


def _number_notices(labels: Mapping[str, Any], text: tuple[str, ...]) -> list[Message]:
    """Notices of columns of text that hold numbers, which few rows share; dates are refused."""
    notices = []
    for name in text:
        values = np.asarray(labels[name])
        if values.dtype.kind == "M" or as_dates(values) is not None:
            raise InvalidInput(
                Argument("text", name),
                " must be a column of words; it holds dates, which are features without this",
            )
        words = [word for word in words_of(values) if word]
        if words and all(map(_is_number, words)):
            notices.append(
                Message(
                    f"'{name}' holds numbers, and equal ones are taken for equal words; without ",
                    Argument("text", name),
                    " numbers are used as such",
                )
            )
    return notices


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _given_vectors(
    data: Prepared, texts: list[str], options: TextOptions
) -> tuple[Array, TextFeatures, list[Message]]:
    reading, text = data.reading, tuple(data.reading.text)
    read = data.table.rows if data.raw is None else data.raw.rows
    n_rows = int(read[-1]) + 1
    rows = vector_rows(data.table.labels, reading.vectors, data.table.rows, n_rows)
    sources = (quoted_names(reading.vectors, 3).replace("'", ""),) * rows.shape[1]
    features = TextFeatures(text, sources, None)
    notices = [Message(f"vectors of {rows.shape[1]} numbers ({sources[0]}) are compared by cosine")]
    if texts:
        try:
            with _options_as_typed():
                weights, terms, _ = TextVectors(**options.parameters)._weighted_terms(texts)
            features = replace(features, terms=terms, weights=weights)
        except InvalidInput as error:  # the map needs no names
            notices.append(Message("groups are not named by text: ", error.message))
    return rows, features, notices


def _text_notice(text: tuple[str, ...], model: TextVectors) -> Message:
    d, share = model.components_.shape[0], float(model.explained_variance_ratio_.sum())
    return Message(
        f"{quoted_names(text)}: {counted(len(model.terms_), 'term')} of "
        f"{counted(model.term_weights_.shape[0], 'text')} were weighed (TF-IDF) and became "
        f"{counted(d, 'coordinate')} by truncatedsvd ({percent(share)} of the variance, "
        f"{model.certificate_.level}); texts are compared by cosine",
    )


def _left_out_notice(count: int, reading: Reading) -> Message:
    what = "a vector of zeros" if reading.vectors else "empty, or no term that other texts have"
    return Message(f"{counted(count, 'row')} left out: {what}; nothing to compare")


def _of_rows(data: Prepared, kept: Array, dropped: set[str]) -> Prepared:
    """These rows of the table, without the labels `dropped`."""
    table = data.table
    labels = {name: v[kept] for name, v in table.labels.items() if name not in dropped}
    table = replace(
        table,
        X=table.X[kept],
        labels=labels,
        rows=table.rows[kept],
        row_names={name: v[kept] for name, v in table.row_names.items() if name not in dropped},
    )
    preparation = replace(data.preparation, imputation=None)
    return replace(data, X=data.X[kept], table=table, preparation=preparation, filled=None)


def _with_block(
    data: Prepared,
    rows: Array,
    features: TextFeatures,
    options: TextOptions,
    notices: list[Message],
) -> Prepared:
    """The text before the columns that join it, both weighted; and notices about that."""
    name = features.sources[0]
    names = tuple(f"{name} {column + 1}" for column in range(features.width))
    table = replace(
        data.table,
        X=np.concatenate([rows, np.asarray(data.table.X, dtype=float)], axis=1),
        names=(*names, *data.table.names),
        notices=(*data.table.notices, *notices),
    )
    made = replace(data.preparation, text=features.block(data.reading))
    if not data.table.names:
        preparation = fitted_preparation(table, made, None, None)
        return replace(data, X=rows, table=table, text=features, preparation=preparation)
    own, weight = np.asarray(data.X, dtype=float), options.weight
    spreads = [float(block.var(axis=0).sum()) for block in (rows, own)]
    factors = [
        np.sqrt(share / spread) if spread > 0 else 1.0
        for share, spread in zip((weight, 1 - weight), spreads, strict=True)
    ]
    before = made.standard or Standard(np.zeros(own.shape[1]), np.ones(own.shape[1]))
    standard = Standard(
        np.concatenate([np.zeros(features.width), before.mean]),
        np.concatenate([np.full(features.width, 1 / factors[0]), before.deviation / factors[1]]),
    )
    what = "text" if features.rule is not None else "vectors"
    remark = Message(
        f"{quoted_names(dict.fromkeys(data.feature_sources))} joined the {what}: the {what} "
        f"{'has' if what == 'text' else 'have'} {percent(weight)} of the variance, the other "
        f"columns {percent(1 - weight)}; ",
        Argument("text_options", "weight=0.7"),
        " changes that",
    )
    return replace(
        data,
        X=standard.apply(table.X),
        table=table,
        text=features,
        preparation=fitted_preparation(table, made, standard, None),
        remarks=(*data.remarks, remark),
    )
