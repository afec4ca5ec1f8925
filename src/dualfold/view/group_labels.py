"""Names of groups in a picture: none over another, the coarsest and largest first."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from dualfold.judging.zoom_levels import NOT_TESTABLE
from dualfold.judging.zoom_names import GroupName, GroupNames

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_LABELS = 24
MAX_LETTERS = 40
# Sizes of the letters of each level, in points.
FONT_SIZES = (8.0, 7.0, 6.2)
# A name is moved by this many heights of a line where another one is in its way.
STEPS = (0.0, 1.2, -1.2, 2.4, -2.4)
# For scripts that matplotlib's font lacks, on Linux, Windows and macOS.
OTHER_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "IPAGothic", "NanumGothic"),
    *("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Leelawadee UI", "Nirmala UI"),
    *("PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Thonburi", "Arial Unicode MS"),
    *("Noto Sans Thai", "Noto Sans Devanagari", "Droid Sans Fallback"),
)
# Free room between names, and between a name and the frame, in points.
MARGIN = 2.0
UNTESTED_NOTE = "A name with ?: no test could decide whether the data have this group."


def drawn_names(names: GroupNames) -> list[GroupName]:
    """The groups whose names a picture of two coordinates shows if there is room."""
    shown = [one for one in names if one.name and not _has_named_parent(names, one)]
    return [one for one in shown if len(one.place) == 2][:MAX_LABELS]


def untested_note(names: GroupNames) -> str:
    """The words that explain the mark of groups that were not tested; "" where there are none."""
    return UNTESTED_NOTE if any(one.verdict == NOT_TESTABLE for one in drawn_names(names)) else ""


def draw_group_names(figure: Figure, names: GroupNames) -> None:
    """Write names on the first axes of a map of two coordinates, as many as there is room for.

    A finer group has its name where the coarser one has none.
    """
    from matplotlib.patheffects import withStroke

    axes: Any = figure.axes[0]
    shown = drawn_names(names)
    if not shown or hasattr(axes, "get_zlim"):
        return
    figure.draw_without_rendering()
    taken: list[Any] = []
    for one in shown:
        size = FONT_SIZES[one.level - 1]
        words = one.name if len(one.name) <= MAX_LETTERS else f"{one.name[: MAX_LETTERS - 1]}…"
        words += " ?" if one.verdict == NOT_TESTABLE else ""
        text = axes.annotate(
            words.replace("$", r"\$"),
            one.place[:2],
            xytext=(0.0, 0.0),
            textcoords="offset points",
            ha="center",
            va="center",
            size=size,
            weight="bold",
            family=_font_families(),
            zorder=9,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
        text.set_in_layout(False)
        if not _has_room(text, axes.get_window_extent(), taken, size):
            text.remove()


@cache
def _font_families() -> list[str]:
    """matplotlib's own font, then those for other scripts that this machine has."""
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return [*mpl.rcParams["font.family"], *(name for name in OTHER_FONTS if name in known)]


def _has_room(text: Any, frame: Any, taken: list[Any], size: float) -> bool:
    """Whether a name was moved to where it is inside the map and over no other one."""
    points_per_pixel = 72 / text.figure.dpi
    for step in STEPS:
        text.set_position((0.0, step * size))
        box = text.get_window_extent()
        box = box.padded(MARGIN / points_per_pixel)
        beyond = max(frame.x0 - box.x0, 0.0) - max(box.x1 - frame.x1, 0.0)
        text.set_position((beyond * points_per_pixel, step * size))
        box = text.get_window_extent().padded(MARGIN / points_per_pixel)
        if box.width <= frame.width and not any(box.overlaps(other) for other in taken):
            taken.append(box)
            return True
    return False


def _has_named_parent(names: GroupNames, one: Any) -> bool:
    while one.parent >= 0:
        one = names[one.parent]
        if one.name:
            return True
    return False
