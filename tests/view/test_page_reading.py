"""What a reader asks the page: which columns, which groups, is it a good picture, what is that?"""

import io
import re
import shutil
import subprocess

import numpy as np
import pytest
from matplotlib import image
from scipy.spatial.distance import cdist

from dualfold.view import Map, PageContent, make_page, measured_map
from tests.tools.page_contents import page_html
from tests.tools.page_window import (
    drag,
    page_with_axe,
    pixels_of,
    serious_faults,
    state,
    wait_for_selection,
)
from tests.view.door import PAGE_TERMS

pytest_plugins = ["tests.tools.page_fixtures"]  # tab, file_of, opened
N, K = 240, 6
GREEN = (0, 115, 79)  # --good of the light theme


class Proof:
    """A certificate as the page reads one."""

    eigengap, sense = 0.5, "max"

    @staticmethod
    def to_dict():
        words = "proved: optimal to 1e-09 (relative); a positive definite dual matrix excludes it"
        return {"level": "proved", "gap": 1e-9, "verdict": words, "lower": 1.0, "upper": 1.0}


def table():
    """Six towns in two countries, some numbers, some text; and two maps of them."""
    rng = np.random.default_rng(0)
    town = np.repeat(np.arange(6), N // 6)
    middles = np.array([[0, 0], [9, 0], [4, 7], [30, 2], [38, 5], [31, 9.0]])
    places = middles[town] + rng.normal(size=(N, 2))
    blurred = places @ [[1, 0.5, -1], [1, -1, 0]] + 0.05 * rng.normal(size=(N, 3))
    X = np.column_stack([places, blurred])
    X[::17, 1] = np.nan
    columns = {
        "country": np.where(town < 3, "Inland", "Seaside"),
        "town": np.array([f"Town {'ABCDEF'[i]}" for i in town]),
        "remark": [
            f"{i}: the roof leaks" if i % 40 == 7 else f"{i}: all is well" for i in range(N)
        ],
    }
    return X, columns, places, rng.normal(size=(N, 2))


@pytest.fixture(scope="module")
def towns():
    X, columns, good, bad = table()
    known = np.nan_to_num(X)
    maps = [
        measured_map(
            Map("good", good, values=[3.0, 2.0], certificate=Proof()), known, n_neighbors=K
        ),
        measured_map(Map("bad", bad, certificate=Proof()), known, n_neighbors=K),
    ]
    names = [f"c{place}" for place in range(5)]
    return page_html(maps, title="Towns", columns=columns, features=(names, X))


@pytest.fixture
def page(opened, towns):
    """The page of the towns as it was when it was opened, with all its panels."""
    page = opened(towns)
    page.wait_for_selector("#panels .chart svg >> nth=3")
    return page


def standardised(inside, outside):
    """The difference of means over the root of the mean variance, where both are known."""
    inside, outside = (part[np.isfinite(part)] for part in (inside, outside))
    step = inside.mean() - outside.mean()
    return step / np.sqrt((inside.var() + outside.var()) / 2) if step else 0.0


def test_all_columns_tell_a_selection_from_the_rest(page):
    X, columns, _, _ = table()
    options = page.locator("#color option").all_text_contents()
    assert {"country", "town", "remark", "c0", "c4", "trustworthiness"} <= set(options)
    rows = list(range(10, 100))
    rest = np.setdiff1d(np.arange(N), rows)
    page.evaluate("rows => dualfold.select(rows)", rows)
    found = {
        one["column"]: one
        for one in page.evaluate("dualfold.contrasts([...Array(90).keys()].map(i => i + 10))")
    }
    for place in range(5):
        told = found[f"c{place}"]
        assert told["difference"] == pytest.approx(standardised(X[rows, place], X[rest, place]))
        assert told["values"][0] == pytest.approx(np.nanmean(X[rows, place]))
    told = found["town"]
    shares = {
        town: standardised(
            *((columns["town"][part] == town).astype(float) for part in (rows, rest))
        )
        for town in set(columns["town"])
    }
    assert told["difference"] == pytest.approx(shares[told["detail"]])
    assert abs(told["difference"]) == pytest.approx(max(map(abs, shares.values())))
    assert "remark" not in found
    sizes = [abs(one["difference"]) for one in found.values()]
    assert sizes == sorted(sizes, reverse=True)
    line = page.locator("#selection tbody tr").filter(has_text="town").first
    head, inside, outside, _ = line.locator("th, td").all_inner_texts()
    assert head.split("\n") == ["town", f"share of {told['detail']}"]
    for shown, part in zip((inside, outside), (rows, rest), strict=True):
        share = 100 * (columns["town"][part] == told["detail"]).mean()
        assert float(shown.removesuffix("%")) == pytest.approx(share, rel=0.05)
    first = page.locator("#selection tbody th button").first
    assert first.inner_text() == next(iter(found))
    page.click("#selection tbody th button >> text=c4")
    assert state(page)["color"] == "column:c4"


def test_a_points_values_stand_beside_those_of_its_neighbours(page):
    X = table()[0]
    page.evaluate("dualfold.focus(77)")
    near = np.argsort(cdist(np.nan_to_num(X)[[77]], np.nan_to_num(X))[0], kind="stable")[1 : K + 1]
    cells = {
        row[0]: row[1:]
        for row in (
            line.locator("th, td").all_inner_texts()
            for line in page.locator("#point tbody tr").all()
        )
    }
    assert set(cells) == {"country", "town", "c0", "c1", "c2", "c3", "c4"}
    for place in range(5):
        own, data = cells[f"c{place}"][:2]
        assert own[-1] == "…"
        assert str(X[77, place]).startswith(own[:-1])
        range_ = np.nanmax(X[:, place]) - np.nanmin(X[:, place])
        assert float(data) == pytest.approx(np.nanmean(X[near, place]), abs=range_ / 1000)
    assert cells["town"][0] == "Town B"
    assert cells["town"][1] == f"{K} of {K} Town B"
    assert "roof" not in page.inner_text("#point")
    assert page.inner_text("#point dd >> nth=0") == "77: all is well"


def test_text_is_searched_and_what_is_not_there_stays_said(page):
    page.fill("#search", "ROOF")
    assert page.locator("#found li").count() == 7  # six rows and "all"
    assert "the roof leaks" in page.inner_text("#found li >> nth=0")
    page.click("#found .every")
    assert state(page)["selected"] == list(range(7, N, 40))
    page.fill("#search", "no such town")
    page.press("#search", "Enter")
    assert page.inner_text("#found") == "No such row"
    assert page.is_visible("#found")
    page.press("#search", "Escape")
    assert not page.is_visible("#found")
    assert state(page)["selected"], "the first Escape closed the list alone"


def test_escape_works_wherever_the_focus_is(page):
    for place in ("#color", "#legend button.class", "#png", "[role=tab]", "#frame", "#search"):
        page.evaluate("dualfold.select([1, 2]); dualfold.focus(3)")
        page.focus(f"{place} >> nth=0")
        page.keyboard.press("Escape")
        assert (state(page)["selected"], state(page)["focus"]) == ([], None), place
    page.click("[data-tool=lasso]")
    page.keyboard.press("Escape")
    assert page.get_attribute("[data-tool=pan]", "aria-pressed") == "true"
    page.click(".term >> nth=0")
    page.keyboard.press("Escape")
    assert not page.is_visible("#explanation")
    assert page.evaluate("document.activeElement.classList.contains('term')")


def test_a_lasso_beside_a_hidden_class_leaves_the_map_as_it_is(page):
    columns = table()[1]
    page.evaluate("dualfold.colorBy('column:town')")
    page.click("#legend button.class >> text=Town B")
    where = pixels_of(page)
    low, high = where.min(axis=0) - 4, np.median(where, axis=0)
    corners = [low, [high[0], low[1]], high, [low[0], high[1]], low + np.array([0, 5])]
    page.click("[data-tool=lasso]")
    drag(page, [list(map(float, corner)) for corner in corners])
    selected = wait_for_selection(page)
    seen = columns["town"] != "Town B"
    inside = ((where > low) & (where < high)).all(axis=1) & seen
    unsure = np.abs(where - high).min(axis=1) < 3
    assert set(selected) ^ set(np.flatnonzero(inside)) <= set(np.flatnonzero(unsure))
    page.wait_for_timeout(100)
    assert state(page)["shown"] == seen.sum()
    assert state(page)["clear"] == [len(selected)]
    assert page.locator("#outline path").count() == 0
    page.mouse.move(*where[0])  # an outline that is begun goes with its tool
    page.mouse.down()
    page.mouse.move(*(where[0] + 40))
    page.mouse.move(*(where[0] + [40, 0]))
    assert page.locator("#outline path").count() == 1
    page.evaluate("document.querySelector('[data-tool=pan]').click()")
    page.mouse.up()
    assert page.locator("#outline path").count() == 0
    assert state(page)["selected"] == selected


def test_names_of_groups_nest_and_never_overlap(page):

    def placed():
        return page.evaluate("dualfold.names()")

    found = placed()
    assert {name["text"] for name in found} == {
        "Inland", "Seaside", *(f"Town {letter}" for letter in "ABCDEF"),
    }  # fmt: skip
    for at, one in enumerate(found):
        for other in found[:at]:
            apart = [abs(one[axis] - other[axis]) for axis in "xy"]
            room = [(a + b) / 2 for a, b in zip(one["box"], other["box"], strict=True)]
            assert apart[0] >= room[0] or apart[1] >= room[1], (one, other)
    sizes = page.evaluate(
        "[...document.querySelectorAll('#overlay .name')].map("
        "t => [t.textContent, +t.getAttribute('font-size')])"
    )
    assert min(s for t, s in sizes if "Town" not in t) > max(s for t, s in sizes if "Town" in t)
    page.click("#legend button.class >> text=Inland")
    assert "Inland" not in {name["text"] for name in placed()}
    page.click("#names")
    assert placed() == []


def shown_color(page, selector):
    text = page.evaluate("s => getComputedStyle(document.querySelector(s)).color", selector)
    return tuple(map(int, re.findall(r"\d+", text)[:3]))


def test_a_bad_picture_is_louder_than_a_proof(page):
    size = "s => parseFloat(getComputedStyle(document.querySelector(s)).fontSize)"
    for place, grade in ((0, "good"), (1, "hardly any")):
        page.evaluate(f"dualfold.show({place})")
        cards = page.locator("#verdict .figure .label").all_inner_texts()
        assert cards[:2] == ["Is it a good picture?", "Was the problem solved?"]
        assert grade in page.inner_text(".figure.picture .value")
        assert page.inner_text(".figure.solved .value") == "✓ proved"
        assert page.evaluate(size, ".figure.picture .value") > 1.3 * page.evaluate(
            size, ".figure.solved .value"
        )
        assert (shown_color(page, ".figure.solved .value") == GREEN) == (grade == "good")
        assert (shown_color(page, ".figure.picture .value") == GREEN) == (grade == "good")


def test_every_term_explains_itself(page):
    page.evaluate("dualfold.focus(5)")
    words = page.evaluate("[...document.querySelectorAll('.term')].map(b => b.textContent)")
    told = {word.lower() for word in words}
    assert {"trustworthiness", "continuity", "r_nx", "dual matrix", "eigengap", "kept"} <= told
    shown = page.evaluate(
        "[...document.querySelectorAll('.term')].map(b => { b.click(); const box ="
        " document.getElementById('explanation'); const seen = [box.hidden, box.innerText];"
        " b.click(); return [...seen, box.hidden]; })"
    )
    plain = {term.plain for term in PAGE_TERMS.values()}
    for word, (hidden, text, closed) in zip(words, shown, strict=True):
        assert not hidden, word
        assert closed, word
        assert any(sentence in text for sentence in plain), word
    page.click(".term >> text=dual matrix")
    assert page.text_content("#explanation .formula") == PAGE_TERMS["dual matrix"].formula


def test_side_by_side_each_map_has_its_verdict_and_the_same_point(page):
    page.click("#beside")
    page.wait_for_function(f"dualfold.state().shown === {2 * N}")
    words = page.locator("#titles .title").all_inner_texts()
    assert "good" in words[0]
    assert "hardly any" in words[1]
    assert all("proved" in title for title in words)
    assert page.locator("#overlay .divider").count() == 1
    page.evaluate("dualfold.focus(9)")
    assert page.locator("#overlay .centre").count() == 2
    page.evaluate("dualfold.focus(null)")
    where = pixels_of(page, 1)
    row = int(np.argmax(np.sort(cdist(where, where), axis=1)[:, 1]))
    page.mouse.move(*where[row] + 20)
    page.mouse.move(*where[row], steps=3)
    page.wait_for_selector("#tip:not([hidden])")
    frame = page.evaluate(
        "(b => [b.left, b.top])(document.getElementById('plot').getBoundingClientRect())"
    )
    rings = page.evaluate(
        "[...document.querySelectorAll('#overlay .same')].map("
        "c => [+c.getAttribute('cx'), +c.getAttribute('cy')])"
    )
    expected = [pixels_of(page, place)[row] - frame for place in (0, 1)]
    np.testing.assert_allclose(rings, expected, atol=1)
    page.mouse.move(2, 2)


@pytest.mark.full
def test_exported_pictures_keep_marks_and_names(page):
    taken = []
    for row in (None, 33):
        page.evaluate("row => dualfold.focus(row)", row)
        code = page.evaluate(
            "dualfold.picture().then(b => b.arrayBuffer()).then(a => [...new Uint8Array(a)])"
        )
        taken.append(image.imread(io.BytesIO(bytes(code)))[:, :, :3])
    frame = page.evaluate(
        "(b => [b.left, b.top])(document.getElementById('plot').getBoundingClientRect())"
    )
    x, y = np.array(page.evaluate("dualfold.pixelOf(33)")) - frame
    ring = [
        (round(2 * (40 + y + 7 * np.sin(turn))), round(2 * (x + 7 * np.cos(turn))))
        for turn in np.linspace(0, 6, 12)
    ]
    dark = [[picture[at].max() < 0.45 for at in ring] for picture in taken]
    assert sum(dark[1]) >= 10 > sum(dark[0]) + 2
    name = page.evaluate("dualfold.names().find(n => n.text === 'Seaside')")
    left, top = 2 * (name["x"] - name["box"][0] / 2), 2 * (40 + name["y"] - name["box"][1] / 2)
    under = taken[0][int(top) : int(top) + int(2 * name["box"][1])][
        :, int(left) : int(left) + int(2 * name["box"][0])
    ]
    assert (under.max(axis=2) < 0.6).mean() > 0.03  # ink of the letters


@pytest.mark.full
def test_print_has_colours_whole_cards_and_no_empty_page(page, tmp_path):
    page.evaluate("dualfold.focus(5)")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.swatch')).printColorAdjust")
        == "exact"
    )
    for card in (".figure", "#side > section", "#panels figure", "#frame"):
        rule = "s => getComputedStyle(document.querySelector(s)).breakInside"
        assert page.evaluate(rule, card) == "avoid", card
    painted = page.evaluate(
        "(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter("
        "(v, i) => i % 4 === 3 && v > 20).length)(document.getElementById('printed'))"
    )
    assert painted > 500
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (apt-get install poppler-utils)")
    told = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"],
        capture_output=True,
        text=True,
        check=True,
    )
    sheets = told.stdout.split("\f")[:-1]
    assert 2 <= len(sheets) <= 4
    assert all(len(sheet.split()) > 20 for sheet in sheets)


