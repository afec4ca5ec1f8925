"""What functions for a few callers refuse, read as such a caller: each says what was needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dualfold import quality
from dualfold.data import Reading, prepare, read_table, write_table
from dualfold.data.atomic_files import check_folder_place
from dualfold.data.encoding import category
from dualfold.data.examples import example_table
from dualfold.data.scales import standard_of
from dualfold.errors import DisconnectedGraph, InvalidInput
from dualfold.games import FTL, FTLPlus, Indicator, Simplex, learn
from dualfold.games.losses import LargestAffine
from dualfold.games.mvu_dual import EasiestBend, unfolding_game
from dualfold.games.structured_sets import Product
from dualfold.graph import knn, nearest, present_nearest
from dualfold.graph.attachment import attach
from dualfold.maps.linear import LinearMap
from dualfold.maps.local import LocalDistancesMap
from dualfold.maps.random import orthogonal_map, random_map, sparse_map
from dualfold.neighbor_map.problem import NeighborProblem, neighbor_problem
from dualfold.point_pca.direction_descent import averaged_directions
from dualfold.point_pca.point_descent import centred_points
from dualfold.tsne.grid import Grid
from dualfold.tsne.problem import TsneProblem
from dualfold.unfolding import UnfoldingProblem
from dualfold.unfolding.certificate import certify_unfolding
from dualfold.unfolding.solvers.landmark import landmark
from dualfold.unfolding.solvers.low_rank import low_rank
from dualfold.unfolding.solvers.unfolder import elastic

X = np.random.default_rng(0).normal(size=(12, 3))
RING = sp.csr_array((np.full(4, 0.25), (np.arange(4), (np.arange(4) + 1) % 4)), shape=(4, 4))
RING.indices, RING.indptr = RING.indices.astype(np.int32), RING.indptr.astype(np.int32)
CHAIN = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
DISTANCES = np.linalg.norm(X[:, None] - X[None], axis=-1)
HALVES = np.array([0.5, 0.5])
SHARES = Indicator(Simplex())


def chain(edges=((0, 1), (1, 2)), squared=(1.0, 1.0), masses=None):
    return UnfoldingProblem(3, edges, squared, masses=masses)


REFUSALS = {
    "as many squared lengths": lambda: chain(squared=[1.0]),
    "outside 0…2": lambda: chain(edges=[[0, 1], [1, 7]]),
    "given once as i < j": lambda: chain(edges=[[1, 2], [0, 1]]),
    "3 positive numbers up to 1e30": lambda: chain(masses=[1.0, 1.0]),
    "3 rows of points and 2 weights": lambda: certify_unfolding(CHAIN, X[:2], [1.0, 1.0]),
    "from 0 to below 1": lambda: certify_unfolding(CHAIN, X[:3], [1.0, 1.0], most_relaxed=1.0),
    "is for equal lengths": lambda: elastic(CHAIN),
    "must be at least 1; given were 0 and 1": lambda: landmark(
        CHAIN, n_landmarks=0, n_directions=1
    ),
    "1 point was given": lambda: low_rank(UnfoldingProblem(1, np.empty((0, 2), int), [])),
    "rounds=0 must be at least 1": lambda: averaged_directions(X, 2, rounds=0),
    "must be a positive number": lambda: NeighborProblem(RING, 2, -1.0),
    "at most 3 coordinates": lambda: NeighborProblem(RING, 4, 1.0),
    "weights must be positive and finite": lambda: neighbor_problem(
        -RING, n_components=2, spread=1.0
    ),
    "an array of 12 rows": lambda: centred_points(X, X[:3]),
    "too wide for a grid": lambda: Grid(np.array([[0.0, 0.0], [1e9, 1e9]])),
    "32-bit indices": lambda: TsneProblem(sp.csr_array(RING, dtype=np.float32)),
    "attraction=0 must be above 0": lambda: TsneProblem(RING, attraction=0),
    "n_components=0 must be at least 1": lambda: TsneProblem(RING, count=0),
    "must have rows and columns": lambda: LargestAffine(np.ones(3)),
    "2 offsets, or one for all": lambda: LargestAffine(np.eye(2), np.ones(3)),
    "merge points at distance 0 first": lambda: EasiestBend(3, [[0, 1]], [0.0]),
    "cannot share 3 coordinates": lambda: Product((Simplex(), Simplex()), (1, 1)).project(X[0]),
    "is 'loss' or 'slope'": lambda: learn(FTL(SHARES, HALVES), [HALVES], shown="value"),
    "after it has seen the loss": lambda: learn(FTLPlus(SHARES, HALVES), [HALVES], shown="slope"),
    "outside of its set": lambda: learn(FTLPlus(SHARES, 3 * HALVES), [HALVES]),
    "is empty": lambda: learn(FTLPlus(SHARES, HALVES), []),
    "where an opponent chooses": lambda: learn(FTLPlus(SHARES, HALVES), lambda past: HALVES),
    "is one function": lambda: learn(FTLPlus(SHARES, HALVES), LargestAffine(np.eye(2))),
    "the shape of the player's points": lambda: learn(FTLPlus(SHARES, HALVES), [X[0]]),
    "there are 1 weights and a round 2": lambda: learn(
        FTLPlus(SHARES, HALVES), [HALVES, HALVES], weights=[1.0]
    ),
    "that of round 1 is -1": lambda: learn(FTLPlus(SHARES, HALVES), [HALVES], weights=[-1.0]),
    "have 2 coordinates, this map was made for 1": lambda: LinearMap(
        np.zeros(3), np.ones((1, 3))
    ).decode(X[:, :2]),
    "these are sparse": lambda: LocalDistancesMap(X, X, 2, 1e-3)(sp.csr_array(X)),
    "4 orthonormal directions": lambda: orthogonal_map(3, 4),
    "a share above 0 and at most 1": lambda: sparse_map(3, 2, density=1.5),
    "both numbers must be 1 or more": lambda: random_map(0, 2),
    "'gaussian', 'orthogonal' or 'sparse'": lambda: random_map(3, 2, kind="orthonormal"),
    "maps have none": lambda: random_map(3, 2, density=0.5),
    "for new points pass coordinates": lambda: nearest(
        DISTANCES, 3, queries=X, metric="precomputed"
    ),
    "needs metric='euclidean'": lambda: nearest(X, 3, metric="cosine", search="blocked"),
    "given without a rule": lambda: attach(replace(knn(X, 4), kind="given"), X),
    "distances must be finite": lambda: knn(DISTANCES * np.nan, 3, metric="precomputed"),
    "must be between 1 and 11 for 12 rows": lambda: present_nearest(X, 12),
    "with numbers beyond float64": lambda: present_nearest(X.astype(np.longdouble) / 3, 2),
    "holds infinite numbers": lambda: present_nearest(np.where(X > 1, np.inf, X), 2),
    "two maps or more; 1 given": lambda: quality.stability([X]),
    "one index for each point": lambda: quality.stability([X, X], rows=[[1], [2]]),
    "its shape is (3,)": lambda: quality.stability([X[0], X[0]]),
    "a number or 'best'": lambda: quality.stress(X, X, scale="worst"),
    "a whole number >= 1; it is 0": lambda: quality.shepard(X, X, bins=0),
    "rows=0 must be 1 or more": lambda: example_table("roll", 0),
    "is no example": lambda: example_table("bread"),
    "the data frame has no rows": lambda: prepare(pd.DataFrame({"a": []})),
    "is about files": lambda: prepare(pd.DataFrame({"a": [1.0]}), Reading(decimal=",")),
    "would fill a sparse matrix": lambda: standard_of(sp.csr_array(X)),
    "it names the rows": lambda: category("a", [f"w{k}" for k in range(9_999)]),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


def test_an_unfolding_of_several_pieces_has_no_end():
    with pytest.raises(DisconnectedGraph, match="take its largest piece"):
        unfolding_game(4, [[0, 1], [2, 3]], [1.0, 1.0], rounds=10)


def test_the_kinds_that_a_refusal_lists_are_there():
    for kind in ("gaussian", "orthogonal", "sparse"):
        assert random_map(4, 2, kind=kind, random_state=0)(np.eye(4)).shape == (4, 2)


FILES = {
    "'a' appear more than once": ("x.parquet", {}),
    "'z' names no column; the columns of the matrix are called": ("x.npy", {"exclude": ["z"]}),
    "but all 3 were taken out": (
        "x.npy", {"exclude": ["column_1", "column_2", "column_3"]},
    ),
    "has 1 columns but no rows": ("none.parquet", {}),
    "is the decimal mark, too": ("x.csv", {"thousands": ",", "decimal": ","}),
    "must be one character": ("x.csv", {"separator": "::"}),
    "names no layer or obsm entry": ("x.h5ad", {"array": "z"}),
    "has no X; obsm holds 'X_pca'": ("y.h5ad", {}),
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Tables that are sound, but not for what is asked of them."""
    anndata = pytest.importorskip("anndata")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("files")
    columns = [arrow.array([1.0, 2.0])] * 2
    parquet.write_table(arrow.Table.from_arrays(columns, names=["a", "a"]), folder / "x.parquet")
    pd.DataFrame({"a": np.empty(0)}).to_parquet(folder / "none.parquet")
    np.save(folder / "x.npy", X)
    np.savetxt(folder / "x.csv", X, delimiter=",", header="a,b,c", comments="")
    anndata.AnnData(X).write_h5ad(folder / "x.h5ad")
    anndata.AnnData(obsm={"X_pca": X}).write_h5ad(folder / "y.h5ad")
    return folder


@pytest.mark.parametrize("said", FILES)
def test_a_sound_file_that_has_not_what_is_asked(files, said):
    name, options = FILES[said]
    with pytest.raises(InvalidInput) as refused:
        read_table(files / name, Reading(**options))
    assert said in str(refused.value)


def test_files_are_not_written_where_they_cannot_be(files):
    (files / "taken.csv").mkdir()
    with pytest.raises(InvalidInput, match="is a folder"):
        write_table(files / "taken.csv", {"a": X[:, 0]})
    with pytest.raises(InvalidInput, match="there is no folder"):
        check_folder_place(files / "none" / "here.parquet", overwrite=False)
    with pytest.raises(InvalidInput, match="is a file, and a folder is needed"):
        check_folder_place(files / "x.csv" / "here.parquet", overwrite=False)
