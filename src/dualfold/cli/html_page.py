"""The HTML page of a command, made and written to a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dualfold.cli.console import Console
from dualfold.cli.wording import command_texts

if TYPE_CHECKING:
    from dualfold.cli.audit import AuditOptions
    from dualfold.cli.compare import CompareOptions
    from dualfold.cli.embed import EmbedOptions
    from dualfold.cli.transform import TransformOptions
    from dualfold.view.page import PageContent


def write_content(
    options: EmbedOptions | CompareOptions | AuditOptions | TransformOptions,
    content: PageContent,
    console: Console,
) -> None:
    """Make the page of --html and write it; its size and what is left out are noted before."""
    from dualfold.view.page import make_page

    with console.stage("making the page"):
        notes = command_texts(content.notes)
        page = make_page(replace(content, notes=notes, most_mb=options.html_mb or None))
    for notice in page.notices:
        console.note(notice)
    console.say(f"The page takes {page.megabytes}.")
    with console.stage("writing the page"):
        page.write(Path(str(options.html)), overwrite=options.force)
