"""Figures that a notebook shows, whether pyplot is loaded or not."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

__all__ = ["Drawn"]


class Drawn(Figure):
    """A figure of matplotlib with the picture that a notebook asks for."""

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        self.savefig(file, format="png", dpi=100)
        return file.getvalue()
