"""Files that were damaged or forged, of every kind of model, and what becomes of them.

A forgery is a name and bytes. It must be refused in words (InvalidInput), or place rows exactly as
the sound file does (a byte that says nothing, as the time of a zip entry). Anything else is
a failure: another exception, other coordinates, a crash. Where somebody made the checksums fit
again ("sealed"), what is left of the file is either no model and refused, or another model, which
places rows at finite numbers.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import dualfold
from dualfold.data import swiss_roll
from dualfold.errors import InvalidInput
from dualfold.saved import judged_rows, load_model, model_of, save_model

X = swiss_roll(60, random_state=0).points
NEW = swiss_roll(9, random_state=1).points
APART = np.vstack([X[:30], X[30:] + 500, [[9000.0, 0.0, 0.0]]])
# A column of numbers and a category, which is a column of 0 and 1 for each of its two levels.
MIXED = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 2] > 0, "up", "down")})
SPARSE = sp.random_array((60, 12), density=0.4, rng=np.random.default_rng(0), format="csr")
# One of each kind of map, and of each kind of part.
KINDS = {
    "linear": lambda: dualfold.PCA(2, standardize=True).fit(X),
    "whitened": lambda: dualfold.PCA(2, whiten=True).fit(X),
    "sparse linear": lambda: dualfold.RandomProjection(2, kind="sparse", random_state=0).fit(X),
    "geodesic": lambda: dualfold.Isomap(n_neighbors=8).fit(X),
    "landmarks": lambda: dualfold.Isomap(n_neighbors=8, landmarks=15).fit(X),
    "radius": lambda: dualfold.Isomap(n_neighbors=None, radius=9.0).fit(X),
    "nystrom": lambda: dualfold.LaplacianEigenmaps(n_neighbors=8, weights="heat").fit(X),
    "adaptive": lambda: dualfold.LaplacianEigenmaps(n_neighbors=8, diffusion_time=2.5).fit(X),
    "density": lambda: dualfold.LaplacianEigenmaps.named("VALE").fit(X),
    "diffusion": lambda: dualfold.DiffusionMaps(n_neighbors=8, alpha=0.5).fit(X),
    "local weights": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=8).fit(X),
    "sparse features": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=8).fit(SPARSE),
    "pieces": lambda: dualfold.Isomap(n_neighbors=None, radius=40.0, pieces="separate").fit(APART),
    "unfolding": lambda: dualfold.MaximumVarianceUnfolding(n_neighbors=5).fit(X[:40]),
    "mixed": lambda: dualfold.FAMD(2).fit(MIXED),
    "neighbours": lambda: dualfold.TSNE(perplexity=5, max_iter=250).fit(X),
    "grown": lambda: dualfold.Isomap(n_neighbors=8).fit(X[:50]).extend(X[50:], without=[3]),
    "moved": lambda: dualfold.Isomap(n_neighbors=8).fit(X[:50]).extend(X[50:]).refit(),
}


@functools.cache
def sound(kind: str, folder: Path) -> Path:
    """The file of a model of this kind."""
    path = folder / f"{kind.replace(' ', '-')}.dualfold"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save_model(path, model_of(KINDS[kind]()), overwrite=True)
    return path


def rows_for(kind: str) -> Any:
    """New rows for a model, and one of its own."""
    return SPARSE[:7] if kind == "sparse features" else np.vstack([NEW, X[:2]])


def parts_of_file(content: bytes) -> dict[str, bytes]:
    """The members of an archive by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(parts: dict[str, bytes]) -> bytes:
    """A sound archive with these members."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def sealed(parts: dict[str, bytes]) -> dict[str, bytes]:
    """The same parts with checksums that fit, as somebody who forges a file would make them."""
    try:
        header = json.loads(parts["dualfold.json"])
        whole = {key: value for key, value in header.items() if key != "sha256"}
    except (ValueError, AttributeError, RecursionError, KeyError):
        return parts
    arrays = {name: content for name, content in parts.items() if name.endswith(".npy")}
    sums = {name[:-4]: hashlib.sha256(content).hexdigest() for name, content in arrays.items()}
    whole["arrays"] = sums
    text = json.dumps(whole, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    whole["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    return parts | {"dualfold.json": json.dumps(whole).encode()}


def npy(array: Any) -> bytes:
    """An array as the bytes of an .npy file."""
    made = io.BytesIO()
    np.save(made, array)
    return made.getvalue()


# A forgery: what it is, and a function that makes it, so that those left out cost nothing.
Forgeries = Iterator[tuple[str, Callable[[], bytes]]]


def flipped_bits(content: bytes, count: int, seed: int = 0) -> Forgeries:
    """One bit turned, `count` times in the whole file, as often in the zip directory and heads."""
    rng = np.random.default_rng(seed)
    places = np.linspace(0, len(content) - 1, count).astype(int)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        directory = archive.start_dir
        heads = [entry.header_offset + at for entry in archive.infolist() for at in range(46)]
    tail = rng.choice(np.arange(directory, len(content)), min(count, len(content) - directory))
    heads = rng.choice(heads, min(count, len(heads)), replace=False)

    def turned(place: int, bit: int) -> bytes:
        damaged = bytearray(content)
        damaged[place] ^= 1 << bit
        return bytes(damaged)

    for place in np.unique(np.r_[places, tail, heads]):
        bit = int(rng.integers(8))
        yield f"bit {bit} of byte {place}", functools.partial(turned, int(place), bit)


def changed_arrays(array: np.ndarray) -> Iterator[tuple[str, Any]]:
    """What can be wrong with one array."""
    yield "cut", array[: len(array) // 2] if array.ndim else array.reshape(1)
    yield "too long", np.concatenate([array, array[:1]]) if array.ndim else np.stack([array] * 2)
    yield "flat", array.ravel() if array.ndim > 1 else array.reshape(1, -1)
    yield "empty", array[:0] if array.ndim else np.zeros(0)
    yield "a scalar", np.float64(1.0)
    yield "true and false", np.ones(array.shape, dtype=bool)
    yield "complex", array.astype(complex)
    yield "text", np.full(array.shape, "x")
    yield "in half precision", array.astype(np.float16)
    if array.ndim == 2:
        yield "a column less", array[:, :-1]
        yield "turned", np.ascontiguousarray(array.T) if array.shape[0] != array.shape[1] else 0.0
    for name, value in (("nan", np.nan), ("infinite", np.inf), ("negative", -7), ("huge", 2**40)):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind = float if array.dtype.kind == "f" or not np.isfinite(value) else np.int64
            changed = array.astype(kind)
            changed[(0,) * array.ndim] = value
        yield name, changed


def _members(parts: dict[str, bytes], seal: bool) -> bytes:
    return archive_of(sealed(parts) if seal else parts)


def forged_arrays(content: bytes, seal: bool = False) -> Forgeries:
    """Archives that are sound as zip files, with one array changed, missing or renamed.

    seal : whether the checksums are made to fit
    """
    parts = parts_of_file(content)
    made = functools.partial(functools.partial, _members, seal=seal)
    for name in [name for name in parts if name.endswith(".npy")]:
        array = np.load(io.BytesIO(parts[name]))
        for what, changed in changed_arrays(array):
            yield f"{name} {what}", made(parts | {name: npy(changed)})
        yield f"{name} missing", made({k: v for k, v in parts.items() if k != name})
        yield f"{name} cut in its bytes", made(parts | {name: parts[name][:-8]})
        renamed = {(f"{k[:-4]}.npx" if k == name else k): v for k, v in parts.items()}
        yield f"{name} under another name", made(renamed)


VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 10**9, 10**30, 1e300, float("nan"), "x", "", [], {}, [[]], [1, 2], {"a": 1},
)  # fmt: skip


def places_in(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where there is something in a JSON value, as paths."""
    if before:
        yield before
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places_in(inner, (*before, key))
    elif isinstance(value, list):
        for key, inner in list(enumerate(value))[:2]:
            yield from places_in(inner, (*before, key))


