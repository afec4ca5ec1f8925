"""`dualfold certify`: a stored map against its data again.

The problem is stated from the table, and the stored points are certified. Vectors that a file
does not keep exactly are computed again (`saved.trace_answers`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dualfold.certificate import DEFAULT_TOLERANCE, Tolerance
from dualfold.cli import options as o
from dualfold.cli.usage import number
from dualfold.data.reading import DEFAULT_READING, Reading


@dataclass(frozen=True)
class CertifyOptions:
    """Options of `dualfold certify`, as typed; nothing of them is in the judged file."""

    file: str
    embedding: str = o.own_argument(
        "EMBEDDING", "A map that `dualfold embed` wrote, or a model of `--save-model`."
    )
    model: str | None = o.own_option(
        "--model",
        "For mvu: the model saved with the map, which holds its dual weights.",
        "MODEL",
        section=o.JUDGING_SECTION,
    )
    tolerance: float | None = o.own_option(
        "--tolerance",
        f"The largest relative gap that passes, from 0 to 1 ({DEFAULT_TOLERANCE:g} without this "
        "option), for tsne the largest share of unbalanced forces (0.01); never taken from the "
        "file.",
        "GAP",
        section=o.JUDGING_SECTION,
        parser=number(0, 1),
    )
    fresh: bool = o.own_option(
        "--fresh",
        "Random searches start at numbers from the system, which no one can know in advance: for "
        "files of other people. The answer's digits may vary.",
        section=o.JUDGING_SECTION,
        default=False,
    )
    reading: Reading = field(default=DEFAULT_READING, metadata=o.FILE_READING)
    as_json: bool = False
    quiet: bool = False

    @property
    def passing(self) -> Tolerance:
        """The tolerance that was typed, or that of the certificate that is made."""
        return "default" if self.tolerance is None else self.tolerance


def certify(options: CertifyOptions) -> None:
    """Check a stored map against its data again.

    \b
    Examples:
      dualfold certify iris.csv iris.pca.csv
      dualfold certify roll.csv roll.mvu.csv --model roll.dualfold
      dualfold certify roll.csv roll.dualfold --tolerance 0.02
      dualfold certify iris.csv iris.pca.csv --quiet && echo good

    The problem is stated anew from FILE and the stored settings (which are shown: they say
    what is judged), the stored points are judged as anybody's would be, and each of them is
    placed again. Vectors that the file does not keep exactly (float32 points, independent
    coordinates, Fisher discriminants) are computed again; nothing in the file is believed.
    Exit code 0: proved, or measured, to the tolerance you give; 3: it does not hold to it, as
    "within 12 %".
    """
    from dualfold.cli.run_certify import run_certify  # the numerics

    run_certify(options)
