"""A page of texts: names by zoom, words that are found, terms on the card; nothing in it runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dualfold
from tests.data.text.texts import corpus
from tests.tools.page_contents import data_of
from tests.view.door import MAX_TEXT_BYTES, NoteCollector, page_texts

pytest_plugins = ["tests.tools.page_fixtures"]  # tab, file_of, opened
ATTACK = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script> soup bread'


@pytest.fixture(scope="module")
def found():
    texts, topics = corpus(240)
    texts[5] = ATTACK
    frame = pd.DataFrame({"text": texts, "topic": np.array(["k", "s", "m"])[topics]})
    return dualfold.explore(frame, "tsne", text="text", color="topic")


@pytest.fixture(scope="module")
def html(found):
    return found.page().html


def test_names_and_terms_are_in_the_data_of_the_page(found, html):
    content = data_of(html)
    listed = [(one["letter"], one["name"]) for one in content["maps"][0]["groups"]["list"]]
    assert listed == [(one.letter, one.name) for one in found.judgement.groups]
    assert content["row_terms"]["k"] == 6


def test_shared_terms_are_counted_as_neighbours_have_them(found):
    content = found.page_content(NoteCollector())
    shown, near = content.row_terms, content.maps[0].neighbors
    for row in (0, 17, 99):
        for code, shared in zip(shown.codes[row], shown.shared[row], strict=True):
            word = shown.words[code]
            texts = [found.data.labels["text"][other] for other in near[row]]
            assert shared == sum(word in text.lower().split() for text in texts)


def test_texts_are_cut_to_size_or_left_out(found):
    long = {"text": np.array(["déjà vu " * 40_000] * 240, dtype=object), "topic": np.arange(240)}
    cut, said = page_texts(found.data, long, with_text=True)
    assert (
        sum(len(text.encode("ascii", "backslashreplace")) for text in cut["text"]) < MAX_TEXT_BYTES
    )
    assert "cut to" in str(said[0])
    without, said = page_texts(found.data, long, with_text=False)
    assert list(without) == ["topic"]
    assert "not on the page" in str(said[0])
    assert "lighthouse tide" not in found.page(with_text=False).html


def test_nothing_in_a_text_runs_and_words_are_found(opened, html):
    page = opened(html)
    page.fill("#search", "lighthouse")
    assert page.locator("#found button").count() > 1
    page.fill("#search", "onerror")
    page.keyboard.press("Enter")
    page.wait_for_function("dualfold.state().focus === 5")
    assert "soup bread" in page.locator("#point dd").first.inner_text()
    assert page.locator("#point .row-terms button").count() >= 2
    assert page.evaluate("window.hacked") is None


def test_names_change_with_the_zoom_and_never_overlap(opened, html):
    page = opened(html)
    first = page.evaluate("dualfold.names()")
    assert first
    for at, one in enumerate(first):
        for other in first[:at]:
            gaps = [abs(one[k] - other[k]) - (one["box"][i] + other["box"][i]) / 2
                    for i, k in enumerate("xy")]  # fmt: skip
            assert max(gaps) >= -1e-6
    box = page.locator("#frame").bounding_box()
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 0.1 * box["height"])
    for _ in range(8):
        page.mouse.wheel(0, -200)
    page.wait_for_function("JSON.stringify(dualfold.spans()) !== ''")
    page.wait_for_timeout(300)
    inside = page.evaluate("dualfold.names()")
    assert len(inside) < len(first) or inside != first
