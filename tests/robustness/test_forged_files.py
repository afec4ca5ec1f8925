"""Files that were damaged or forged: refused in words, or the same answer; nothing else happens.

`python -m tests.robustness.reliability` tries all of them; here is a sample that takes seconds.
"""

from __future__ import annotations

import gzip
import io
import itertools
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from dualfold import data
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.saved import load_model
from tests.robustness import forgeries
from tests.robustness.door import matrix_market
from tests.robustness.forged_tables import FILES, damaged_bytes, read_outcome, table_files
from tests.robustness.forgeries import GENERATORS, KINDS, outcome

# Of each kind of forgery every so many-th; all of them under full.
STEPS = {"bits": 29, "arrays": 23, "headers": 397, "archives": 5, "sealed arrays": 11}
STEPS |= {"sealed headers": 53}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("forged")


def failures(kind, folder, steps):
    sound = forgeries.sound(kind, folder)
    truth = load_model(sound).transform(forgeries.rows_for(kind))
    content, found, tried = sound.read_bytes(), [], 0
    for how, generator in GENERATORS.items():
        first = len(kind) % steps.get(how, 1)
        for what, forged in itertools.islice(generator(content), first, None, steps.get(how, 1)):
            tried += 1
            said = outcome(kind, forged(), truth, folder / "x", sealed="sealed" in how)
            if said not in ("refused", "same", "another"):
                found.append((how, what, said))
    return found, tried


@pytest.mark.parametrize("kind", KINDS)
def test_no_forged_model_fails_otherwise(kind, folder):
    found, tried = failures(kind, folder, STEPS)
    assert tried > 30
    assert found == []


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_no_forged_model_at_all_fails_otherwise(kind, folder):
    assert failures(kind, folder, {})[0] == []


@pytest.mark.parametrize("name", FILES)
def test_no_damaged_table_fails_otherwise(name, folder):
    path = table_files(folder)[name]
    content = path.read_bytes()
    for what, damaged in damaged_bytes(content, 25, seed=len(name)):
        said = read_outcome(damaged, folder / f"x{name}")
        assert said in ("refused", "read"), (name, what, said)


def test_what_was_changed_is_named(tmp_path):
    content = forgeries.sound("linear", tmp_path).read_bytes()
    parts = forgeries.parts_of_file(content)
    place = tmp_path / "m.dualfold"
    for change, said in (
        ({"mean.npy": forgeries.npy(np.zeros(3))}, "damaged.*mean.npy has another checksum"),
        ({"dualfold.json": parts["dualfold.json"].replace(b'"PCA"', b'"FCA"')}, "damaged.*header"),
        ({"more.npy": forgeries.npy(np.zeros(3))}, "damaged.*arrays that its header names"),
    ):
        place.write_bytes(forgeries.archive_of(parts | change))
        with pytest.raises(DamagedFile, match=said):
            load_model(place)
    sealed = forgeries.sealed(parts | {"mean.npy": forgeries.npy(np.array([0, np.nan, 0.0]))})
    place.write_bytes(forgeries.archive_of(sealed))
    with pytest.raises(DamagedFile, match="damaged: the part 'mean' has entries that are no"):
        load_model(place)


@pytest.mark.parametrize(
    ("kind", "place", "value"),
    [
        ("radius", ("map", "facts", "graph", "radius"), None),
        ("radius", ("map", "facts", "graph", "radius"), "missing"),
        ("diffusion", ("map", "facts", "map", "facts", "alpha"), 10**9),
        ("diffusion", ("map", "facts", "map", "facts", "alpha"), 1.5),
    ],
)
def test_a_number_that_its_kind_cannot_do_without_or_have_is_refused(tmp_path, kind, place, value):
    parts = forgeries.parts_of_file(forgeries.sound(kind, tmp_path).read_bytes())
    header = forgeries._with(parts["dualfold.json"], place, value)
    forged = tmp_path / "m.dualfold"
    forged.write_bytes(forgeries.archive_of(forgeries.sealed(parts | {"dualfold.json": header})))
    with pytest.raises(DamagedFile, match=place[-1]):
        load_model(forged)


def test_sparse_rows_in_half_precision_are_refused(tmp_path):
    parts = forgeries.parts_of_file(forgeries.sound("sparse features", tmp_path).read_bytes())
    half = np.load(io.BytesIO(parts["features.data.npy"])).astype(np.float16)
    forged = tmp_path / "m.dualfold"
    changed = parts | {"features.data.npy": forgeries.npy(half)}
    forged.write_bytes(forgeries.archive_of(forgeries.sealed(changed)))
    with pytest.raises(DamagedFile, match=r"features\.data.*float16"):
        load_model(forged)


