"""Sphinx will render every public docstring without a warning: each is reStructuredText."""

import functools
import io
from typing import Any

import pytest

pytestmark = pytest.mark.full  # seconds; the site's build sees the same
pytest.importorskip("numpydoc", reason="pip install '.[dev]'")
nodes = pytest.importorskip("docutils.nodes")

from docutils.core import publish_doctree  # noqa: E402  (numpydoc brings docutils)
from docutils.parsers.rst import Directive, directives, roles  # noqa: E402
from numpydoc.docscrape_sphinx import get_doc_object  # noqa: E402

from tests.workflows.test_numpydoc import NAMES, callables  # noqa: E402


class Section(Directive):
    """Stands for what Sphinx adds to reStructuredText: reads its content, and no more."""

    has_content = final_argument_whitespace = True
    optional_arguments = 9

    def run(self) -> list[Any]:
        whole = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, whole)
        return [whole]


@functools.cache
def warnings_of(text: str) -> str:
    """What docutils finds in a text."""
    told = io.StringIO()
    settings = {"warning_stream": told, "report_level": 1, "halt_level": 6}
    publish_doctree(text, settings_overrides=settings)
    return "\n".join(line for line in told.getvalue().splitlines() if '"obj"' not in line)


def rendered(thing: Any) -> str:
    """The docstring as numpydoc hands it to Sphinx."""
    owner = thing.fget if isinstance(thing, property) else getattr(thing, "func", thing)
    return str(get_doc_object(owner, config={"show_class_members": False}))


def test_docstrings_are_restructured_text() -> None:
    for name in ("rubric", "seealso", "autosummary", "only"):
        directives.register_directive(name, Section)
    roles.register_generic_role("obj", nodes.emphasis)
    found = {full: warnings_of(rendered(one)) for name in NAMES for full, one in callables(name)}
    assert not [f"{full}: {words}" for full, words in found.items() if words]
    assert warnings_of("`loadings_` and components_ are |alike|.")
