"""Texts of a table on its page: cut to size or left out, and the terms of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from dualfold.errors import Message
from dualfold.view.page_names import RowTerms

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.data import Prepared

# All texts of a page together, as its file has them; longer ones are cut.
MAX_TEXT_BYTES = 6_000_000
# Letters that are tried, the longest first.
TEXT_LENGTHS = (2000, 1400, 1000, 700, 500, 350, 250, 180, 120, 80, 50, 30, 20)
# Terms of a row that its card shows.
SHOWN_TERMS = 6
# A column whose values are mostly different and so long on average holds texts.
MIN_TEXT_LETTERS = 60


def page_texts(
    data: Prepared, labels: dict[str, Array], *, with_text: bool
) -> tuple[dict[str, Array], list[Message]]:
    """The labels with texts cut to what a page holds, or without them, and what is to be said."""
    texts = [name for name, values in labels.items() if _is_long(name, values, data)]
    if not texts:
        return labels, []
    if not with_text:
        left = {name: values for name, values in labels.items() if name not in texts}
        return left, [Message("the texts of the rows are not on the page")]
    columns = {name: _words(labels[name]) for name in texts}
    longest = max(map(len, (text for column in columns.values() for text in column)), default=0)
    for letters in TEXT_LENGTHS:
        cut = {
            name: [_shortened_text(text, letters) for text in column]
            for name, column in columns.items()
        }
        if sum(_bytes(text) for column in cut.values() for text in column) <= MAX_TEXT_BYTES:
            break
    remarks = []
    if longest > letters:
        why = f", so that all of them take no more than {MAX_TEXT_BYTES / 1e6:g} MB"
        remarks.append(
            Message(
                f"texts on the page are cut to {letters:,} letters"
                f"{'' if letters == TEXT_LENGTHS[0] else why}; the map was made of all words"
            )
        )
    shown = {name: np.array([text or None for text in cut[name]], dtype=object) for name in texts}
    return labels | shown, remarks


def _is_long(name: str, values: Array, data: Prepared) -> bool:
    if name in data.reading.text:
        return True
    values = np.asarray(values)
    if values.dtype.kind not in "OUT" or not len(values):
        return False
    words = _words(values)
    some = sum(map(len, words)) >= MIN_TEXT_LETTERS * len(words)
    return some and 2 * len(set(words)) > len(words)


def _words(values: Array) -> list[str]:
    return ["" if value is None or value != value else str(value) for value in values]


def _shortened_text(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def _bytes(text: str) -> int:
    """Bytes of a text in a page, where letters beyond ASCII are escapes."""
    return len(text) if text.isascii() else len(text) + 5 * sum(letter > "~" for letter in text)


def row_terms(data: Prepared, neighbors: Array | None) -> RowTerms | None:
    """The terms that distinguish each row, and how many of its neighbours in the data have each."""
    text = data.text
    if text is None or text.weights is None or neighbors is None:
        return None
    weights, near = sp.csr_array(text.weights), np.asarray(neighbors)
    n, k = weights.shape[0], near.shape[1]
    present = sp.csr_array((np.ones(weights.nnz), weights.indices, weights.indptr), weights.shape)
    links = sp.csr_array((np.ones(n * k), near.ravel(), np.arange(0, n * k + 1, k)), (n, n))
    counts = links @ present
    # Terms that more neighbours share than other rows do first, of these the heaviest.
    usual = sp.dia_array((np.asarray(present.mean(axis=0))[None, :], [0]), (weights.shape[1],) * 2)
    excess = weights * counts / k - weights @ usual
    scores = sp.csr_array(weights * excess + 1e-3 * weights)
    codes = np.full((n, SHOWN_TERMS), -1, dtype=np.int64)
    for row in range(n):
        own = slice(scores.indptr[row], scores.indptr[row + 1])
        best = np.argsort(-scores.data[own], kind="stable")[:SHOWN_TERMS]
        codes[row, : len(best)] = scores.indices[own][best]
    rows = np.repeat(np.arange(n), SHOWN_TERMS)
    shared = np.asarray(counts[rows, np.maximum(codes, 0).ravel()]).ravel().astype(np.int64)
    shared = np.where(codes.ravel() < 0, 0, shared).reshape(codes.shape)
    used, places = np.unique(codes, return_inverse=True)
    first = int(used[0] < 0)
    words = tuple(str(text.terms[place]) for place in used[first:])
    return RowTerms(words, places.reshape(codes.shape) - first, shared, k)
