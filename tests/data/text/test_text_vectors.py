"""Texts become rows of length 1: scikit-learn's TF-IDF, our decomposition, any language."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD as PeerSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import dualfold
from dualfold.errors import InvalidInput
from dualfold.text import TextVectors
from tests.data.door import plain_text, words_in
from tests.data.text.texts import TOPICS, corpus


def test_the_terms_and_weights_are_those_of_scikit_learn():
    texts, _ = corpus(80)
    ours = TextVectors(5).fit(texts)
    peer = TfidfVectorizer(min_df=2, max_df=0.8, sublinear_tf=True)
    theirs = peer.fit_transform(texts)
    assert list(ours.terms_) == list(peer.get_feature_names_out())
    assert abs(ours.term_weights_ - theirs).max() < 1e-12
    svd = PeerSVD(5, algorithm="arpack", random_state=0).fit(theirs)
    rows = svd.transform(theirs)
    cosines = rows @ rows.T / np.outer(*[np.linalg.norm(rows, axis=1)] * 2)
    assert np.abs(ours.embedding_ @ ours.embedding_.T - cosines).max() < 1e-5
    assert ours.certificate_.level == "proved"


def test_rows_have_length_one_and_new_texts_land_where_old_ones_are():
    texts, _ = corpus(80)
    model = TextVectors(6).fit(texts)
    assert np.allclose(np.linalg.norm(model.embedding_, axis=1), 1)
    assert np.abs(model.transform(texts[:9]) - model.embedding_[:9]).max() < 1e-12


def test_texts_of_one_topic_are_near():
    texts, topics = corpus(90)
    rows = TextVectors(len(TOPICS)).fit(texts).embedding_
    near = dualfold.graph.nearest(rows, 5).indices
    assert (topics[near] == topics[:, None]).mean() > 0.95


def test_options_of_the_vectoriser_are_taken_by_name():
    model = TextVectors(2, ngram_range=(1, 2), stop_words=["the"], min_df=1, max_df=1.0)
    model.fit(["the red car", "the red bus", "the bus", "car park"])
    assert list(model.terms_) == ["bus", "car", "car park", "park", "red", "red bus", "red car"]
    letters = TextVectors(2, analyzer="char", ngram_range=(2, 2)).fit(["abc", "bcd", "cde"])
    assert list(letters.terms_) == ["ab", "bc", "cd", "de"]


def test_any_method_follows_in_a_pipeline():
    texts, _ = corpus(60)
    made = make_pipeline(TextVectors(4), dualfold.Isomap(n_neighbors=6, pieces="join")).fit(texts)
    assert made.transform(texts[:3]).shape == (3, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Zwei Wörter, naïve", ["Zwei", "Wörter", "naïve"]),
        ("機械学習", ["機械", "械学", "学習"]),
        ("मानचित्र बनाना", ["मानचित्र", "बनाना"]),
        ("خريطة البيانات", ["خريطة", "البيانات"]),
        ("แผนที่", ["แผน", "ผนท", "นที", "ที่"]),
        ("GPU上の地図", ["GPU", "上の", "の地", "地図"]),
        ("a b", []),
        ("🚀 to the 🌊", ["🚀", "to", "the", "🌊"]),
        ("x" * 100_000, []),
    ],
)
def test_words_of_any_language(text, words):
    assert words_in(text) == words


def test_markup_is_no_word():
    text = '<p class="x">salt<br/>water</p> &amp; <script>alert(1)</script>'
    assert words_in(plain_text(text)) == ["salt", "water", "alert"]
    assert plain_text("2 < 3 > 1") == "2 < 3 > 1"


def test_a_text_without_known_terms_is_a_row_of_zeros():
    model = TextVectors(2).fit(["red apple", "green apple", "", None, "red car"])
    assert not model.embedding_[[2, 3]].any()
    assert not model.transform(["", "zzz", float("nan")]).any()


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["", " ", None], "3 texts, none with a word"),
        (["a b", "c d"], "no word is left of 2 texts: a word needs 2 letters"),
        (["the same"] * 9, "at least 2 different texts"),
        (["only one"], "it holds one in 1 row"),
        (["red", 7, "blue"], "row 1 holds 7"),
        ("one text", "one text"),
    ],
)
def test_what_is_no_text_is_refused(texts, said):
    with pytest.raises(InvalidInput, match=said):
        TextVectors(2).fit(texts)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0),
        ("analyzer", "letter"),
        ("ngram_range", (3, 1)),
        ("min_df", -1),
        ("max_df", 1.5),
        ("max_features", 0),
        ("stop_words", "german"),
        ("lowercase", 5),
        ("strip_accents", "all"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(name, value):
    with pytest.raises(InvalidInput, match=r" must be ") as refused:
        TextVectors(**{name: value}).fit(["red car", "red bus"])
    assert refused.value.argument == name
    assert "TfidfVectorizer" not in str(refused.value)


def test_where_no_word_is_left_the_limits_are_said():
    said = "in at least 2 texts and in at most 48; min_df=1 keeps words of one text only"
    with pytest.raises(InvalidInput, match=said):
        TextVectors(2).fit([f"word{place}" for place in range(60)])
