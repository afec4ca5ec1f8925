"""Every example of the gallery is a short question with its answer, and its picture has words."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
EXAMPLES = sorted(GALLERY.glob("plot_*.py"))
MAX_LINES = 60


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_question_with_its_answer(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    words = ast.get_docstring(ast.parse(text)) or ""
    assert "?" in words.splitlines()[0], "the title asks no question"
    assert "**In short:**" in words, "the answer in a sentence is missing"
    assert len(text.splitlines()) <= MAX_LINES


def test_every_picture_has_an_alternative_text() -> None:
    texts = tomllib.loads((GALLERY / "alternative_texts.toml").read_text(encoding="utf-8"))
    assert set(texts) == {example.stem for example in EXAMPLES}
