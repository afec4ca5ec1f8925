"""Every block of code in README.md and docs/*.md runs, as a reader would run it.

Each page gets an empty directory. Its blocks run there in the order of the page:

* ```python: in one namespace for the page, which begins empty. A block of `>>>` lines is a doctest.
  Elsewhere a comment that ends in "…" is what its line shows, up to there and up to the digits of
  numbers.
* ```sh: `dualfold …` and `python -m papers …` through the command line itself; the commands of
  `NOT_OURS` are recognised and not run. Several commands on a line have && between them.
* ```text: something to look at.

Numbers of 10,000 and more, written with an underscore, become 400: the text is about large data,
the test is about the code. A block that cannot run says so in a line of its own before it:
<!-- not run: the reason -->. Everything else is a mistake in the page.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
import shlex
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dualfold.cli import app
from tests.tools.demo_run import a_demo

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# These take seconds each; `.ci/run` runs them, too (pytest -m full).
LONG_PAGES = ("audit.md", "certificates.md", "scale.md", "trust.md", "which-method.md")
NOT_OURS = ("pip install", "pytest", "python -m benchmarks", "python docs/")
# The reason stands in the page, after the colon; an empty one marks nothing.
FENCE = re.compile(
    r"(?:<!-- not run: (?P<reason>\S.*?) -->\n)?^```(?P<kind>\S*)\n(?P<body>.*?)^```$", re.M | re.S
)
SMALL = "400"


@dataclass(frozen=True)
class Block:
    kind: str
    body: str
    line: int
    reason: str | None = None


def blocks(text: str) -> list[Block]:
    return [
        Block(
            found["kind"], found["body"], text[: found.start("body")].count("\n"), found["reason"]
        )
        for found in FENCE.finditer(text)
    ]


def smaller(code: str) -> str:
    return re.sub(r"\b\d{2,3}(?:_\d{3})+\b|\b[1-9](?:_\d{3}){2,}\b", SMALL, code)


# ---- Python


def run_python(body: str, names: dict[str, Any], where: str) -> None:
    if body.startswith(">>>"):
        # One example after the other, so that a comment may stand between them.
        test = doctest.DocTestParser().get_doctest(smaller(body), names, where, where, 0)
        told = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=told.write, clear_globs=False)
        names.update(test.globs)
        assert runner.summarize(verbose=False).failed == 0, told.getvalue()
        return
    code = smaller(body)
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        shown = run_statement(statement, names, where)
        promised = promise(lines[(statement.end_lineno or 1) - 1])
        if promised is not None:
            assert masked(shown).startswith(masked(promised)), f"{where} shows {shown!r}"


def run_statement(statement: ast.stmt, names: dict[str, Any], where: str) -> str:
    """Run it; what it prints, or the value of an expression, as text."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), where, "eval"), names)
            if value is not None:
                print(value)
        else:
            exec(compile(ast.Module([statement], []), where, "exec"), names)
    return said.getvalue()


def promise(line: str) -> str | None:
    """What a comment says that its line shows."""
    _, mark, comment = line.partition("  # ")
    return comment.removesuffix("…").strip() if mark and comment.endswith("…") else None


def masked(text: str) -> str:
    """Without the digits: they belong to another size of data, or to another machine."""
    return re.sub(r"\d[\d.,]*(?:e[-+]?\d+)?", "#", " ".join(text.split()))


# ---- the command line


_recommended: set[tuple[str, str]] = set()


def run_command(command: str, where: str) -> None:
    if command.startswith(NOT_OURS):
        return
    words = shlex.split(command, comments=True)
    assert words, f"{where}: an empty command"
    if words[:3] == ["python", "-m", "papers"]:
        from papers.__main__ import app as reproduction

        result = CliRunner().invoke(reproduction, words[3:])
        assert result.exit_code == 0, f"{where}: {command}\n{result.output}\n{result.exception}"
        return
    assert words[0] == "dualfold", f"{where}: {command!r} is neither ours nor one of {NOT_OURS}"
    if words[1:] == ["demo"]:  # it reads no file of the page: once, with few rows, is enough
        assert (a_demo().folder / "demo.png").exists()
        return
    if words[1] == "recommend":  # it writes nothing: once for the same words and the same table
        asked = (command, Path(words[2]).read_text(encoding="utf-8"))
        if asked in _recommended:
            return
        _recommended.add(asked)
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0, f"{where}: {command}\n{result.output}\n{result.exception}"


def run_shell(body: str, where: str) -> None:
    joined = body.replace("\\\n", " ")
    for line in joined.splitlines():
        for command in line.partition("  #")[0].split("&&"):
            if command.strip() and not command.strip().startswith("#"):
                run_command(command.strip(), where)


# ---- the tests


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.full if page.name in LONG_PAGES else ())
        for page in PAGES
    ],
    ids=lambda page: page.name,
)
def test_the_blocks_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # empty: commands read what commands wrote
    names: dict[str, Any] = {}
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.name}:{block.line}"
        assert block.kind in ("python", "sh", "text"), f"{where}: ```{block.kind} is not known"
        if block.reason is not None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if block.kind == "python":
                run_python(block.body, names, where)
            elif block.kind == "sh":
                run_shell(block.body, where)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_fence_is_seen_and_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("\n```") == 2 * len(blocks(text)), "a fence that does not close"
    linked = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(FENCE, "", text))
    near = [link for link in linked if "://" not in link]
    assert not [link for link in near if not (page.parent / link).exists()]


def test_every_picture_is_light_made_by_the_script_and_shown() -> None:
    from runpy import run_path

    folder = ROOT / "docs" / "pictures"
    made = run_path(str(folder / "make.py"))["PICTURES"]
    files = {picture.stem: picture.stat().st_size for picture in folder.glob("*.png")}
    assert set(files) == set(made)
    assert all(size < 200_000 for size in files.values()), files
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert all(f"pictures/{name}.png" in pages for name in files)


# ---- and they notice


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("python", "1 / 0\n"),
        ("python", ">>> 1 + 1\n3\n"),
        ("python", "print('two words')  # three words …\n"),
        ("sh", "dualfold embed no_such_file.csv\n"),
        ("sh", "rm table.csv\n"),
        ("sh", "pip install . && dualfold nonsense\n"),
        ("sh", "python -m papers nonsense\n"),
    ],
)
def test_a_broken_block_is_noticed(
    kind: str, body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_python if kind == "python" else lambda body, names, where: run_shell(body, where)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        run(body, {}, "here")


def test_marks_and_numbers_are_read() -> None:
    page = "<!-- not run: needs a key -->\n```python\nX\n```\n```\nno kind\n```\n"
    assert [(b.kind, b.reason) for b in blocks(page)] == [("python", "needs a key"), ("", None)]
    assert smaller("f(100_000, 1_000_000, 5_000, 10_000)") == "f(400, 400, 5_000, 400)"
    assert masked("optimal to 2e-14 (58 %)") == masked("optimal to 5.5e-10 (7 %)")
