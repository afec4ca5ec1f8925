"""Well-known data sets (scikit-learn's digits, MNIST), and small made-up tables as examples."""

from __future__ import annotations

import gzip
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualfold.arrays import Array
from dualfold.data.atomic_files import atomic_file
from dualfold.data.toys import helix, s_curve, swiss_roll
from dualfold.errors import Argument, DataUnavailable, InvalidInput
from dualfold.inputs import random_generator

MNIST_VARIABLE = "DUALFOLD_MNIST"
CACHE_VARIABLE = "DUALFOLD_CACHE"
# Seconds for a first answer; a round trip takes less than one anywhere.
CONNECT_TIMEOUT_SECONDS = 3.0


@dataclass(frozen=True)
class DataSet:
    """Labelled points.

    points: n×D values as stored (MNIST: uint8).
    labels: the class of each point.
    names: one name for each column of `points`.
    shape: the height and width of one point as an image.
    rows: which rows of the whole set these are.
    source: where it was read from, in words.
    """

    points: Array
    labels: NDArray[np.int64]
    names: tuple[str, ...]
    shape: tuple[int, int]
    rows: NDArray[np.int64]
    source: str


def digits() -> DataSet:
    """Handwritten digits that come with scikit-learn: 1,797 images of 8×8 pixels.

    Returns
    -------
    DataSet
        `points`, 64 values from 0 to 16 for each image; `labels`, the digits; `names` of the
        columns; `shape` of an image; `rows`; `source`.

    See Also
    --------
    mnist : 70,000 larger images.

    Examples
    --------
    >>> from dualfold.data import digits
    >>> digits().points.shape
    (1797, 64)
    """
    points, labels = _digits_of_scikit_learn()
    return DataSet(
        points=points.copy(),
        labels=labels.astype(np.int64),
        names=_pixel_names((8, 8)),
        shape=(8, 8),
        rows=np.arange(len(points)),
        source="scikit-learn's load_digits",
    )


@cache
def _digits_of_scikit_learn() -> tuple[Array, Array]:
    """Read once: they are text in a compressed file."""
    from sklearn.datasets import load_digits

    points, labels = load_digits(return_X_y=True)
    return points, labels


def mnist(n: int | None = None, random_state: int | np.random.Generator | None = None) -> DataSet:
    """MNIST: 70,000 handwritten digits of 28×28 pixels.

    Parameters
    ----------
    n : int ≥ 1 or None, default=None
        Number of images; None: all. Without a `random_state` these are the first ones.
    random_state : int, Generator or None, default=None
        Seed of a sample of n images without repetition; None takes the first ones.

    Returns
    -------
    DataSet
        `points`, 784 values (uint8) for each image; `labels`, the digits; `names` of the columns;
        `shape` of an image; `rows`, which images of the set these are; `source`.

    Raises
    ------
    InvalidInput
        If `n` is out of its range, or the file is no MNIST.

    See Also
    --------
    digits : Smaller images, which need no download.

    Notes
    -----
    The images are read from the file or folder that the environment variable DUALFOLD_MNIST names
    (an .npz file with `X` and `y`, or the original IDX files, gzipped or not); else from the cache;
    else they are downloaded once from openml.org and cached. The cache is the folder
    $DUALFOLD_CACHE, else $XDG_CACHE_HOME/dualfold, else ~/.cache/dualfold.

    References
    ----------
    .. [1] Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, "Gradient-based learning applied to
       document recognition", Proceedings of the IEEE, 86(11), 2278–2324, 1998.

    Examples
    --------
    >>> from dualfold.data import mnist
    >>> mnist(100).points.shape  # doctest: +SKIP
    (100, 784)
    """
    points, labels, source = _mnist_from_somewhere()
    if len(points) != len(labels) or points.ndim != 2 or points.shape[1] != 784:
        raise InvalidInput(
            f"MNIST needs n×784 pixels and n labels, but {source} holds pixels of shape "
            f"{points.shape} and {len(labels)} labels; check the file"
        )
    if n is not None and not 1 <= n <= len(points):
        raise InvalidInput(
            Argument("n"), f" must be between 1 and {len(points)} images, but is {n}"
        )
    rows = np.arange(len(points)) if n is None else np.arange(n)
    if n is not None and random_state is not None:
        rows = random_generator(random_state).choice(len(points), n, replace=False)
    return DataSet(
        points=points if n is None else points[rows],
        labels=labels[rows],
        names=_pixel_names((28, 28)),
        shape=(28, 28),
        rows=rows,
        source=source,
    )


Images = tuple[NDArray[np.uint8], NDArray[np.int64], str]


def _pixel_names(shape: tuple[int, int]) -> tuple[str, ...]:
    return tuple(f"pixel_{row}_{column}" for row in range(shape[0]) for column in range(shape[1]))


