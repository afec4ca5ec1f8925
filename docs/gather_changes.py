"""Fragments of `docs/dev/changes/` → `CHANGELOG.md`: `gather_changes.py [--write DATE]`.

Without `--write` it prints the section of the version in `src/dualfold/__init__.py` as it would
become, with its number of words. With it the section is written, with DATE as the day of the
release ("unreleased" for none yet), and the fragments are deleted.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FRAGMENTS = ROOT / "docs" / "dev" / "changes"
CHANGELOG = ROOT / "CHANGELOG.md"
TITLES = {"added": "Added", "changed": "Changed", "fixed": "Fixed", "limit": "Known limits"}


def fragments(folder: Path = FRAGMENTS) -> dict[str, list[str]]:
    """Kind → its entries, each on one line."""
    found: dict[str, list[str]] = {kind: [] for kind in TITLES}
    for path in sorted(folder.glob("*.*.md")):
        kind = path.name.split(".")[-2]
        if kind not in found:
            raise SystemExit(f"{path.name}: the kind {kind!r} is none of {', '.join(TITLES)}")
        found[kind].append(" ".join(path.read_text(encoding="utf-8").split()))
    return found


def with_changes(text: str, version: str, date: str, entries: dict[str, list[str]]) -> str:
    """The changelog with the entries in the section of the version, which may be new."""
    begin = re.search(rf"^## {re.escape(version)}\b.*$", text, re.M)
    if begin is None:
        first = re.search(r"^## |\Z", text, re.M)
        at = len(text) if first is None else first.start()
        text = f"{text[:at]}## {version}, {date}\n\n{text[at:]}"
        return with_changes(text, version, date, entries)
    rest = text[begin.end() :]
    end = re.search(r"^(?:## |---$)|\Z", rest, re.M)
    section, after = (rest, "") if end is None else (rest[: end.start()], rest[end.start() :])
    for kind, title in TITLES.items():
        section = _with_entries(section, title, entries[kind])
    return f"{text[: begin.start()]}## {version}, {date}\n\n{section.strip()}\n\n{after}"


def _with_entries(section: str, title: str, entries: list[str]) -> str:
    if not entries:
        return section
    lines = "".join(f"* {entry}\n" for entry in entries)
    own = re.search(rf"^### {title}\n.*?(?=^### |\Z)", section, re.M | re.S)
    if own is not None:
        return f"{section[: own.start()]}{own[0].rstrip()}\n{lines}\n{section[own.end() :]}"
    later = "|".join(list(TITLES.values())[list(TITLES.values()).index(title) + 1 :]) or "$^"
    place = re.search(rf"^### (?:{later})\n", section, re.M)
    at = len(section) if place is None else place.start()
    return f"{section[:at].rstrip()}\n\n### {title}\n\n{lines}\n{section[at:]}"


if __name__ == "__main__":
    package = (ROOT / "src" / "dualfold" / "__init__.py").read_text(encoding="utf-8")
    version = re.findall(r'^__version__ = "(.+)"', package, re.M)[0]
    writes = sys.argv[1:2] == ["--write"] and len(sys.argv) == 3
    if sys.argv[1:] and not writes:
        sys.exit(__doc__)
    new = with_changes(
        CHANGELOG.read_text(encoding="utf-8"),
        version,
        sys.argv[2] if writes else "unreleased",
        fragments(),
    )
    if writes:
        CHANGELOG.write_text(new, encoding="utf-8")
        for path in FRAGMENTS.glob("*.*.md"):
            path.unlink()
    else:
        print(new)
    print(f"{len(new.split())} words; a reader takes in about 900", file=sys.stderr)
