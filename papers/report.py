"""One report of what was found: Markdown with its pictures beside it, and one HTML file."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from papers.finding import PAPERS, VERDICTS, Done, Finding, Kind, Paper, Row, Setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "The papers, put to the test"
COLUMNS = ("kind", "what", "said", "ours", "difference", "verdict", "note")
KINDS: dict[Kind, tuple[str, str]] = {
    "number": ("The papers' numbers", "a printed number, made again"),
    "claim": ("The papers' claims", "what a paper says, put to the test"),
    "theorem": ("Theorems on our code", "what is proved, checked on our answers"),
    "identity": ("Identities", "two ways to compute one thing, one of them ours"),
}
# What is said of several rows that hold.
GOOD = {kind: said[0].replace("holds", "hold") for kind, said in VERDICTS.items()}
SIZES = {
    "brief": "the smallest sizes that show the effect",
    "quick": "quick sizes; `--full` takes the papers' own",
    "full": "full size",
}


def picture_name(done: Done, place: int) -> str:
    """The file of a finding's picture, beside the Markdown report."""
    return f"{done.experiment.name}-{place + 1}.png"


# Drawing takes half a second a figure, and both reports show it.
_drawn: WeakKeyDictionary[Figure, bytes] = WeakKeyDictionary()


def picture(figure: Figure) -> bytes:
    """A figure as PNG."""
    from dualfold.view.figures import figure_bytes

    if figure not in _drawn:
        _drawn[figure] = figure_bytes(figure, "figure.png")
    return _drawn[figure]


def counted(number: int, thing: str) -> str:
    """1 row, 2 rows."""
    return f"{number} {thing}{'s' * (number != 1)}"


def summary(found: Sequence[Done]) -> str:
    """The four counts, in a sentence, and where our code is at fault."""
    words = [f"{counted(len(found), 'experiment')}."]
    for kind, (title, _) in KINDS.items():
        good, whole = counts(found)[kind]
        words.append(f"{title}: {good} of {whole} {GOOD[kind]}.")
    wrong = [done.experiment.name for done in found if done.finding.failed]
    if wrong:
        words.append(f"Something is wrong in {', '.join(wrong)}.")
    return " ".join(words)


def counts(found: Sequence[Done]) -> dict[Kind, tuple[int, int]]:
    """Counts by kind: how many rows hold, of how many."""
    rows = [row for done in found for row in done.finding.rows]
    return {
        kind: (
            sum(row.kind == kind and bool(row.holds) for row in rows),
            sum(row.kind == kind for row in rows),
        )
        for kind in KINDS
    }


def unconfirmed(found: Sequence[Done]) -> list[tuple[str, list[str]]]:
    """Each experiment with numbers that did not come out or claims not confirmed, and which."""
    return [
        (done.experiment.name, [f"{row.what} ({row.verdict})" for row in done.finding.unconfirmed])
        for done in found
        if done.finding.unconfirmed
    ]


def markdown_report(found: Sequence[Done], setting: Setting) -> str:
    """The report with links to pictures of the names that `picture_name` gives."""
    lines = [f"# {TITLE}", "", "| kind of row | | of | what it is |", "|---|---|---|---|"]
    for kind, (good, whole) in counts(found).items():
        title, words = KINDS[kind]
        lines.append(f"| {title} | {good} {GOOD[kind]} | {whole} | {words} |")
    lines += ["", _preface(found, setting), ""]
    if unconfirmed(found):
        lines += ["Not reproduced or not confirmed:", ""]
        lines += [f"* `{name}`: {'; '.join(rows)}" for name, rows in unconfirmed(found)] + [""]
    for paper, some in _by_paper(found):
        lines += [f"## {paper.author}: {paper.title}", ""]
        for done in some:
            lines += [*_markdown_section(done), ""]
    return "\n".join(lines).rstrip() + "\n"


def html_report(found: Sequence[Done], setting: Setting) -> str:
    """The report as one file that needs nothing else: pictures and style are inside."""
    body = [
        f"<h1>{TITLE}</h1>",
        _counts_table(found),
        f"<p>{_code(_preface(found, setting))}</p>",
        *_unconfirmed_list(found),
        _contents(found),
    ]
    for paper, some in _by_paper(found):
        body.append(f"<h2>{escape(paper.author)}: {escape(paper.title)}</h2>")
        body += [_html_section(done) for done in some]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def number(value: float | str | None) -> str:
    """Four digits, a true minus sign, and nothing for nothing."""
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.4g}".replace("-", "−")


def _preface(found: Sequence[Done], setting: Setting) -> str:
    seconds = sum(done.seconds for done in found)
    return (
        f"Made by `python -m papers` ({SIZES[setting.size]}; seed {setting.seed}) in "
        f"{seconds:.0f} s. “Said” is the paper's number or claim, or what the theorem gives; the "
        "difference is ours less that, and the note has the tolerance and its reason. A number "
        "not reproduced or a claim not confirmed is a finding about the paper (docs/errata.md); a "
        "theorem or an identity that fails is a mistake of ours."
    )


def _by_paper(found: Sequence[Done]) -> Iterator[tuple[Paper, list[Done]]]:
    for paper in PAPERS:
        some = [done for done in found if done.experiment.paper == paper.letter]
        if some:
            yield paper, some


def _cells(row: Row) -> tuple[str, ...]:
    verdict = row.verdict if row.holds else f"**{row.verdict}**"
    signed = "" if row.difference is None else f"{row.difference:+.2g}".replace("-", "−")
    kind = row.kind or ""
    return kind, row.what, number(row.paper), number(row.ours), signed, verdict, row.note


def _judged(finding: Finding) -> list[Row]:
    return [row for row in finding.rows if row.kind is not None]


