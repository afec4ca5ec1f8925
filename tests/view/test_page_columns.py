"""Columns with a place on the map: drawn, named, in the key, found, and under the pointer."""

import numpy as np
import pytest

from dualfold.view import Map
from tests.tools.page_contents import data_of, page_html
from tests.tools.page_window import state

pytest_plugins = ["tests.tools.page_fixtures"]  # tab, file_of, opened
COLUMNS = {"fair": [-2.0, 0.0], "<b>dark</b>": [2.0, 0.5], "red": [0.0, -1.5]}


@pytest.fixture(scope="module")
def eyes():
    points = np.array([[-1.0, 0.2], [1.0, -0.2], [0.2, 0.9], [-0.3, -0.8]])
    names = ["blue", "light", "medium", "brown"]
    shown = Map("correspondence", points, columns=COLUMNS, explained=[0.8, 0.1], explains="inertia")
    return page_html([shown], names=names)


def test_rows_and_columns_are_named_on_the_map_and_in_the_key(opened, eyes):
    page = opened(eyes)
    names = page.evaluate("dualfold.names().map(({ text }) => text)")
    assert set(names) == {*COLUMNS, "blue", "light", "medium", "brown"}
    spans = page.evaluate("dualfold.spans()[0]")
    assert spans["x"][0] < -2 < 2 < spans["x"][1]  # the columns lie inside
    key = page.locator("#legend ul.kinds li").all_inner_texts()
    assert [" ".join(line.split()) for line in key] == ["rows 4", "columns 3"]
    assert "of the inertia" in page.locator("#overlay text.axis").first.text_content()


def test_a_column_is_found_and_is_under_the_pointer(opened, eyes):
    page = opened(eyes)
    page.fill("#search", "DARK")
    page.press("#search", "Enter")
    assert state(page)["column"] == "<b>dark</b>"
    ring = page.locator("#overlay .column")
    assert ring.count() == 1
    box = ring.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    page.wait_for_selector("#tip:not([hidden])")
    assert "a column of the table" in page.locator("#tip").inner_text()
    assert page.locator("#tip strong").inner_text() == "<b>dark</b>"
    page.evaluate("dualfold.focus(1)")
    assert state(page)["column"] is None


def test_the_page_holds_the_places_of_the_columns(eyes):
    (shown,) = data_of(eyes)["maps"]
    assert {one["name"]: one["at"] for one in shown["columns"]} == COLUMNS
