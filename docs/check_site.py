"""What is wrong with a built site: `check_site.py SITE`.

Exit code 1 where a built page loads a script, style, font or picture by http(s), links to a page
that is not there, or shows a picture without words for those who do not see it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote

LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(https?:)?//[^\"]+"
    r"|<link\b(?=[^>]*\brel=\"(?:stylesheet|preload|icon)\")[^>]*\bhref=\"(https?:)?//[^\"]+",
)
PICTURE = re.compile(r"<img\b[^>]*>")
WORDS = re.compile(r"\balt=\"[^\"]*\w+\W+\w+[^\"]*\"")  # two words or more; a file's name is none
LINKED = re.compile(r"<a\b[^>]*\bhref=\"(?!https?:|mailto:|#|javascript:)([^\"#?]+)")


def faults(site: Path) -> list[str]:
    """A line for each fault."""
    found = []
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(site)
        found += [f"{name} loads {match[0]}" for match in LOADED.finditer(text)]
        pictures = [match[0] for match in PICTURE.finditer(text)]
        found += [f"{name}: no words for {one}" for one in pictures if not WORDS.search(one)]
        for link in {unquote(match[1]) for match in LINKED.finditer(text)}:
            if not (page.parent / link).exists():
                found.append(f"{name} links to {link}, which is not there")
    for style in sorted(site.rglob("*.css")):
        if re.search(r"url\(['\"]?(?:https?:)?//", style.read_text(encoding="utf-8")):
            found.append(f"{style.relative_to(site)} loads from elsewhere")
    return found


if __name__ == "__main__":
    lines = faults(Path(sys.argv[1]))
    print(
        "\n".join(lines)
        or "every page loads its own files, every link leads somewhere, every picture has words"
    )
    sys.exit(bool(lines))