def _with(text: bytes, place: tuple[Any, ...], other: Any) -> bytes:
    """A JSON text with another value, or none, at a place."""
    whole = json.loads(text)
    inside = functools.reduce(lambda held, key: held[key], place[:-1], whole)
    if isinstance(other, str) and other == "missing":
        del inside[place[-1]]
    else:
        inside[place[-1]] = other
    return json.dumps(whole).encode()


def changed_json(text: bytes) -> Forgeries:
    """A JSON text with each of its values in turn missing or another, and texts that are none."""
    for place in places_in(json.loads(text)):
        for other in ("missing", *VALUES):
            where = ".".join(map(str, place))
            yield f"{where} = {str(other)[:12]}", functools.partial(_with, text, place, other)
    deep = b"[" * 200_000 + b"]" * 200_000
    others = {
        "a list": b"[]",
        "a number": b"3",
        "no JSON": text[:-5],
        "deep": deep,
        "deep inside": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "a long number": text.replace(b'"version": 1', b'"version": ' + b"1" * 10_000),
        "no text": b"\xff\xfe" + text,
    }
    for what, other in others.items():
        yield what, functools.partial(bytes, other)


def forged_headers(content: bytes, seal: bool = False) -> Forgeries:
    """Archives with another header."""
    parts = parts_of_file(content)

    def made(change: Callable[[], bytes]) -> bytes:
        return _members(parts | {"dualfold.json": change()}, seal)

    for what, change in changed_json(parts["dualfold.json"]):
        yield f"header: {what}", functools.partial(made, change)


