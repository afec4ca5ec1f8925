"""Stored maps that lie are rejected, honest ones are accepted, whatever kind they are of.

What is true is known by construction: honest maps are what the library wrote, forged ones
differ from it by more than any rounding. Every kind has five forgeries or more.
"""

import functools
import json
import math
import zipfile

import numpy as np
import pytest

import dualfold
from dualfold.data import swiss_roll
from dualfold.errors import InvalidInput
from dualfold.saved import load_model, model_of, rechecked_model, save_model
from tests.proofs import fuzz_maps as maps
from tests.proofs.fuzz_maps import accepted
from tests.robustness.door import certify_points, rechecked_unfolding
from tests.robustness.forgeries import archive_of, parts_of_file, sealed

pytestmark = pytest.mark.filterwarnings("ignore")

X = swiss_roll(150, random_state=0).points
MODELS = [(kind, number) for kind, made in maps.ESTIMATORS.items() for number in range(len(made))]


@pytest.mark.parametrize(
    ("kind", "data"), [*((kind, "cloud") for kind in maps.POINT_KINDS), *maps.LANDMARKS]
)
def test_forged_points_are_rejected(kind, data):
    rng = np.random.default_rng(1)
    stored = maps.stored_points(kind, rng, data=data, single=False)
    assert accepted(stored.judged), stored.judged()
    forged = maps.forged_points(stored, rng)
    assert len(forged) >= 10
    for name, (points, values) in forged.items():
        assert not accepted(lambda p=points, v=values: stored.judged(p, v)), name


@pytest.mark.parametrize(("kind", "number"), MODELS)
def test_forged_models_are_rejected(kind, number):
    rng = np.random.default_rng(2)
    how = {"data": "roll", "single": False, "number": number, "rows": (90, 130)}
    _, model, rows, _ = maps.stored_model(kind, rng, **how)
    assert accepted(lambda: rechecked_model(model, rows)), rechecked_model(model, rows)
    forged = {name: wrong for name, wrong in maps.forged_models(model, rng).items() if wrong}
    assert len(forged) >= 5  # not counting those that are refused before they are models
    for name, wrong in forged.items():
        assert not accepted(lambda m=wrong: rechecked_model(m, rows)), name
    other = rows + 0.05 * np.abs(rows).max() * rng.normal(size=rows.shape)
    assert not accepted(lambda: rechecked_model(model, other))


def test_forged_unfoldings_are_rejected():
    rng = np.random.default_rng(0)
    rows = np.vstack([swiss_roll(60, random_state=1).points, swiss_roll(3, random_state=1).points])
    graph = dualfold.graph.join_pieces(dualfold.graph.knn(np.vstack([rows, rows[:3]]), 5))
    unfolding = dualfold.unfolding.unfold(graph)
    sides = maps.sides_of(unfolding)
    Y = unfolding.coordinates(2)[0]
    turn = np.array([[math.cos(0.02), -math.sin(0.02)], [math.sin(0.02), math.cos(0.02)]])
    apart, factor = Y.copy(), sides.factor.copy()
    apart[-1] += 1.0  # a twin of row 2, moved in the points and in the factor alike
    factor[-1, 0] += 1.0
    moved = Y.copy()
    moved[5, 1] += 1e-3 * np.ptp(Y[:, 1])
    huge = Y.copy()
    huge[:2] = 1.7e308
    third = np.linalg.svd(sides.factor, full_matrices=False)
    third = third[0][:, [0, 2]] * third[1][[0, 2]]
    forged = {
        "a point moved": (moved, sides),
        "turned": (Y @ turn, sides),
        "columns exchanged": (Y[:, ::-1], sides),
        "scaled": (1.001 * Y, sides),
        "1.7e308": (huge, sides),
        "a direction further on": (third, sides),
        "a column too much": (np.column_stack([Y, Y[:, 0], *([Y[:, 1]] * 70)]), sides),
        "a twin moved": (Y, type(sides)(factor, sides.weights)),
        "no weights": (Y, type(sides)(sides.factor, 0 * sides.weights)),
    }
    assert rechecked_unfolding(graph, Y, sides).level == "proved"
    for name, (points, both) in forged.items():
        judgement = lambda p=points, b=both: rechecked_unfolding(graph, p, b)  # noqa: E731
        assert not accepted(judgement), name
    assert not accepted(lambda: rechecked_unfolding(graph, rng.permutation(Y), sides))


def test_a_landmark_map_says_what_was_proved_and_what_was_placed_again():
    stored = maps.stored_points("landmark isomap", np.random.default_rng(0), data="strip")
    words = stored.judged().about
    assert "landmarks" in words
    assert f"all {len(stored.points)} points were placed again and agree to" in words


def test_honest_maps_are_accepted():
    assert not wrongly_refused(count=36, seed=int(np.random.SeedSequence().entropy % 2**31))


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [0, 1])
def test_two_hundred_honest_maps_are_accepted(seed):
    assert not wrongly_refused(count=200, seed=seed)


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(3, 6))
def test_every_forgery_is_rejected(seed):
    for kind, name, judgement in maps.forged_judgements(seed):
        assert not accepted(judgement), (kind, name)