def _also(finding: Finding) -> str:
    """Rows held against nothing, in a line under the table."""
    parts = [
        f"{row.what} {number(row.ours)}" + (f" ({row.note})" if row.note else "")
        for row in finding.rows
        if row.kind is None
    ]
    return f"Also measured: {'; '.join(parts)}." if parts else ""


def _used(finding: Finding) -> list[int]:
    """Columns in which some row says something."""
    rows = [_cells(row) for row in _judged(finding)]
    return [at for at in range(len(COLUMNS)) if any(cells[at] for cells in rows)]


def _markdown_section(done: Done) -> list[str]:
    finding, experiment = done.finding, done.experiment
    lines = [f"### {experiment.title} ({experiment.place})", "", finding.sentence, ""]
    if _judged(finding):
        used = _used(finding)
        lines.append("| " + " | ".join(COLUMNS[at] for at in used) + " |")
        lines.append("|" + "---|" * len(used))
        for row in _judged(finding):
            cells = _cells(row)
            shown = (cells[at].replace("|", "\\|") for at in used)
            lines.append("| " + " | ".join(shown) + " |")
        lines.append("")
    lines += [_also(finding), ""] if _also(finding) else []
    for place, (caption, _) in enumerate(finding.figures):
        lines += [f"![{caption}]({picture_name(done, place)})", "", f"*{caption}*", ""]
    lines.append(" ".join([*finding.notes, f"(`{experiment.name}`, {done.seconds:.1f} s)"]))
    return lines


def _html_section(done: Done) -> str:
    finding, experiment = done.finding, done.experiment
    parts = [
        f'<section id="{experiment.name}">',
        f"<h3>{escape(experiment.title)} <small>{escape(experiment.place)}</small></h3>",
        f"<p>{_code(finding.sentence)}</p>",
    ]
    if _judged(finding):
        used = _used(finding)
        parts.append('<div class="wide"><table><thead><tr>')
        kinds = ("k", "", "n", "n", "n", "", "")
        parts += [f'<th scope="col" class="{kinds[at]}">{COLUMNS[at]}</th>' for at in used]
        parts.append("</tr></thead><tbody>")
        for row in _judged(finding):
            parts.append("<tr>" if row.holds else f'<tr class="{_off(row)}">')
            cells = _cells(row)
            parts += [
                f'<td class="{kinds[at]}">{_code(cells[at].replace("**", ""))}</td>' for at in used
            ]
            parts.append("</tr>")
        parts.append("</tbody></table></div>")
    if _also(finding):
        parts.append(f"<p class=notes>{_code(_also(finding))}</p>")
    for caption, figure in finding.figures:
        inside = base64.b64encode(picture(figure)).decode()
        parts.append(
            f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{inside}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
    tail = " ".join([*finding.notes, f"(`{experiment.name}`, {done.seconds:.1f} s)"])
    parts.append(f"<p class=notes>{_code(tail)}</p></section>")
    return "\n".join(parts)


def _off(row: Row) -> str:
    return "wrong" if row.kind in ("theorem", "identity") else "off"


def _counts_table(found: Sequence[Done]) -> str:
    parts = ['<table class="lead"><tbody>']
    for kind, (good, whole) in counts(found).items():
        title, words = KINDS[kind]
        parts.append(
            f'<tr><th scope="row">{escape(title)}</th><td>{good} of {whole} {GOOD[kind]}'
            f"</td><td>{escape(words)}</td></tr>"
        )
    return "\n".join([*parts, "</tbody></table>"])


def _unconfirmed_list(found: Sequence[Done]) -> list[str]:
    some = unconfirmed(found)
    if not some:
        return []
    items = [
        f'<li><a href="#{name}">{name}</a>: {_code("; ".join(rows))}</li>' for name, rows in some
    ]
    opened = "<details><summary>Not reproduced or not confirmed</summary><ul>"
    return [opened, *items, "</ul></details>"]


def _contents(found: Sequence[Done]) -> str:
    lines = ["<nav><ul>"]
    for paper, some in _by_paper(found):
        links = ", ".join(
            f'<a href="#{done.experiment.name}">{escape(done.experiment.title)}</a>'
            + (" <b>(wrong: see its table)</b>" if done.finding.failed else "")
            for done in some
        )
        lines.append(f"<li><strong>{escape(paper.author)}</strong>: {links}</li>")
    return "\n".join([*lines, "</ul></nav>"])


def _code(text: str) -> str:
    """Escaped, with `words` in backticks as code."""
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:  # a lone backtick is itself
        return escape(text)
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))


STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --soft: #5b6472; --line: #d9dde3;
  --ground: #fff; --off: #fff1e8; --wrong: #ffd5d0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaee; --soft: #a4adba; --line: #39404c;
  --ground: #15181e; --off: #3a2a1e; --wrong: #5a1f1c; } figure img { background: #fff; } }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.2rem 5rem; }
h1 { font-size: 1.9rem; margin: 0 0 .4rem; } h2 { margin-top: 3.2rem; font-size: 1.35rem;
  border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { margin-top: 2.4rem; } h3 small { color: var(--soft); font-weight: 400; }
.lead { font-size: 1.1rem; } .notes, figcaption, nav { color: var(--soft); font-size: .88rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .88rem; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; } .n { text-align: right; font-variant-numeric: tabular-nums; }
tr.off { background: var(--off); } tr.wrong { background: var(--wrong); }
.k { color: var(--soft); } figure { margin: 1.2rem 0; } img { max-width: 100%;
  height: auto; border-radius: 6px; } code { font-size: .92em; }
a { color: inherit; } a:focus-visible { outline: 2px solid; }
"""
