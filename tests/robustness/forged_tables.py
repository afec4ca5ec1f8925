"""Damaged tables of every format that needs no further package, and what becomes of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp

from dualfold import data
from dualfold.errors import InvalidInput


def table_files(folder: Path) -> dict[str, Path]:
    """A sound table of every format that is read."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 4)), columns=list("abcd"))
    S = sp.random_array((30, 6), density=0.4, rng=rng, format="csr")
    made = {name: folder / name for name in FILES}
    if made[FILES[0]].exists():
        return made
    table.to_csv(made["a.csv.gz"], index=False)
    table.to_json(made["a.jsonl"], orient="records", lines=True)
    np.save(made["a.npy"], table.to_numpy())
    np.savez_compressed(made["a.npz"], X=table.to_numpy(), y=np.arange(30))
    for form in ("csr", "coo", "csc", "bsr"):
        sp.save_npz(made[f"{form}.npz"], S.asformat(form))
    sp.save_npz(made["dia.npz"], sp.dia_array((np.ones((2, 30)), [0, 1]), shape=(30, 30)))
    scipy.io.mmwrite(made["sparse.mtx"], S.tocoo())
    scipy.io.mmwrite(made["dense.mtx"], table.to_numpy())
    return made


FILES = (
    "a.csv.gz", "a.jsonl", "a.npy", "a.npz", "csr.npz", "coo.npz", "csc.npz", "bsr.npz", "dia.npz",
    "sparse.mtx", "dense.mtx",
)  # fmt: skip


def damaged_bytes(content: bytes, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Bits turned, bytes replaced, files cut, runs of 255."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        place = int(rng.integers(len(content)))
        damaged = bytearray(content)
        if number % 4 == 0:
            damaged[place] ^= 1 << int(rng.integers(8))
        elif number % 4 == 1:
            damaged[place] = int(rng.integers(256))
        elif number % 4 == 2:
            damaged = damaged[:place]
        else:
            damaged[place : place + 4] = b"\xff" * 4
        yield f"{number % 4} at {place}", bytes(damaged)


def read_outcome(content: bytes, place: Path) -> str:
    """ "refused", "read" (finite numbers: a text may have other digits), or what is wrong."""
    place.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = data.read_table(place).X
    except InvalidInput as error:
        return "refused" if "\n" not in str(error) and len(str(error)) < 600 else f"said: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    numbers = found.data if sp.issparse(found) else found
    return "read" if np.isfinite(numbers).all() else "numbers that are none"
