"""Commands of dualfold in this process, and the small tables that they are tried on."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from typer.testing import CliRunner, Result

from dualfold.cli import app
from dualfold.data import swiss_roll

# pandas 2 rounds the last digit unless told not to; later ones never do.
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
exact_csv = functools.partial(pd.read_csv, **EXACT)

CLOUD = np.random.default_rng(0).normal(size=(40, 3)).round(4)
ROLL = swiss_roll(150, random_state=0).points


def run(*words, code: int | None = 0, **more) -> Result:
    """A command that ends with this exit code (None: with any), and never by a raw error."""
    result = CliRunner().invoke(app, [str(word) for word in words], **more)
    assert code is None or result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.stderr
    assert "mistake in dualfold" not in result.stderr
    return result