def test_a_header_of_an_array_that_does_not_end_is_refused(tmp_path):
    parts = forgeries.parts_of_file(forgeries.sound("linear", tmp_path).read_bytes())
    cut = parts["mean.npy"].replace(b"(3,)", b"((3,", 1)  # a bracket that nobody closes
    assert cut != parts["mean.npy"]
    forged = tmp_path / "m.dualfold"
    forged.write_bytes(forgeries.archive_of(forgeries.sealed(parts | {"mean.npy": cut})))
    with pytest.raises(DamagedFile, match="damaged"):
        load_model(forged)


# ---- bombs


@pytest.mark.parametrize("line", [b"0" * 2**20, b"0,0\n" * 2**18], ids=["one line", "rows"])
def test_packed_text_that_does_not_end_is_refused(tmp_path, set_limits, line):
    set_limits("data.limits", FREE_UNPACKED_BYTES=2**22)
    place = tmp_path / "bomb.csv.gz"
    with gzip.open(place, "wb", compresslevel=9) as file:
        file.write(b"a,b\n1,2\n")
        for _ in range(16):
            file.write(line)
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        data.read_table(place)


def test_a_line_without_end_is_refused(tmp_path, set_limits):
    set_limits("data.dialect", MAX_LINE_BYTES=2**16)
    (tmp_path / "one.csv").write_bytes(b"1" * 2**17)
    with pytest.raises(InvalidInput, match="line of more than"):
        data.read_table(tmp_path / "one.csv")


def test_archives_of_arrays_that_unpack_to_far_too_much_are_refused(tmp_path, set_limits):
    set_limits("data.limits", FREE_UNPACKED_BYTES=2**20)
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((2**18, 8)))
    with pytest.raises(InvalidInput, match="unpacks to"):
        data.read_table(tmp_path / "bomb.npz")


def test_endless_standard_input_is_refused(monkeypatch, set_limits):
    class Endless:
        def read(self, size):
            return b"1,2\n" * (size // 4 + 1)

    set_limits("data.limits", MAX_STREAM_BYTES=2**16)
    monkeypatch.setattr("sys.stdin", type("Input", (), {"buffer": Endless()}))
    with pytest.raises(InvalidInput, match="standard input is longer than"):
        data.read_table("-")


def test_an_array_longer_than_its_file_takes_no_memory(tmp_path):
    made = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        made, {"descr": "<f8", "fortran_order": False, "shape": (2**45, 3)}
    )
    (tmp_path / "x.npy").write_bytes(made.getvalue() + bytes(64))
    with pytest.raises(DamagedFile, match="too short"):
        data.read_table(tmp_path / "x.npy")


# ---- MatrixMarket, read by our own reader: SciPy's leaves its arrays where a file was cut


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("sparse", [False, True])
def test_matrix_market_is_read_as_scipy_reads_it(symmetry, sparse):
    A = np.random.default_rng(0).normal(size=(7, 7)).round(3)
    A = {"general": A[:5], "symmetric": A + A.T, "skew-symmetric": A - A.T}[symmetry]
    matrix = sp.coo_array(np.where(np.abs(A) > 1, A, 0)) if sparse else A
    made = io.BytesIO()
    scipy.io.mmwrite(made, matrix, symmetry=symmetry, precision=17)
    found = matrix_market(lambda: io.BytesIO(made.getvalue()), "x.mtx")
    dense = [m.toarray() if sp.issparse(m) else m for m in (matrix, found)]
    np.testing.assert_array_equal(*dense)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "%%MatrixMarket matrix array real general\n",
        "%%MatrixMarket matrix array real general\n3 2\n1\n2\n",
        "%%MatrixMarket matrix array real general\n-3 2\n",
        "%%MatrixMarket matrix array real general\n3 2 9\n1\n",
        "%%MatrixMarket matrix coordinate real general\n3 2 1\n4 1 1.0\n",
        "%%MatrixMarket matrix coordinate real general\n3 2 1\n0 1 1.0\n",
        "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 1.0\n",
        "%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1\n",
        "%%MatrixMarket matrix coordinate real symmetric\n3 2 1\n1 1 1.0\n",
        "%%MatrixMarket matrix array real symmetric\n3 2\n1\n1\n1\n",
        "%%MatrixMarket matrix coordinate real wrong\n3 2 1\n1 1 1.0\n",
        "%%MatrixMarket matrix coordinate real general\n99999999999999999999 2 1\n1 1 1.0\n",
        "%%MatrixMarket matrix coordinate real general\n3 2 1\n1 x 1.0\n",
    ],
)
def test_matrix_market_files_that_are_none(tmp_path, text):
    path = Path(tmp_path / "x.mtx")
    path.write_text(text or "\n")
    with pytest.raises(DamagedFile, match="not a readable MatrixMarket file"):
        data.read_table(path)