def wrongly_refused(count, seed):
    """Honest maps that were proved or measured when they were made, and were not accepted."""
    return [
        (seed, label, judgement())
        for label, level, judgement in maps.honest_judgements(count, seed)
        if level in ("proved", "measured") and not accepted(judgement)
    ]


# ---- the tolerance is the caller's

NO_TOLERANCES = [math.nan, math.inf, -1e-9, 1.5, "wide", None]


@pytest.mark.parametrize("tolerance", NO_TOLERANCES)
def test_every_door_refuses_a_tolerance_that_proves_anything(tolerance):
    problem = dualfold.methods.pca(X)
    answer = dualfold.embed(problem)
    model = model_of(dualfold.PCA(2).fit(X))
    graph = dualfold.graph.join_pieces(dualfold.graph.knn(X[:40], 5))
    for judgement in (
        lambda t: certify_points(problem, answer.points, answer.values, tolerance=t),
        lambda t: rechecked_model(model, X, tolerance=t),
        lambda t: rechecked_unfolding(graph, X[:40, :2], None, tolerance=t),
    ):
        with pytest.raises(InvalidInput, match="tolerance is"):
            judgement(tolerance)
        assert judgement(1e-4) is not None


# ---- archives


def rewritten(path, change):
    """A model file with its header and arrays changed, and with checksums that fit again."""
    parts = parts_of_file(path.read_bytes())
    change(parts)
    path.write_bytes(archive_of(sealed(parts)))


def array_bytes(array, allow_pickle=False):
    import io

    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=allow_pickle)
    return stream.getvalue()


def absurd_shape(parts):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    header += b" " * (117 - len(header)) + b"\n"
    parts["directions.npy"] = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


ARCHIVES = {
    "an absurd shape": absurd_shape,
    "objects": lambda p: p.update({"directions.npy": array_bytes(np.array([print]), True)}),
    "complex numbers": lambda p: p.update(
        {"directions.npy": array_bytes(np.ones((150, 2), complex))}
    ),
    "neighbours outside": lambda p: p.update(
        {"graph_lengths.indices.npy": array_bytes(np.full(10**4, 10**6, np.int32))}
    ),
    "rows that go back": lambda p: p.update(
        {"graph_lengths.indptr.npy": array_bytes(np.r_[0, 10**6, np.zeros(149, np.int32)])}
    ),
    "landmarks outside": lambda p: p.update({"landmarks.npy": array_bytes(np.full(40, 10**6))}),
    "no header": lambda p: p.update({"dualfold.json": b"{"}),
    "a list as header": lambda p: p.update({"dualfold.json": b"[]"}),
}


@functools.cache
def landmark_model():
    return model_of(dualfold.Isomap(n_neighbors=8, landmarks=40).fit(X))


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_that_are_no_models_are_refused(tmp_path, name):
    path = tmp_path / "m.dualfold"
    save_model(path, landmark_model())
    rewritten(path, ARCHIVES[name])
    with pytest.raises(InvalidInput):
        rechecked_model(load_model(path), X)


def test_an_archive_that_unpacks_to_far_too_much_is_refused(tmp_path):
    path = tmp_path / "m.dualfold"
    save_model(path, model_of(dualfold.PCA(2).fit(X)))
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("bomb.npy", "w", force_zip64=True) as entry,
    ):
        for _ in range(300):  # 300 MB of zeros in 0.3 MB
            entry.write(bytes(2**20))
    with pytest.raises(InvalidInput, match="unpacks to"):
        load_model(path)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_neighbors": 140},
        {"n_neighbors": 10**12},
        {"n_neighbors": "many"},
        {"n_components": 3},
        {"landmarks": None},
        {"metric": "manhattan"},
        {"no_such": 1},
        None,
    ],
)
def test_other_parameters_than_the_models_own_are_rejected(tmp_path, parameters):
    path = tmp_path / "m.dualfold"
    save_model(path, landmark_model())

    def change(parts):
        header = json.loads(parts["dualfold.json"])
        settings = header["problem"]
        kept = settings["parameters"]
        settings["parameters"] = None if parameters is None else kept | parameters
        parts["dualfold.json"] = json.dumps(header).encode()

    rewritten(path, change)
    assert not accepted(lambda: rechecked_model(load_model(path), X))


def test_one_point_of_many_is_not_moved_unseen():
    """Its share of the trace is below any tolerance; its own row of the problem tells.

    The forger makes the columns orthonormal again and states the values that they then have.
    """
    rng = np.random.default_rng(0)
    graph = dualfold.graph.join_pieces(dualfold.graph.knn(rng.normal(size=(1200, 3)), 8))
    problem = dualfold.methods.isomap(graph)
    answer = dualfold.embed(problem)
    assert accepted(lambda: certify_points(problem, answer.points, answer.values))
    V = answer.solution.vectors.copy()
    V[77, 1] += 1e-3 * np.ptp(V[:, 1])
    V = np.linalg.qr(V[:, ::-1])[0][:, ::-1]
    values = np.diagonal(V.T @ (problem.A.astype(float) @ V))
    assert dualfold.certify(problem, V, values).level == "proved"  # its trace is as good
    assert not accepted(lambda: certify_points(problem, problem.lift(V, values), values))
