"""`dualfold embed` of tables in tiles: limits of memory, clusters, and what Ctrl-C leaves."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
import zarr
from typer.testing import CliRunner

from dualfold import PCA
from dualfold.cli import app
from tests.scale.tiled_tables import N, frame, in_parquet, points


def embed(*words):
    return CliRunner().invoke(app, ["embed", *map(str, words)])


def test_a_folder_of_parquet_files(tmp_path):
    """Names of rows go along, words are left out and named, units get the same weight."""
    X = frame()
    named = X.assign(c0=1_000 * X["c0"], name=[f"r{row}" for row in range(N)], kind="a")
    source, out = in_parquet(named, tmp_path), tmp_path / "out.parquet"
    done = embed(source, "--id", "name", "--exclude", "c1", "-o", out, "--json")
    assert done.exit_code == 0, done.output
    assert "kind: no numbers, left out" in done.stderr
    assert "same weight" in done.stderr
    told = json.loads(done.stdout)
    assert told["certificate"]["level"] == "proved"
    assert told["rows"] == N
    placed = pd.read_parquet(out)
    assert list(placed.columns) == ["name", "pca_1", "pca_2"]
    assert list(placed["name"]) == list(named["name"])
    used = named.drop(columns=["name", "kind", "c1"])
    expected = PCA(n_components=2, standardize=True).fit_transform(used)
    np.testing.assert_allclose(placed[["pca_1", "pca_2"]], expected, atol=1e-10)
    stored = json.loads((out / "_dualfold.json").read_text())
    assert stored["certificate"] == told["certificate"]


def test_zarr_in_and_out_with_landmarks(tmp_path):
    store = zarr.create_array(
        store=str(tmp_path / "x.zarr"), shape=(N, 12), chunks=(1_000, 12), dtype=float
    )
    store[:] = points()
    out = tmp_path / "y.zarr"
    done = embed(tmp_path / "x.zarr", "-m", "eigenmaps", "--landmark-rows", 300, "-o", out)
    assert done.exit_code == 0, done.output
    assert "300 landmarks of 3,001 rows" in done.stderr
    assert zarr.open_array(str(out)).shape == (N, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "map.csv"], "must end with .parquet or .zarr"),
        (["--missing", "drop"], "--missing is not for tables in tiles"),
        (["--picture", "map.png"], "made of all points at once"),
        (["-m", "auto"], "name a method"),
        (["--id", "nothing"], "no column 'nothing'"),
        (["--memory-limit", "90MB"], "leaves no room for a tile"),
        (["--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, words, said):
    import dask
    import distributed  # noqa: F401  imported inside `set` its defaults would go with it

    monkeypatch.chdir(tmp_path)
    source = in_parquet(frame(), tmp_path)
    before = sorted(os.listdir(tmp_path))
    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        done = embed(source, *words)
    assert done.exit_code == 1
    assert said in done.stderr
    assert sorted(os.listdir(tmp_path)) == before


LIMITED = """
import re, sys
from dualfold import PCA
from dualfold.scale import table
model = PCA(n_components=2).fit(table(sys.argv[1], memory_limit="450MB"))
model.transform(table(sys.argv[1], memory_limit="450MB"))
# The peak of this program; getrusage would count that of the process it was forked from, too.
peak = re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]
print(model.n_samples_, int(peak) * 1024)
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_the_limit_of_memory_is_kept(tmp_path):
    """480 MB of numbers in a process that may have 450 MB."""
    rows = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float64, (600_000, 100))
    for start in range(0, len(rows), 100_000):
        rows[start : start + 100_000] = np.random.default_rng(start).random((100_000, 1))
        rows[start : start + 100_000, :3] *= [1, 2, 3]
    rows.flush()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "x.npy")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    count, peak = map(int, done.stdout.split())
    assert count == 600_000
    assert peak < 450e6


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_leaves_nothing_half_written(tmp_path):
    """Interrupted while parts are being written."""
    store = zarr.create_array(
        store=str(tmp_path / "x.zarr"), shape=(120_000, 12), chunks=(2_000, 12), dtype=float
    )
    for start in range(0, 120_000, 40_000):
        rows = np.random.default_rng(start).standard_normal((40_000, 12))
        store[start : start + 40_000] = rows
    before = sorted(os.listdir(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-m", "dualfold", "embed", "x.zarr", "-m", "eigenmaps", "-o", "out.zarr",
         "--landmark-rows", "500", "--memory-limit", "400MB", "--no-standardize"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(1_200):
        if any(name.endswith(".part") for name in os.listdir(tmp_path)):
            break
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    assert any(name.endswith(".part") for name in os.listdir(tmp_path))
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "no file was left half-written" in said
    assert sorted(os.listdir(tmp_path)) == before