def _mnist_from_somewhere() -> Images:
    named = os.environ.get(MNIST_VARIABLE)
    if named:
        return _mnist_from_path(Path(named).expanduser())
    cached = _cache_folder() / "mnist.npz"
    if cached.exists():
        return _mnist_from_npz(cached)
    points, labels, source = _mnist_from_openml()
    _write_cache(cached, points, labels)
    return points, labels, source


def _cache_folder() -> Path:
    folder = os.environ.get(CACHE_VARIABLE)
    if folder:
        return Path(folder).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "dualfold"


def _mnist_from_path(path: Path) -> Images:
    if path.is_dir():
        return _mnist_from_folder(path)
    if not path.exists():
        raise InvalidInput(
            f"{MNIST_VARIABLE} names {path}, which does not exist; let it name an .npz file with "
            "X and y, an IDX images file, or the folder with the IDX files"
        )
    return _mnist_from_npz(path) if path.suffix == ".npz" else _mnist_from_idx(path)


def _mnist_from_npz(path: Path) -> Images:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if not {"X", "y"} <= set(arrays.files):
                raise InvalidInput(
                    f"{path} must hold the arrays X and y, but holds {', '.join(arrays.files)}"
                )
            return _as_bytes(arrays["X"], path), arrays["y"].astype(np.int64), str(path)
    except (zipfile.BadZipFile, EOFError, OSError, AttributeError) as error:
        raise InvalidInput(
            f"{path} is not a readable .npz file ({error}); delete it if it is the cache, "
            "it will be fetched again"
        ) from error


def _as_bytes(points: Array, source: Path | str) -> NDArray[np.uint8]:
    flat = points.reshape(len(points), -1)
    if flat.dtype == np.uint8:
        return flat
    pixels = flat.astype(np.uint8)
    if not np.array_equal(pixels, flat):
        raise InvalidInput(
            f"the pixels in {source} must be whole numbers from 0 to 255, but are "
            f"{flat.dtype} from {flat.min()} to {flat.max()}; multiply them by 255 and round"
        )
    return pixels


def _mnist_from_folder(folder: Path) -> Images:
    images = [path for part in ("train", "t10k") for path in sorted(folder.glob(f"{part}*images*"))]
    # Both x and x.gz are often there; the same images must not count twice.
    images = [path for path in images if path.suffix != ".gz" or path.with_suffix("") not in images]
    if not images:
        if (folder / "mnist.npz").exists():
            return _mnist_from_npz(folder / "mnist.npz")
        raise InvalidInput(
            f"the folder {folder} must hold train-images-idx3-ubyte and its labels (with or "
            "without .gz; the t10k files likewise) or mnist.npz, but has none of them"
        )
    parts = [_mnist_from_idx(path) for path in images]
    points = np.concatenate([part[0] for part in parts])
    return points, np.concatenate([part[1] for part in parts]), str(folder)


def _mnist_from_idx(path: Path) -> Images:
    stem = path.name.removesuffix(".gz")
    if "images" not in stem:
        raise InvalidInput(f"{path} must be .npz or an IDX file with 'images' in its name")
    labels_stem = stem.replace("images", "labels").replace("idx3", "idx1")
    beside = [path.with_name(labels_stem), path.with_name(labels_stem + ".gz")]
    files = [candidate for candidate in beside if candidate.exists()]
    if not files:
        raise InvalidInput(
            f"the labels of {path} were expected beside it, as {labels_stem} or {labels_stem}.gz"
        )
    points, labels = _idx(path), _idx(files[0])
    if len(points) != len(labels):
        raise InvalidInput(
            f"{path} holds {len(points)} images but {files[0]} {len(labels)} labels; "
            "they are not a pair"
        )
    return points.reshape(len(points), -1), labels.astype(np.int64), str(path)


def _idx(path: Path) -> NDArray[np.uint8]:
    """An IDX file: two zero bytes, 8 for uint8, the number of axes, big-endian sizes, the bytes."""
    raw = path.read_bytes()
    try:
        content = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError) as error:
        raise InvalidInput(f"{path} is not whole ({error}); fetch it again") from error
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":
        raise InvalidInput(
            f"{path} must be an IDX file of unsigned bytes (beginning 00 00 08), "
            f"but begins {content[:3].hex(' ')}"
        )
    start = 4 + 4 * content[3]
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
    values = np.frombuffer(content, dtype=np.uint8, offset=min(start, len(content)))
    if len(shape) != content[3] or values.size != int(np.prod(shape, dtype=np.int64)):
        raise InvalidInput(
            f"{path} says it holds {' × '.join(map(str, shape))} bytes, but holds {values.size}; "
            "fetch it again"
        )
    return values.reshape(shape)


