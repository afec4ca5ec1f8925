"""The rule that makes a row of numbers of a text: terms, their weights, their directions; data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from dualfold.arrays import Array
from dualfold.data.text.words import plain_text, words_in
from dualfold.errors import DamagedFile
from dualfold.methods.maps.parts import Parts

__all__ = ["TextRule", "unit_rows", "vectorizer"]

MAX_TERMS = 5_000_000
# Options of the vectoriser that a file may state, with the types that JSON has for them.
OPTION_TYPES: Mapping[str, tuple[Any, ...]] = {
    "analyzer": (str,),
    "binary": (bool,),
    "lowercase": (bool,),
    "ngram_range": (list,),
    "norm": (str, type(None)),
    "smooth_idf": (bool,),
    "strip_accents": (str, type(None)),
    "sublinear_tf": (bool,),
    "use_idf": (bool,),
}


def vectorizer(options: Mapping[str, Any], **more: Any) -> TfidfVectorizer:
    """scikit-learn's vectoriser with our words."""
    given = dict(options) | more
    given["ngram_range"] = tuple(given.get("ngram_range", (1, 1)))
    if given.get("analyzer", "word") == "word":
        given |= {"tokenizer": words_in, "token_pattern": None}
    made = TfidfVectorizer(**given)
    before = made.build_preprocessor()
    return made.set_params(preprocessor=lambda text: before(plain_text(text)))


def unit_rows(rows: Array) -> Array:
    """Rows of length 1, so that Euclidean neighbours are those by cosine; rows of 0 stay."""
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0))


@dataclass(frozen=True, eq=False)
class TextRule:
    """From texts to rows of length 1.

    options : of scikit-learn's `TfidfVectorizer`, without those that chose the terms
    terms : in the order of their columns
    idf : the weight of each term; None without weights
    components : the directions of `TruncatedSVD`, one row each, in single precision
    """

    options: Mapping[str, Any]
    terms: tuple[str, ...]
    idf: Array | None
    components: Array

    @property
    def n_components(self) -> int:
        """Count of numbers that a row has."""
        return len(self.components)

    def term_weights(self, texts: Sequence[str]) -> sp.csr_array:
        """TF-IDF of the known terms, a row for each text."""
        made = vectorizer(self.options, vocabulary=list(self.terms))
        if self.idf is not None:
            made.idf_ = self.idf
        return sp.csr_array(made.transform(texts))

    def rows_of_weights(self, weights: Any) -> Array:
        """A row of length 1 for each row of term weights; zeros where no term is known."""
        return unit_rows(np.asarray(weights @ self.components.T.astype(np.float64)))

    def rows(self, texts: Sequence[str]) -> Array:
        """A row of length 1 for each text; zeros where it has no known term."""
        return self.rows_of_weights(self.term_weights(texts))

    def put_into(self, parts: Parts) -> dict[str, Any]:
        """Add its arrays to what a file holds; the other facts are returned, JSON-ready."""
        parts.put("text_idf", self.idf)
        parts.put("text_components", self.components)
        return {"options": dict(self.options), "terms": list(self.terms)}

    @classmethod
    def from_file(cls, parts: Parts, facts: Mapping[str, Any]) -> TextRule:
        """The rule that a file states, if it is one; another program may have written it."""
        terms, options = facts.get("terms"), facts.get("options")
        if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms):
            raise DamagedFile("it states the terms of its texts in an unknown form")
        if len(set(terms)) != len(terms) or not 0 < len(terms) <= MAX_TERMS:
            raise DamagedFile("the terms of its texts are none, too many, or not all different")
        if not isinstance(options, dict) or not all(
            _is_option(*option) for option in options.items()
        ):
            raise DamagedFile("it states how its texts become terms in an unknown form")
        idf = parts.optional_array("text_idf", [len(terms)], least=0.0)
        if (idf is None) == options.get("use_idf", True):
            raise DamagedFile("it has weights of terms though it states none, or lacks them")
        components = parts.array("text_components", [None, len(terms)])
        return cls(options, tuple(terms), idf, components.astype(np.float32))


def _is_option(name: str, value: object) -> bool:
    if name not in OPTION_TYPES or not isinstance(value, OPTION_TYPES[name]):
        return False
    if isinstance(value, list):
        whole = len(value) == 2 and all(type(size) is int for size in value)
        return whole and 1 <= value[0] <= value[1] <= 10
    allowed = {
        "analyzer": ("word", "char", "char_wb"),
        "norm": ("l1", "l2", None),
        "strip_accents": ("ascii", "unicode", None),
    }
    return value in allowed.get(name, (value,))