def forged_archives(content: bytes) -> Forgeries:
    """Archives that are wrong as such."""
    for name in parts_of_file(content):
        yield f"{name} twice", functools.partial(_twice, content, name)
    for share in (0.1, 0.5, 0.9, 0.999):
        yield f"cut at {share:.1%}", functools.partial(bytes, content[: int(share * len(content))])
    yield "empty", bytes
    for at, flag in ((8, 1), (10, 99)):  # encrypted; a compression nobody knows
        yield f"flag {flag}", functools.partial(_flagged, content, at, flag)


def _twice(content: bytes, name: str) -> bytes:
    made = io.BytesIO(content)
    with warnings.catch_warnings(), zipfile.ZipFile(made, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(name, parts_of_file(content)[name])
    return made.getvalue()


def _flagged(content: bytes, at: int, flag: int) -> bytes:
    """A byte of every entry of the directory, and of the head of the entry itself."""
    damaged = bytearray(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        where = archive.start_dir
        for entry in archive.infolist():
            damaged[where + at] = damaged[entry.header_offset + at - 2] = flag
            where += 46 + len(entry.filename.encode()) + len(entry.extra)
    return bytes(damaged)


def outcome(
    kind: str, content: bytes, truth: np.ndarray, place: Path, *, sealed: bool = False
) -> str:
    """ "refused", "same", "another" model where it was `sealed`, or what is wrong with it."""
    place.write_bytes(content)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = load_model(place)
            found = model.transform(rows_for(kind))
            judged_rows(model, rows_for(kind))
            _ = model.coordinates
    except InvalidInput as error:
        return "refused" if "\n" not in str(error) and len(str(error)) < 500 else f"said: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if found.shape == truth.shape and np.array_equal(found, truth):
        return "same"
    if sealed and found.shape == (len(truth), model.coordinates) and np.isfinite(found).all():
        return "another"
    return f"other coordinates {found.shape} {found.ravel()[:3]}"


GENERATORS: dict[str, Callable[[bytes], Forgeries]] = {
    "bits": functools.partial(flipped_bits, count=100),
    "arrays": forged_arrays,
    "headers": forged_headers,
    "archives": forged_archives,
    "sealed arrays": functools.partial(forged_arrays, seal=True),
    "sealed headers": functools.partial(forged_headers, seal=True),
}
