"""The estimator: texts in, rows of length 1 out."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from textwrap import shorten
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.data.text.option_values import refuse_wrong_values
from dualfold.data.text.text_rule import OPTION_TYPES, TextRule, vectorizer
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.methods._truncated_svd import TruncatedSVD

__all__ = ["TextVectors", "refuse_uncomparable", "texts_of"]

# Fewer texts keep terms that only one of them has, and terms that most of them have.
MIN_PRUNED_TEXTS = 50
DEFAULT_MAX_SHARE = 0.8
DEFAULT_MIN_TEXTS = 2
MAX_QUOTED_LETTERS = 40


@dataclass(eq=False, repr=False)
class TextVectors(TransformerMixin, BaseEstimator):
    """Texts as rows of numbers: TF-IDF of their terms, then a certified `TruncatedSVD`.

    Each row has length 1, so the Euclidean distances that methods take are those by cosine: any
    method may follow in a pipeline. No model is fetched, and no language is assumed.

    Parameters
    ----------
    n_components : int ≥ 1, default=100
        Numbers of a row; fewer where there are fewer texts or terms.
    analyzer : {"word", "char", "char_wb"}, default="word"
        What a term is made of. Scripts that do not separate words (Chinese, Thai, …) become pieces
        of two or three characters also with "word".
    ngram_range : tuple of int, default=(1, 1)
        Least and most words (or characters) of a term.
    min_df : int, float or None, default=None
        Texts (a number or a share) that a term needs; None: 2, or 1 of fewer than 50 texts.
    max_df : int, float or None, default=None
        Texts that may have a term; None: four of five, or all of fewer than 50 texts.
    max_features : int or None, default=None
        Most terms, the most frequent ones; None: all.
    stop_words : str, list of str or None, default=None
        Words that are no terms; "english" is scikit-learn's list.
    lowercase : bool, default=True
        Whether small and capital letters are the same.
    strip_accents : {"ascii", "unicode"} or None, default=None
        Whether letters lose their accents.
    sublinear_tf : bool, default=True
        Whether a term that is there t times counts 1 + log t.
    binary : bool, default=False
        Whether a term counts once, however often it is there.
    use_idf : bool, default=True
        Whether rare terms weigh more.
    smooth_idf : bool, default=True
        Whether these weights are those with one further text that has every term.

    Attributes
    ----------
    terms_ : ndarray of str
        The terms, in alphabetical order.
    components_ : ndarray of shape (n_components, n_terms)
        Directions of the decomposition, in single precision.
    certificate_ : TraceCertificate
        How far from the best ones the directions can be; print it.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance of the weighted terms.
    term_weights_ : sparse array of shape (n_texts, n_terms)
        TF-IDF of the fitted texts.
    embedding_ : ndarray of shape (n_texts, n_components)
        Rows of the fitted texts.
    rule_ : TextRule
        What places new texts, as data.

    See Also
    --------
    dualfold.TruncatedSVD : The decomposition.
    dualfold.explore : Takes a table with a column of text.

    Notes
    -----
    Parameters other than `n_components` are those of scikit-learn's `TfidfVectorizer`. Tags of HTML
    are left out, and words have two letters or more. A text without any known term is a row of
    zeros: it has no direction, and `explore` leaves it out.

    Examples
    --------
    >>> from dualfold.text import TextVectors
    >>> texts = ["red apple", "green apple", "fast car", "slow car"]
    >>> model = TextVectors(n_components=2).fit(texts)
    >>> rows = model.transform(["an apple", "my car", ""])
    >>> rows.shape, float((rows[0] @ rows[1]).round(6)), rows[2].tolist()
    ((3, 2), 0.0, [0.0, 0.0])
    """

    n_components: int = 100
    _: KW_ONLY
    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    min_df: Any = None
    max_df: Any = None
    max_features: int | None = None
    stop_words: Any = None
    lowercase: bool = True
    strip_accents: str | None = None
    sublinear_tf: bool = True
    binary: bool = False
    use_idf: bool = True
    smooth_idf: bool = True

    def fit(self, X: Any, y: Any = None) -> TextVectors:
        """Find the terms and directions of texts.

        Parameters
        ----------
        X : sequence of str
            Texts; None and NaN are texts without words.
        y : None, default=None
            Ignored.

        Returns
        -------
        TextVectors
            The fitted estimator.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Fit the texts, and return their rows.

        Parameters
        ----------
        X : sequence of str
            Texts; None and NaN are texts without words.
        y : None, default=None
            Ignored.
        **fit_params : dict
            Not used.

        Returns
        -------
        ndarray of shape (n_texts, n_components)
            Rows of length 1; zeros for texts without a term.
        """
        texts = texts_of(X)
        refuse_uncomparable(texts, Argument("X"))
        weights, terms, idf = self._weighted_terms(texts)
        count = min(int(self.n_components), min(weights.shape))
        # Texts without a term say nothing about directions.
        compared = weights[np.flatnonzero(np.diff(weights.indptr))]
        svd = TruncatedSVD(min(count, compared.shape[0])).fit(compared)
        options = {name: getattr(self, name) for name in OPTION_TYPES if hasattr(self, name)}
        options["ngram_range"] = list(self.ngram_range)
        components = np.asarray(svd.components_, dtype=np.float32)
        self.rule_ = TextRule(options, terms, idf, components)
        self.terms_, self.components_ = np.array(terms, dtype=object), components
        self.certificate_ = svd.certificate_
        self.explained_variance_ratio_ = svd.explained_variance_ratio_
        self.term_weights_ = weights
        self.embedding_ = self.rule_.rows_of_weights(weights)
        return self.embedding_

    def transform(self, X: Any) -> Array:
        """The rows of new texts.

        Parameters
        ----------
        X : sequence of str
            Texts.

        Returns
        -------
        ndarray of shape (n_texts, n_components)
            Rows of length 1; zeros for texts without a known term.
        """
        check_is_fitted(self, "rule_")
        rule: TextRule = self.rule_
        return rule.rows(texts_of(X))

    def _weighted_terms(
        self, texts: list[str]
    ) -> tuple[sp.csr_array, tuple[str, ...], Array | None]:
        """TF-IDF, the terms, and their weights."""
        many = len(texts) >= MIN_PRUNED_TEXTS
        given = self.get_params(deep=False)
        refuse_wrong_values(given)
        del given["n_components"]
        if given["min_df"] is None:
            given["min_df"] = DEFAULT_MIN_TEXTS if many else 1
        if given["max_df"] is None:
            given["max_df"] = DEFAULT_MAX_SHARE if many else 1.0
        try:
            made = vectorizer(given)
            weights = sp.csr_array(made.fit_transform(texts))
        except ValueError as error:  # the values are allowed, so that no term is left
            raise _no_terms(len(texts), given["min_df"], given["max_df"]) from error
        idf = np.asarray(made.idf_, dtype=float) if self.use_idf else None
        return weights, tuple(map(str, made.get_feature_names_out())), idf


def refuse_uncomparable(texts: list[str], source: Argument) -> None:
    """Refuse texts in which nothing differs; `source` is the argument that holds them."""
    different = {text for text in texts if text.strip()}
    if not different:
        raise InvalidInput(source, f" holds {counted(len(texts), 'text')}, none with a word")
    if len(different) == 1:
        raise InvalidInput(
            source,
            " must hold at least 2 different texts; it holds one in "
            f"{counted(len(texts), 'row')}: '{shorten(different.pop(), MAX_QUOTED_LETTERS)}'",
        )


def _no_terms(count: int, least: float, most: float) -> InvalidInput:
    """The error where no word is in enough texts and not in too many."""
    most = most * count if isinstance(most, float) else most
    least = int(np.ceil(least * count)) if isinstance(least, float) else least
    return InvalidInput(
        f"no word is left of {counted(count, 'text')}: a word needs 2 letters, and must be in at "
        f"least {counted(least, 'text')} and in at most {int(most):,}; ",
        Argument("min_df", 1),
        " keeps words of one text only, ",
        Argument("max_df", 1.0),
        " those of all, and ",
        Argument("analyzer", "char_wb"),
        " takes characters for words",
    )


def texts_of(X: Any) -> list[str]:
    """Texts as a list, "" for None and NaN; anything but texts is refused."""
    if isinstance(X, str):
        raise InvalidInput(Argument("X"), " must be a sequence of texts; it is one text")
    values = X.iloc[:, 0].tolist() if getattr(X, "ndim", 1) == 2 and hasattr(X, "iloc") else list(X)
    texts = ["" if value is None or value != value else value for value in values]
    wrong = [row for row, text in enumerate(texts) if not isinstance(text, str)]
    if wrong:
        first = repr(texts[wrong[0]])[:MAX_QUOTED_LETTERS]
        raise InvalidInput(
            Argument("X"), f" must hold texts; row {wrong[0]} holds {first}, which is no text"
        )
    # No file can hold lone halves of characters.
    return [t if t.isascii() else t.encode("utf-8", "replace").decode("utf-8") for t in texts]