def _mnist_from_openml() -> Images:
    from sklearn.datasets import fetch_openml

    try:
        _refuse_unreachable()
        bunch = fetch_openml("mnist_784", version=1, as_frame=False, n_retries=1)
    except Exception as error:  # urllib, http, socket and scikit-learn's own all mean the same here
        raise DataUnavailable(
            f"MNIST is neither named by {MNIST_VARIABLE} nor in the cache {_cache_folder()}, and "
            f"downloading it from openml.org failed ({type(error).__name__}: {error}). Without "
            f"a network, set {MNIST_VARIABLE} to an .npz file with X (70000×784) and y, or to the "
            "folder with the IDX files; digits() needs no download at all"
        ) from error
    points = _as_bytes(np.asarray(bunch.data), "openml.org")
    return points, np.asarray(bunch.target).astype(np.int64), "openml.org, mnist_784"


def _refuse_unreachable() -> None:
    """OSError where no server answers: scikit-learn would retry for seconds, or wait minutes."""
    import socket
    from urllib.request import getproxies

    if not getproxies():  # a proxy is asked instead, and may be the only way out
        socket.create_connection(("www.openml.org", 443), timeout=CONNECT_TIMEOUT_SECONDS).close()


def _write_cache(path: Path, points: NDArray[np.uint8], labels: NDArray[np.int64]) -> None:
    """Keep a download; a cache that cannot be written costs a download, not the answer."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path, overwrite=True) as file:
            np.savez_compressed(file, X=points, y=labels)
    except OSError:
        return


Columns = dict[str, Any]

# Three groups of birds as the mean bill length, bill depth, flipper length (mm) and mass (g) of
# a group, where they live, and how many of 100 they are.
_BIRD_GROUPS = (
    ("short-billed", (39.0, 18.4, 190.0, 3700.0), ("north", "west", "east"), 44),
    ("long-billed", (48.8, 18.4, 196.0, 3730.0), ("north",), 20),
    ("large", (47.5, 15.0, 217.0, 5080.0), ("west",), 36),
)
_BIRD_SPREADS = (2.6, 1.1, 6.0, 350.0)


def penguins_like(rows: int, seed: int) -> Columns:
    """Birds of three kinds: four lengths, a place, a sex, a year, a few missing values."""
    rng = np.random.default_rng(seed)
    shares = np.array([group[3] for group in _BIRD_GROUPS]) / 100
    kind = np.sort(rng.choice(len(_BIRD_GROUPS), rows, p=shares))
    male = rng.uniform(size=rows) < 0.5
    # A bird that is larger is so in all its lengths.
    size = rng.standard_normal(rows) + np.where(male, 0.7, -0.7)
    noise = rng.standard_normal((rows, 4))
    means = np.array([group[1] for group in _BIRD_GROUPS])[kind]
    lengths = means + np.array(_BIRD_SPREADS) * (0.7 * size[:, None] + 0.6 * noise)
    grain = np.array([0.1, 0.1, 1.0, 25.0])  # as rulers and scales have it
    lengths = np.round(grain * np.round(lengths / grain), 1)
    lengths[rng.uniform(size=(rows, 4)) < 0.005] = np.nan
    sex = np.where(male, "male", "female").astype(object)
    sex[rng.uniform(size=rows) < 0.02] = None
    names = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
    return {
        "species": np.array([_BIRD_GROUPS[k][0] for k in kind], dtype=object),
        "island": np.array([rng.choice(_BIRD_GROUPS[k][2]) for k in kind], dtype=object),
        **{name: lengths[:, column] for column, name in enumerate(names)},
        "sex": sex,
        "year": rng.integers(2007, 2010, rows),
    }


def _surface(draw: Callable[..., Any]) -> Callable[[int, int], Columns]:
    def table(rows: int, seed: int) -> Columns:
        return dict(zip("xyz", draw(rows, random_state=seed).points.T, strict=True))

    return table


# Name → (rows by default, what makes them, what they are).
EXAMPLE_TABLES: dict[str, tuple[int, Callable[[int, int], Columns], str]] = {
    "penguins-like": (340, penguins_like, "birds of three kinds: numbers, categories, gaps"),
    "roll": (400, _surface(swiss_roll), "a rectangle rolled up in space"),
    "s-curve": (400, _surface(s_curve), "a strip bent into an S"),
    "helix": (400, _surface(helix), "a curve in space"),
}


def example_table(name: str, rows: int | None = None, seed: int = 0) -> Columns:
    """A small table as columns by name; `EXAMPLES` lists them.

    rows : how many (None: as many as are usual); seed : other ones give other rows

    >>> list(example_table("roll", 3))
    ['x', 'y', 'z']
    """
    if name not in EXAMPLE_TABLES:
        raise InvalidInput(
            Argument("name", name), f" is no example; there is {', '.join(EXAMPLE_TABLES)}"
        )
    usual, make, _ = EXAMPLE_TABLES[name]
    count = usual if rows is None else rows
    if count < 1:
        raise InvalidInput(Argument("rows", count), " must be 1 or more")
    return make(count, seed)