def test_the_page_needs_no_library(towns):
    assert towns.count("<script") == 2, "data and our own"
    assert "unsafe-eval" not in towns


@pytest.mark.full
def test_a_screen_reader_stumbles_over_nothing(tab, file_of, towns):
    """axe-core finds no serious fault in any state of the page, and does find one that is made."""
    page = page_with_axe(tab.context.browser, file_of(towns))
    for step in (
        "null",
        "dualfold.focus(5)",
        "dualfold.select([1, 2, 3, 150])",
        "dualfold.besides(true)",
        "document.querySelector('.term').click()",
        "document.getElementById('theme').click()",
    ):
        page.evaluate(step)
        assert serious_faults(page) == [], step
    page.evaluate("document.getElementById('search').removeAttribute('aria-label')")
    page.evaluate("document.getElementById('search').removeAttribute('placeholder')")
    assert serious_faults(page) == ["label"]
    page.context.close()


def test_a_page_that_was_hidden_shows_its_maps_again(page):
    """A folded cell of a notebook has no size; ranges once became no numbers for good."""
    page.click("#beside")
    page.wait_for_function("dualfold.spans().length > 1")
    before = page.evaluate("dualfold.spans()")
    for shown in ("none", ""):
        page.evaluate(f"document.getElementById('stage').style.display = '{shown}'")
        page.wait_for_timeout(400)
    after = page.evaluate("dualfold.spans()")
    for one, other in zip(before, after, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert np.allclose([*one["x"], *one["y"]], [*other["x"], *other["y"]])


def test_a_page_without_notes_has_none(page):
    assert not page.is_visible("#notes")
    assert not page.is_visible("#doubt")


# Pages of their own, last: the one before is opened once.


def test_contours_enclose_the_shares_that_they_say(opened):
    points = np.random.default_rng(0).normal(size=(6000, 2))
    page = opened(page_html([Map("cloud", points)]))
    paths = page.evaluate(
        "[...document.querySelectorAll('#overlay .contour')].map(p => { const m = p.getCTM();"
        " return [...p.getAttribute('d').matchAll(/M([^ ]+) ([^L]+)L/g)].map(c =>"
        " [m.a * c[1] + m.e, m.d * c[2] + m.f]); })"
    )
    assert len(paths) == 4
    span = page.evaluate("dualfold.spans()[0]")
    wide = page.evaluate("document.getElementById('frame').clientWidth")
    unit = (span["x"][1] - span["x"][0]) / (wide - 8)
    middle = np.array([4 - span["x"][0] / unit, 4 + span["y"][1] / unit])
    # A share q of a round cloud lies within √(−2 ln(1 − q)); the grid widens it a little.
    widened = np.sqrt(1 + 3 * 2 * ((points.max(0) - points.min(0)).mean() * 1.1 / 96) ** 2)
    for share, path in zip((0.25, 0.5, 0.75, 0.9), paths, strict=True):
        radii = np.linalg.norm((np.array(path) - middle) * unit, axis=1)
        expected = widened * np.sqrt(-2 * np.log(1 - share))
        assert np.median(radii) == pytest.approx(expected, rel=0.08), share
    page.click("#contours")
    assert page.locator("#overlay .contour").count() == 0


def test_groups_that_lie_mixed_get_no_names(opened):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 2)) + np.repeat([[0, 0], [12, 0]], 200, axis=0)
    columns = {
        "mixed": rng.choice(["yes", "no"], 400),
        "apart": np.repeat(["left", "right"], 200),
    }
    page = opened(page_html([Map("two", points)], columns=columns, color="mixed"))
    named = {name["text"] for name in page.evaluate("dualfold.names()")}
    assert not named & {"yes", "no"}
    page.evaluate("dualfold.colorBy('column:apart')")
    assert {name["text"] for name in page.evaluate("dualfold.names()")} == {"left", "right"}


def test_how_the_table_was_read_can_be_looked_up(opened, tab):
    points = np.random.default_rng(0).normal(size=(50, 2))
    notes = (
        "'id': <b>left out</b>; --keep id uses it",
        "'target': used as a feature, although it may be the target; --color target keeps it apart",
    )
    made = make_page(PageContent([Map("one", points)], notes=notes))
    tab.set_viewport_size({"width": 390, "height": 844})
    page = opened(made.html)
    assert page.inner_text("#doubt").startswith("'target': used as a feature")
    assert page.inner_text("#doubt code") == "--color"
    assert not page.is_visible("#notes li")
    page.focus("#notes summary")
    page.keyboard.press("Enter")
    assert page.inner_text("#notes li") == "'id': <b>left out</b>; --keep id uses it."
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
