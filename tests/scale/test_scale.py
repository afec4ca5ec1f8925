"""Tables in tiles are the same tables: what fits into memory is the judge."""

from dataclasses import replace

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dualfold import (
    FAMD,
    PCA,
    ClassicalMDS,
    FisherDiscriminant,
    KernelPCA,
    LaplacianEigenmaps,
    PointPCA,
    RandomProjection,
    SpectralEmbedding,
    TruncatedSVD,
    quality,
)
from dualfold.errors import InvalidInput, TooLarge
from dualfold.scale import TileFailed, table
from tests.kernels.door import thread_count
from tests.scale.door import (
    ReadParquet,
    budget,
    drawn_row_numbers,
    gather_rows,
    memory_bytes,
    parquet_parts,
)
from tests.scale.tiled_tables import (
    NAMES,
    WIDTH,
    N,
    frame,
    in_memmap,
    in_parquet,
    in_zarr,
    points,
    uneven,
    unknown_lengths,
    with_empty_partitions,
)

SOURCES = {
    "odd chunks": lambda X, _: uneven(X.to_numpy()),
    "empty partitions": lambda X, _: with_empty_partitions(X),
    "unknown lengths": lambda X, _: unknown_lengths(X),
    "data frame": lambda X, _: dd.from_pandas(X, npartitions=3),
    "zarr": lambda X, folder: in_zarr(X.to_numpy(), folder),
    "zarr path": lambda X, folder: str(folder / in_zarr(X.to_numpy(), folder).store.root),
    "memmap": lambda X, folder: in_memmap(X.to_numpy(), folder),
    "parquet": in_parquet,
}


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize("source", SOURCES)
def test_pca_of_tiles_is_pca(source, dtype, tmp_path):
    """Values, directions and places to 1e-12, and the certificate proves as much.

    float32 answers are the same numbers rounded: to their last place, 2⁻²³.
    """
    X = frame(dtype)
    whole = PCA(n_components=4, standardize=True).fit(X.to_numpy())
    tiled = PCA(n_components=4, standardize=True)
    places = tiled.fit_transform(SOURCES[source](X, tmp_path))
    tolerance = 1e-12 if dtype is float else 2.0**-22
    np.testing.assert_allclose(tiled.explained_variance_, whole.explained_variance_, tolerance)
    np.testing.assert_allclose(tiled.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(tiled.components_, whole.components_, atol=tolerance)
    np.testing.assert_allclose(tiled.mean_, whole.mean_, rtol=tolerance)
    assert tiled.n_samples_ == N
    assert tiled.certificate_.level == whole.certificate_.level == "proved"
    assert tiled.certificate_.about == whole.certificate_.about
    assert tiled.certificate_.gap < 1e-12
    found = np.asarray(places.compute() if hasattr(places, "compute") else places)
    assert found.dtype == dtype
    spread = np.abs(whole.transform(X.to_numpy())).max()
    assert np.abs(found - whole.transform(X.to_numpy())).max() <= 8 * tolerance * spread


def test_the_kind_that_came_goes_back(tmp_path):
    X = frame()
    model = PCA(n_components=2).fit(X)
    lazy = dd.from_pandas(X, npartitions=3)
    placed = model.transform(lazy)
    assert isinstance(placed, dd.DataFrame)
    assert list(placed.columns) == ["pca0", "pca1"]
    assert placed.divisions == lazy.divisions
    assert {np.dtype(kind) for kind in placed.dtypes} == {np.dtype(float)}
    back = model.inverse_transform(placed)
    assert list(back.columns) == NAMES
    np.testing.assert_allclose(
        back.compute(), model.inverse_transform(model.transform(X)), rtol=1e-12
    )
    array = PCA(n_components=2).fit(X.to_numpy()).transform(uneven(X.to_numpy()))
    assert isinstance(array, da.Array)
    assert array.shape == (N, 2)
    assert array.dtype == float
    mapped = PCA(n_components=2).fit_transform(in_memmap(X.to_numpy(), tmp_path))
    assert isinstance(mapped, np.memmap)
    parquet = PCA(n_components=2).fit_transform(str(in_parquet(X, tmp_path)))
    assert isinstance(parquet, dd.DataFrame)


def test_nothing_is_computed_before_it_is_asked_for():
    """Tasks that would fail if they ran."""

    def refuse(block):
        raise AssertionError("a lazy table was computed")

    X = points()
    lazy = da.from_array(X, chunks=1_000).map_blocks(refuse, dtype=float, meta=X[:0])
    model = PCA(n_components=2, whiten=True).fit(X)
    assert model.inverse_transform(model.transform(lazy)).shape == (N, WIDTH)


def test_the_order_of_sums_is_that_of_the_tiles():
    """Any scheduler and number of threads: the same bits."""
    lazy = uneven(points())
    answers = []
    for setting in ({"scheduler": "sync"}, {"scheduler": "threads", "num_workers": 3}):
        with dask.config.set(**setting):
            answers.append(PCA(n_components=3).fit(lazy))
    assert answers[0].components_.tobytes() == answers[1].components_.tobytes()
    assert answers[0].eigenvalues_.tobytes() == answers[1].eigenvalues_.tobytes()


def test_a_batch_can_be_added_to_tiles():
    X = points()
    model = PCA(n_components=2).fit(da.from_array(X[:2_000], chunks=333))
    model.partial_fit(X[2_000:])
    whole = PCA(n_components=2).fit(X)
    np.testing.assert_allclose(model.components_, whole.components_, atol=1e-12)


def test_one_thread_inside_each_task():
    from threadpoolctl import threadpool_info

    def seen(rows):
        blas = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
        return {(thread_count(), thread_count(4), *blas)}

    before = thread_count()
    found = table(da.from_array(points(), chunks=500)).total("looking", seen, set.union)
    assert {number for numbers in found for number in numbers} == {1}
    assert thread_count() == before


def test_a_gap_is_named_by_its_tile():
    X = points()
    X[1_234, 5] = np.nan
    with pytest.raises(TileFailed, match="block 2 of 7"):
        PCA(n_components=2).fit(da.from_array(X, chunks=500))


def test_a_corrupt_file_is_named(tmp_path):
    folder = in_parquet(frame(), tmp_path)
    damaged = folder / "part-2.parquet"
    content = bytearray(damaged.read_bytes())
    content[200:260] = bytes(60)  # among the numbers of a page, which its checksum shows
    damaged.write_bytes(bytes(content))
    with pytest.raises(TileFailed, match="part-2"):
        PCA(n_components=2).fit(folder)
    damaged.write_bytes(b"PAR1")
    with pytest.raises(TileFailed, match="part-2"):
        PCA(n_components=2).fit(folder)


def test_words_are_refused_by_the_name_of_their_column():
    mixed = frame().assign(kind="a")
    with pytest.raises(InvalidInput, match="'kind' holds no numbers"):
        PCA(n_components=2).fit(dd.from_pandas(mixed, npartitions=2))


def test_other_columns_than_were_fitted_are_refused():
    model = PCA(n_components=2).fit(dd.from_pandas(frame(), npartitions=2))
    other = dd.from_pandas(frame().rename(columns={"c3": "x"}), npartitions=2)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(other)
    with pytest.raises(ValueError, match="12 features"):
        PCA(n_components=2).fit(points()).transform(da.zeros((9, 5), chunks=3))


def test_lengths_and_shapes_that_cannot_be_used():
    with pytest.raises(InvalidInput, match="to_dask_array\\(lengths=True\\)"):
        PCA().fit(da.zeros((5, 4, 3)))
    with pytest.raises(InvalidInput, match="fewer than 2 rows"):
        PCA().fit(da.zeros((1, 4)))
    with pytest.raises(InvalidInput, match="no file"):
        PCA().fit("nowhere.parquet")


def test_limits_of_memory():
    assert memory_bytes("2GB") == 2_000_000_000
    assert memory_bytes("1.5 GiB") == 3 * 2**29
    assert budget("350MB").tile_bytes < budget("2GB").tile_bytes
    with pytest.raises(InvalidInput, match="memory_limit='much'"):
        budget("much")
    with pytest.raises(TooLarge, match="no room for a tile"):
        budget("100MB")


def test_a_row_group_beyond_the_limit_is_named(tmp_path):
    path = tmp_path / "one.parquet"
    pq.write_table(pa.table({"a": np.random.default_rng(0).random(4_000_000)}), path)
    with pytest.raises(TooLarge, match=r"row group 0 of .*one.parquet"):
        table(path, memory_limit="340MB")


def test_a_sample_depends_on_the_numbers_of_rows_alone(tmp_path):
    X = frame()
    numbers = drawn_row_numbers(N, 100, 3)
    assert len(np.unique(numbers)) == 100
    for source in ("odd chunks", "empty partitions", "unknown lengths", "parquet", "zarr"):
        (tmp_path / source).mkdir()
        rows = table(SOURCES[source](X, tmp_path / source))
        np.testing.assert_array_equal(gather_rows(rows, numbers), X.to_numpy()[numbers])


def test_random_projections_of_tiles():
    """The same map, and the same pairs of rows tell what it does."""
    X = points()
    whole = RandomProjection(5, eps=0.5, random_state=0).fit(X)
    tiled = RandomProjection(5, eps=0.5, random_state=0)
    places = tiled.fit_transform(uneven(X))
    np.testing.assert_array_equal(tiled.components_, whole.components_)
    Y = whole.transform(X)
    np.testing.assert_allclose(places.compute(), Y, rtol=1e-12)
    assert tiled.certificate_ == quality.measured_distortion(X, Y, n_pairs=20_000, eps=0.5)


def test_classical_scaling_of_tiles():
    """Signs follow the directions; of points the largest would have to be looked for."""
    X = points()
    whole, tiled = ClassicalMDS(3).fit(X), ClassicalMDS(3).fit(uneven(X))
    np.testing.assert_allclose(tiled.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
    places = tiled.transform(uneven(X)).compute()
    spread = np.abs(whole.embedding_).max()
    assert np.abs(np.abs(places) - np.abs(whole.embedding_)).max() < 1e-11 * spread
    np.testing.assert_allclose(
        tiled.inverse_transform(da.from_array(places)).compute(),
        whole.inverse_transform(whole.transform(X)), rtol=1e-10,
    )  # fmt: skip
    assert tiled.certificate_.level == "proved"
    assert (
        ClassicalMDS("auto").fit(uneven(X)).n_components_
        == ClassicalMDS("auto").fit(X).n_components_
    )
    with pytest.raises(InvalidInput, match="distances of all pairs"):
        ClassicalMDS(metric="cosine").fit(uneven(X))


def test_truncated_svd_of_tiles():
    X = points() + 2.0
    whole, tiled = TruncatedSVD(3).fit(X), TruncatedSVD(3).fit(uneven(X))
    np.testing.assert_allclose(tiled.singular_values_, whole.singular_values_, rtol=1e-11)
    np.testing.assert_allclose(tiled.components_, whole.components_, atol=1e-9)
    for name in ("explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(tiled, name), getattr(whole, name), rtol=1e-9)
    np.testing.assert_allclose(
        tiled.transform(uneven(X)).compute(), whole.embedding_, atol=1e-8 * np.abs(X).max()
    )
    assert tiled.certificate_.level == "proved"


def test_kernel_pca_of_tiles_fits_landmarks_which_place_the_others():
    X = points()
    some = table(uneven(X), landmarks=60)
    tiled = KernelPCA(2, kernel="rbf", gamma="scale", random_state=0).fit(some)
    assert len(tiled.landmark_rows_) == 60
    assert "60 landmarks of" in tiled.certificate_.about
    # As a fit of these rows alone.
    alone = KernelPCA(2, kernel="rbf", gamma="scale").fit(X[tiled.landmark_rows_])
    places = tiled.transform(uneven(X)).compute()
    np.testing.assert_allclose(places, alone.transform(X), atol=1e-10)
    with pytest.raises(InvalidInput, match="kernel='precomputed'"):
        KernelPCA(2, kernel="precomputed").fit(uneven(X))


def test_mixed_tables_in_tiles():
    """Levels that only some tiles have; a level that was not fitted counts as the average."""
    X = (
        frame()
        .iloc[:, :4]
        .assign(kind=["a"] * 1_000 + ["b"] * 2_000 + ["c"], yes=points()[:, 0] > 0)
    )
    lazy = with_empty_partitions(X)
    whole, tiled = FAMD(3).fit(X), FAMD(3).fit(lazy)
    assert tiled.encodings_ == whole.encodings_
    np.testing.assert_allclose(tiled.eigenvalues_, whole.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(
        tiled.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-12
    )
    # Directions to rounding over the eigengap, which is a tenth of the eigenvalues here.
    np.testing.assert_allclose(tiled.components_, whole.components_, atol=1e-11)
    new = X.assign(kind="d")
    np.testing.assert_allclose(
        tiled.transform(dd.from_pandas(new, npartitions=2)).compute().to_numpy(),
        whole.transform(new), atol=1e-9,
    )  # fmt: skip
    assert tiled.certificate_.level == "proved"
    gap = X.assign(c1=np.where(np.arange(N) == 7, np.nan, 1.0))
    with pytest.raises(TileFailed, match="'c1' contains NaN"):
        FAMD(3).fit(dd.from_pandas(gap, npartitions=2))


def words_of_rows():
    """Classes of different sizes, none in all tiles; sorted, so that tiles differ."""
    rng = np.random.default_rng(3)
    return np.sort(rng.choice(["a", "bb", "c", "dd"], N, p=[0.6, 0.25, 0.1, 0.05]))


LABELS = {
    "in memory": lambda y, X: (uneven(X.to_numpy()), y),
    "list": lambda y, X: (uneven(X.to_numpy()), y.tolist()),
    "other chunks": lambda y, X: (uneven(X.to_numpy()), da.from_array(y, chunks=711)),
    "one column": lambda y, X: (uneven(X.to_numpy()), da.from_array(y, chunks=999)[:, None]),
    "series": lambda y, X: _with_series(dd.from_pandas(X.assign(y=y), npartitions=4)),
    "categories": lambda y, X: _with_series(
        dd.from_pandas(X.assign(y=pd.Categorical(y)), npartitions=4)
    ),
    "empty partitions": lambda y, X: _with_series(with_empty_partitions(X.assign(y=y))),
}


def _with_series(lazy):
    return lazy[NAMES], lazy["y"]


@pytest.mark.parametrize("dtype", [float, np.float32])
@pytest.mark.parametrize("shrinkage", [None, 0.3])
@pytest.mark.parametrize("given", LABELS)
def test_fisher_of_tiles_is_fisher(given, shrinkage, dtype):
    """Ratios to 1e-12, directions to rounding over the eigengap, proved as in memory."""
    y, X = words_of_rows(), frame(dtype)
    X.iloc[:, :3] += np.eye(4, 3)[np.unique(y, return_inverse=True)[1]].astype(dtype) * 5
    whole = FisherDiscriminant(shrinkage=shrinkage).fit(X.to_numpy(), y)
    tiled = FisherDiscriminant(shrinkage=shrinkage)
    places = tiled.fit_transform(*LABELS[given](y, X)).compute()
    assert list(tiled.classes_) == ["a", "bb", "c", "dd"]
    np.testing.assert_allclose(tiled.eigenvalues_, whole.eigenvalues_, rtol=1e-11)
    tolerance = 1e-9 if dtype is float else 2.0**-20
    size = np.abs(whole.components_).max(axis=1, keepdims=True)
    assert np.abs((tiled.components_ - whole.components_) / size).max() < tolerance
    spread = np.abs(whole.embedding_).max()
    assert np.abs(np.asarray(places) - whole.embedding_).max() < 8 * tolerance * spread
    assert tiled.certificate_.level == whole.certificate_.level == "proved"


def test_fisher_of_tiles_says_what_is_wrong_with_labels():
    y, X = words_of_rows(), uneven(points())
    with pytest.raises(InvalidInput, match="target y is None"):
        FisherDiscriminant().fit(X)
    with pytest.raises(InvalidInput, match="3,000 labels for 3,001 rows"):
        FisherDiscriminant().fit(X, y[1:])
    with pytest.raises(InvalidInput, match="3,000 labels for 3,001 rows"):
        FisherDiscriminant().fit(X, da.from_array(y[1:]))
    with pytest.raises(InvalidInput, match="2 partitions and X has 5"):
        FisherDiscriminant().fit(X, dd.from_pandas(pd.Series(y), npartitions=2))
    lone = np.where(np.arange(N) == 5, "lone", y)
    for given in (lone, da.from_array(lone, chunks=500)):
        with pytest.raises(InvalidInput, match=r"class lone .* one row"):
            FisherDiscriminant().fit(X, given)
    with pytest.raises(InvalidInput, match="one class"):
        FisherDiscriminant().fit(X, da.full(N, 3, chunks=500))
    with pytest.raises(TileFailed, match=r"block \d of 5: .*continuous"):
        FisherDiscriminant().fit(X, da.from_array(points()[:, 0], chunks=500))
    with pytest.raises(InvalidInput, match="needs all rows at once"):
        FisherDiscriminant(shrinkage="auto").fit(X, y)
    gap = points()
    gap[1_234, 5] = np.nan
    with pytest.raises(TileFailed, match=r"block 3 of 5: .*NaN"):
        FisherDiscriminant().fit(uneven(gap), y)


def test_methods_that_need_all_rows_say_so():
    with pytest.raises(InvalidInput, match=r"needs all rows at once.*PCA gives the same"):
        PointPCA().fit(uneven(points()))
    with pytest.raises(InvalidInput, match="LaplacianEigenmaps reads tiles"):
        SpectralEmbedding().fit(uneven(points()))
    with pytest.raises(InvalidInput, match="needs features"):
        LaplacianEigenmaps(metric="precomputed").fit(uneven(points()))


X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tiles_of_parquet_are_row_groups_and_are_counted_again(here):
    pytest.importorskip("pyarrow")
    pytest.importorskip("dask")
    pd.DataFrame(X, columns=list("abc")).to_parquet("g.parquet", row_group_size=3)
    parts, empty = parquet_parts(here / "g.parquet", None, tile_bytes=1, most=10**9)
    assert [part.rows for part in parts] == [3, 3, 3, 3]
    read = ReadParquet(tuple(empty.columns))
    np.testing.assert_array_equal(read(parts[1]).to_numpy(), X[3:6])
    with pytest.raises(TileFailed, match="has changed while it was read"):
        read(replace(parts[1], rows=2))
