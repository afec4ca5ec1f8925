"""`dualfold methods`: what each method is, and the options of one."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from dualfold.cli import options as o
from dualfold.cli.console import print_definitions, print_json, terminal_width
from dualfold.cli.method_options import MethodOption, coordinates_option, method_options
from dualfold.methods.descriptions import DESCRIPTIONS, SIZES_MEAN, Description

# In a pipe there is no width to fit into: one line for each row is easier to grep.
PIPE_WIDTH = 1000
OPTION_HEADS = ("option", "values", "default", "meaning")
ALL_HEADS = ("name", "preserves", "needs", "new points", "practical size", "certificate")
# A narrow terminal shows what decides; narrower columns would be words below each other.
SHORT_HEADS = ("name", "preserves", "certificate")
MIN_WIDE_COLUMNS = 150
MORE_MESSAGE = (
    "`dualfold methods isomap` shows more of one: what it needs, practical sizes, options."
)


@dataclass(frozen=True)
class MethodsOptions:
    """Options of `dualfold methods`, as typed."""

    name: str | None = o.own_argument(
        "[NAME]",
        "One method, with its options.",
        default=None,
        autocompletion=o.completion(*DESCRIPTIONS),
    )
    as_json: bool = False


def methods(options: MethodsOptions) -> None:
    """What each method preserves and needs; the options of one.

    \b
    Examples:
      dualfold methods
      dualfold methods isomap
      dualfold methods --json
    """
    if options.name is not None:
        print_method(DESCRIPTIONS[o.method_name(options.name, "NAME")], as_json=options.as_json)
    elif options.as_json:
        rows = [method.words() for method in DESCRIPTIONS.values()]
        print_json({"methods": rows, "practical_size_means": SIZES_MEAN})
    else:
        width = terminal_width()
        heads = ALL_HEADS if width is None or width >= MIN_WIDE_COLUMNS else SHORT_HEADS
        cells = ([row.words()[head] for head in heads] for row in DESCRIPTIONS.values())
        from dualfold.cli.terminal import print_table  # rich

        print_table(heads, cells, pipe_width=PIPE_WIDTH)
        print_definitions([("", SIZES_MEAN if heads == ALL_HEADS else MORE_MESSAGE)])


def print_method(method: Description, *, as_json: bool = False) -> None:
    """Print what is known of a method, and its options."""
    if as_json:
        print_json(method.words() | {"options": option_rows(method)})
        return
    known = method.words().items()
    print_definitions((key, words) for key, words in known if key != "name" and words)
    typer.echo(f"\nOptions of `dualfold embed FILE -m {method.name}`:")
    print_definitions((_flags(one), one.help_text) for one in _options(method))


def option_rows(method: Description) -> list[dict[str, str]]:
    """The options of a method, one row each."""
    rows = ((_flags(one), one.values, one.usual, one.help) for one in _options(method))
    return [dict(zip(OPTION_HEADS, row, strict=True)) for row in rows]


def _options(method: Description) -> tuple[MethodOption, ...]:
    return (coordinates_option(method.name), *method_options(method.name))


def _flags(option: MethodOption) -> str:
    """Words that are typed for an option, and to turn it off."""
    return f"{option.flag}/{option.off}" if option.is_switch else option.flag
