"""Letters and names of groups in a picture: none over another, the coarsest and largest first."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from dualfold.judging.named_groups import CANNOT_TELL, NOT_FOUND, NamedGroup, NamedGroups

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
UNTESTED_NOTE = "A name with ?: nobody can tell whether the data have this group."


def drawn_groups(groups: NamedGroups) -> list[NamedGroup]:
    """The groups that a picture of two coordinates labels if there is room.

    All visible groups; a finer group where the one around it has no name.
    """
    shown = [
        group
        for group in groups
        if group.level == 1 or (group.name and not _has_named_parent(groups, group))
    ]
    return [group for group in shown if len(group.place) == 2][:MAX_LABELS]


def group_label(group: NamedGroup) -> str:
    """The letter and the name as a picture has room for them, with a mark for the verdict."""
    if group.verdict == NOT_FOUND:
        return f"{group.letter}: {NOT_FOUND}"
    title = group.title
    words = title if len(title) <= MAX_LETTERS else f"{title[: MAX_LETTERS - 1]}…"
    return f"{words} ?" if group.verdict == CANNOT_TELL else words


def untested_note(groups: NamedGroups) -> str:
    """The words that explain the mark of groups that were not tested; "" where there are none."""
    shown = drawn_groups(groups)
    return UNTESTED_NOTE if any(group.verdict == CANNOT_TELL for group in shown) else ""


def draw_group_names(figure: Figure, groups: NamedGroups) -> None:
    """Write labels on the first axes of a map of two coordinates, as many as there is room for."""
    from matplotlib.patheffects import withStroke

    axes: Any = figure.axes[0]
    shown = drawn_groups(groups)
    if not shown or hasattr(axes, "get_zlim"):
        return
    figure.draw_without_rendering()
    taken: list[Any] = []
    for group in shown:
        size = FONT_SIZES[group.level - 1]
        text = axes.annotate(
            group_label(group).replace("$", r"\$"),
            group.place,
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


def _has_named_parent(groups: NamedGroups, group: NamedGroup) -> bool:
    while group.parent >= 0:
        group = groups[group.parent]
        if group.name:
            return True
    return False
