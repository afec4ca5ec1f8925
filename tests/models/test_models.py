"""Models as files: what comes back places new rows to the last bit as the estimator does."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.data import swiss_roll
from dualfold.errors import InvalidInput
from dualfold.saved import load_model, model_of, save_model

X = swiss_roll(300, random_state=0).points
NEW = swiss_roll(40, random_state=1).points

FITTED = {
    "pca": lambda: dualfold.PCA(2),
    "standardised pca": lambda: dualfold.PCA(2, standardize=True),
    "truncated svd": lambda: dualfold.TruncatedSVD(2),
    "mds": lambda: dualfold.ClassicalMDS(2),
    "kernel pca": lambda: dualfold.KernelPCA(2, kernel="rbf", gamma=0.01),
    "landmark kernel pca": lambda: dualfold.KernelPCA(2, kernel="poly", degree=2, landmarks=20),
    "lpp": lambda: dualfold.LocalityPreservingProjection(2),
    "onpp": lambda: dualfold.OrthogonalNPP(2),
    "sparse projection": lambda: dualfold.RandomProjection(2, kind="sparse", random_state=0),
    "isomap": lambda: dualfold.Isomap(n_neighbors=8),
    "variable isomap": lambda: dualfold.Isomap(n_neighbors=10, neighborhood="variable"),
    "landmark isomap": lambda: dualfold.Isomap(n_neighbors=8, landmarks=40),
    "radius isomap": lambda: dualfold.Isomap(n_neighbors=None, radius=4.0),
    "eigenmaps": lambda: dualfold.LaplacianEigenmaps(n_neighbors=8),
    "density eigenmaps": lambda: dualfold.LaplacianEigenmaps.named("ALE"),
    "lle": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=10),
    "ltsa": lambda: dualfold.LocallyLinearEmbedding(n_neighbors=10, method="ltsa"),
    "mvu": lambda: dualfold.MaximumVarianceUnfolding(n_neighbors=5),
    "whitened pca": lambda: dualfold.PCA(2, whiten=True, standardize=True),
    "diffusion": lambda: dualfold.LaplacianEigenmaps(n_neighbors=8, diffusion_time=2.5),
}


@pytest.mark.filterwarnings("ignore::dualfold.errors.PiecesJoined")
@pytest.mark.parametrize("name", FITTED)
def test_a_saved_model_places_rows_as_its_estimator(tmp_path, name):
    estimator = FITTED[name]().fit(X)
    save_model(tmp_path / "m.dualfold", model_of(estimator))
    loaded = load_model(tmp_path / "m.dualfold")
    for rows in (X, NEW):
        np.testing.assert_array_equal(loaded.transform(rows), estimator.transform(rows))
    assert loaded.certificate == estimator.certificate_.to_dict()


def test_two_pieces_that_were_joined_come_back_with_their_link(tmp_path):
    far = np.vstack([X[:60], X[:60] + 500])
    with pytest.warns(dualfold.errors.PiecesJoined):
        estimator = dualfold.LaplacianEigenmaps(n_neighbors=6).fit(far)
    save_model(tmp_path / "m.dualfold", model_of(estimator))
    found = load_model(tmp_path / "m.dualfold").transform(far)
    np.testing.assert_array_equal(found, estimator.transform(far))
    np.testing.assert_allclose(found, estimator.embedding_, atol=1e-6)


def test_sparse_features_stay_sparse(tmp_path):
    S = sp.random_array((80, 30), density=0.3, rng=np.random.default_rng(0), format="csr")
    estimator = dualfold.LocallyLinearEmbedding(n_neighbors=8).fit(S)
    save_model(tmp_path / "m.dualfold", model_of(estimator))
    loaded = load_model(tmp_path / "m.dualfold")
    assert sp.issparse(loaded.map.features)
    np.testing.assert_array_equal(loaded.transform(S), estimator.transform(S))


def test_the_file_is_data_and_equal_models_are_equal_files(tmp_path):
    model = model_of(dualfold.Isomap(n_neighbors=8).fit(X))
    save_model(tmp_path / "a", model)
    save_model(tmp_path / "b", model)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert archive.namelist()[0] == "dualfold.json"
        assert all(name.endswith((".json", ".npy")) for name in archive.namelist())
        assert json.loads(archive.read("dualfold.json"))["version"] == 1
    with pytest.raises(InvalidInput, match="exists already"):
        save_model(tmp_path / "a", model)


def test_a_pickle_inside_is_never_opened(tmp_path):
    path = tmp_path / "evil.dualfold"
    save_model(path, model_of(dualfold.PCA(2).fit(X)))
    with zipfile.ZipFile(path) as archive:
        header = archive.read("dualfold.json")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("dualfold.json", header)
        with archive.open("mean.npy", "w") as entry:
            np.lib.format.write_array(entry, np.array([print], dtype=object))
    with pytest.raises(InvalidInput, match="no readable model file"):
        load_model(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,b\n1,2\n", "no readable model file"),
        (b"", "no readable model file"),
        ("other zip", "no model of dualfold"),
        ("future", "version 99"),
        ("cut", "another checksum than it says"),
        (None, "there is no model file"),
    ],
)
def test_files_that_are_no_models(tmp_path, content, said):
    path = tmp_path / "m.dualfold"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        with zipfile.ZipFile(path, "w") as archive:
            schema = {"schema": "dualfold.model", "version": 99 if content == "future" else 1}
            text = "{}" if content == "other zip" else json.dumps(schema)
            archive.writestr("dualfold.json", text)
    with pytest.raises(InvalidInput, match=said):
        load_model(path)


def test_columns_are_matched_by_name():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = model_of(dualfold.PCA(2).fit(frame))
    others = frame.assign(extra=1.0)[["c", "extra", "a", "b"]]
    np.testing.assert_array_equal(model.prepared_rows(others).X, X)
    with pytest.raises(InvalidInput, match=r"'b'.*'b' may be 'B'|'b'"):
        model.prepared_rows(frame.rename(columns={"b": "B"}))
    with pytest.raises(InvalidInput, match="4 columns, the model was made for 3"):
        model.transform(np.ones((2, 4)))


@pytest.mark.parametrize("name", ["isomap", "eigenmaps", "diffusion", "lle"])
def test_pieces_side_by_side_come_back_each_with_its_map(tmp_path, name):
    far = np.vstack([X[:60], X[100:140] + 500, [[9000.0, 0.0, 0.0]]])
    estimator = FITTED[name]().set_params(n_neighbors=6, pieces="separate")
    # the single point becomes a piece of its own in a graph by radius
    estimator.set_params(n_neighbors=None, radius=40.0)
    estimator.fit(far)
    assert estimator.n_connected_components_ == 3
    save_model(tmp_path / "m.dualfold", model_of(estimator))
    loaded = load_model(tmp_path / "m.dualfold")
    new = np.vstack([far, far[::7] + 0.1])
    np.testing.assert_array_equal(loaded.transform(new), estimator.transform(new))
    assert loaded.certificate == estimator.certificate_.to_dict()


def test_rules_that_are_no_data_are_refused():
    def taxi(a, b):
        return float(abs(a - b).sum())

    far = np.vstack([X[:30], X[:30] + 500])
    distances = np.linalg.norm(X[:60, None] - X[None, :60], axis=2)
    for estimator, rows in (
        (dualfold.Isomap(metric=taxi), X[:60]),
        (dualfold.Isomap(metric=taxi, pieces="separate"), far),
        (dualfold.Isomap(metric="minkowski", p=3), X[:60]),
        (dualfold.Isomap(metric="precomputed"), distances),
    ):
        with pytest.raises(InvalidInput, match="metric by its name"):
            model_of(estimator.fit(rows))
    affinities = np.exp(-(distances**2))
    estimator = dualfold.LaplacianEigenmaps(weights="precomputed").fit(affinities)
    with pytest.raises(InvalidInput, match="are made from features"):
        model_of(estimator)


def test_parameters_without_content_are_none():
    empty = dualfold.Isomap(n_neighbors=5, metric_params={}).fit(X)
    assert model_of(empty).problem.parameters["metric_params"] is None
