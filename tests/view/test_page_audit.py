"""The page of an audit: letters on the map, a verdict for each group, one colour a verdict."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import dualfold
from dualfold.view import Map, PageContent, make_page
from tests.tools.page_window import page_with_axe, serious_faults, state
from tests.view.door import FEW_COLORS, audit_content

pytest_plugins = ["tests.tools.page_fixtures"]  # tab, file_of, opened
EACH = 70


def three(torn: bool):
    """Three groups in four dimensions and their map; the first is cut in two where `torn`."""
    rng = np.random.default_rng(0)
    kind = np.repeat(np.arange(3), EACH)
    X = rng.normal(size=(3 * EACH, 4)) + 12 * np.eye(3, 4)[kind]
    Y = X[:, :2] + 14 * np.eye(3)[kind][:, 1:]
    if torn:
        Y[:EACH, 0] += np.where(X[:EACH, 3] > np.median(X[:EACH, 3]), 12, -12)
    return X, Y, np.array(["oak", "elm", "=ash"])[kind]


@pytest.fixture(scope="module")
def found():
    X, Y, labels = three(torn=True)
    return dualfold.audit(X, Y, labels=labels)


@pytest.fixture(scope="module")
def html(found):
    X, _, _ = three(torn=True)
    return make_page(replace(audit_content(found, X), features=X)).html


class Proof:
    """A certificate about some of the rows, as the page reads one."""

    eigengap, sense = None, "max"

    def __init__(self, about):
        self.about = about

    def to_dict(self):
        return {"level": "proved", "gap": 1e-9, "verdict": "proved", "about": self.about}


def colors_of(html):
    """Class of the legend → its colour, as the browser gets it."""
    data = json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])
    return {label: color for label, color, _ in data["columns"][0]["legend"]}


def test_the_page_says_first_whether_groups_are_real(opened, html, found):
    page = opened(html)
    labels = page.locator("#verdict .label").all_inner_texts()
    assert labels[:4] == [
        "Is it a good picture?", "Are its groups real?", "Are points misplaced?",
        "How many dimensions?",
    ]  # fmt: skip
    assert "Was the problem solved?" not in labels  # somebody's map has no certificate
    assert f"{found.count('group')} of {len(found.groups)}" in page.inner_text("#verdict")
    assert page.inner_text("#quote p") == found.paragraph


def test_groups_have_letters_on_the_map_and_a_verdict_each(opened, html, found):
    page = opened(html)
    letters = [one.name for one in found.groups]
    assert {name["text"] for name in page.evaluate("dualfold.names()")} == set(letters)
    said = page.locator("#audit li").all_inner_texts()
    for one, text in zip(found.groups, said, strict=True):
        assert text.startswith(one.name)
        assert f"mostly {one.label}" in text
    page.click("#audit li button >> nth=1")
    chosen = np.flatnonzero(found.map_groups.codes == 1)
    assert state(page)["selected"] == chosen.tolist()
    told = page.evaluate(f"dualfold.contrasts({chosen.tolist()}).map(one => one.column)")
    assert "column 1" in told
    assert not {"audit", "group on the map"} & set(told)
    page.click("#audit .term")
    assert "hill of the density" in page.inner_text("#explanation")


def test_a_verdict_has_one_colour_on_every_page(html, found):
    assert {one.verdict for one in found.groups} == {"group", "torn"}
    torn = colors_of(html)
    X, Y, _ = three(torn=False)
    whole = colors_of(make_page(audit_content(dualfold.audit(X, Y), X)).html)
    assert whole.items() <= torn.items()
    assert whole == {"group in the data, too": FEW_COLORS[0]}
    assert torn["torn off another group"] == FEW_COLORS[4]
    # rows that are left out of a page do not move the colours of the others
    few = make_page(replace(audit_content(found, X), most_mb=len(html) / 1e6 - 0.02))
    assert few.notices
    assert colors_of(few.html).items() <= torn.items()


@pytest.mark.full
def test_a_screen_reader_stumbles_over_no_part_of_an_audit(tab, file_of, html):
    page = page_with_axe(tab.context.browser, file_of(html))
    for step in (
        "null",
        "document.querySelector('#audit li button').click()",
        "document.querySelector('#audit .term').click()",
        "document.getElementById('theme').click()",
    ):
        page.evaluate(step)
        assert serious_faults(page) == [], step
    page.context.close()


def test_the_card_says_what_is_proved(opened):
    points = np.random.default_rng(0).normal(size=(30, 2))
    cases = (
        ("the 120 landmarks; the other points are placed by them", "about the 120 landmarks", ""),
        ("all columns of the points, and lengths as stored; more", "", "lengths as stored"),
        ("", "", ""),
    )
    maps = [Map("m", points, certificate=Proof(one[0])) for one in cases]
    page = opened(make_page(PageContent(maps)).html)
    for place, (about, value, note) in enumerate(cases):
        page.evaluate(f"dualfold.show({place})")
        said = page.inner_text(".figure.solved .value")
        assert said == ", ".join(filter(None, ["✓ proved", value]))
        assert note in page.inner_text(".figure.solved .note")
        assert ("about" in page.inner_text(".figure.solved")) == bool(about)
