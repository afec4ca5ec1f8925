"""Pages of the site that are written from the code: the API reference and the command line's."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

# The groups of the reference: title, a sentence, rooms; "" is the package itself.
GROUPS = (
    ("estimators", "Estimators and first calls", "What most users need.", ("", "errors")),
    (
        "judging",
        "Judging maps",
        "How good a map is, whoever made it; which method suits a table.",
        ("quality", "judging", "recommendation", "certificate"),
    ),
    ("tables", "Tables, files and large data", "Reading, preparing, storing.",
     ("data", "text", "exploration", "saved", "scale")),
    ("pictures", "Pictures and pages", "Figures, and the page in a browser.", ("view", "notebook")),
    (
        "blocks",
        "Building blocks",
        "Neighbour graphs, weights, trace problems, unfolding: to build a method of your own.",
        ("graph", "weights", "methods", "trace", "trace.solvers", "methods.maps", "embedding",
         "unfolding", "methods.points.tsne", "methods.points.neighbor_map"),
    ),
    (
        "advanced",
        "Advanced",
        "Convex programs, games, PCA by descent.",
        ("programs", "games", "point_pca"),
    ),
)  # fmt: skip
TEMPLATE = "   :template: autosummary/name.rst"
REFERENCE_INDEX = """Reference
=========

Every class and function of Python, and every command and option of the command line.

.. toctree::
   :maxdepth: 2
   :caption: Python

{entries}

.. toctree::
   :maxdepth: 1
   :caption: Command line

   /commands
   /methods
"""
REPOSITORY_PAGES = {
    "ARCHITECTURE.md": "/repository/architecture.md",
    "CONTRIBUTING.md": "/repository/contributing.md",
    "SECURITY.md": "/repository/security.md",
    "CHANGELOG.md": "/repository/changes.md",
    "benchmarks/RESULTS.md": "/repository/benchmarks.md",
}


def link_to_site(app: Any, name: str, source: list[str]) -> None:
    """Links to files of the repository that are no pages of the site lead to those made of them."""
    source[0] = re.sub(r"\]\(gallery/(plot_\w+)\.py\)", r"](/auto_gallery/\1.rst)", source[0])
    for file, page in REPOSITORY_PAGES.items():
        source[0] = re.sub(
            rf"\]\((?:\.\./)*{re.escape(file)}(#[^)]*)?\)", rf"]({page}\1)", source[0]
        )


def write_repository_pages(folder: Path) -> None:
    """Copies of Markdown files outside docs/, with links that lead to pages of the site."""
    root = folder.parent
    (folder / "repository").mkdir(exist_ok=True)
    for file, page in REPOSITORY_PAGES.items():
        text = (root / file).read_text(encoding="utf-8")
        text = re.sub(r"\]\(docs/dev/(?:skeletons|changes)/[^)]*\)", "]", text)
        text = re.sub(r"\]\(docs/([^)]+)\)", r"](/\1)", text)
        for other, its_page in REPOSITORY_PAGES.items():
            text = text.replace(f"]({other}", f"]({its_page}")
        if file.startswith("benchmarks/"):
            text = re.sub(r"\]\((figures/[^)]+)\)", r"](/../benchmarks/\1)", text)
        _write_changed(folder / page.lstrip("/"), text)


def public_names(room: str) -> list[str]:
    """What a room exports and the package itself does not; constants have no page of their own."""
    package = importlib.import_module("dualfold")
    module = importlib.import_module(f"dualfold.{room}") if room else package
    names = sorted(getattr(module, "__all__", ()))
    if room:
        whole = {name: getattr(package, name) for name in package.__all__}
        names = [name for name in names if whole.get(name) is not getattr(module, name)]
    return [name for name in names if callable(getattr(module, name))]


def skip_foreign_member(app: Any, what: str, name: str, thing: Any, *_: Any) -> bool | None:
    """Methods that scikit-learn and Python define have no place in our reference."""
    function = inspect.unwrap(getattr(thing, "fget", None) or thing)
    owner = getattr(function, "__objclass__", function)
    home = getattr(owner, "__module__", None)
    return True if what == "class" and home and not home.startswith("dualfold") else None


def write_reference(folder: Path) -> None:
    """One page a group, with a table for each room; autosummary writes a page a name."""
    target = folder / "reference"
    target.mkdir(exist_ok=True)
    titles, pages = [], set()
    for key, title, sentence, rooms in GROUPS:
        lines = [title, "=" * len(title), "", sentence, ""]
        for room in rooms:
            full = f"dualfold.{room}" if room else "dualfold"
            if importlib.util.find_spec(full) is None:
                continue
            names = public_names(room)
            if not names:
                continue
            pages |= {f"{full}.{name}.rst" for name in names}
            heading = f"``{full}``"
            lines += [heading, "-" * len(heading), ""]
            about = (importlib.import_module(full).__doc__ or "").strip().splitlines()
            lines += [about[0] if about else "", "", f".. currentmodule:: {full}", ""]
            lines += [".. autosummary::", "   :toctree: generated", TEMPLATE, ""]
            lines += [f"   {name}" for name in names] + [""]
        _write_changed(target / f"{key}.rst", "\n".join(lines))
        titles.append(key)
    for path in (target / "generated").glob("*.rst"):  # names that are gone since the last build
        if path.name not in pages:
            path.unlink()
    entries = "\n".join(f"   {key}" for key in titles)
    _write_changed(target / "index.rst", REFERENCE_INDEX.format(entries=entries))


def _write_changed(path: Path, text: str) -> None:
    """Write a file only where its text is new: unchanged pages are not built again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
