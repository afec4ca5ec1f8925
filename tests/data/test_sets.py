"""The loaders against tiny files whose content is known."""

import gzip
import io
import struct
import subprocess
import sys

import numpy as np
import pytest

from dualfold.data import digits, mnist
from dualfold.errors import DataUnavailable, InvalidInput


@pytest.fixture
def images():
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (12, 784), dtype=np.uint8), np.arange(12) % 10


@pytest.fixture(autouse=True)
def _own_places(monkeypatch, tmp_path):
    monkeypatch.delenv("DUALFOLD_MNIST", raising=False)
    monkeypatch.setenv("DUALFOLD_CACHE", str(tmp_path / "cache"))


def idx_bytes(array):
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


def write_idx(folder, part, points, labels, *, packed=False, dot="-"):
    pack, ending = (gzip.compress, ".gz") if packed else (bytes, "")
    image_file = folder / f"{part}-images{dot}idx3-ubyte{ending}"
    image_file.write_bytes(pack(idx_bytes(points.reshape(-1, 28, 28))))
    (folder / f"{part}-labels{dot}idx1-ubyte{ending}").write_bytes(pack(idx_bytes(labels)))
    return image_file


def no_network(*_, **__):
    raise OSError("no route to host")


def test_digits_are_those_of_scikit_learn():
    from sklearn.datasets import load_digits

    ours, theirs = digits(), load_digits()
    np.testing.assert_array_equal(ours.points, theirs.data)
    np.testing.assert_array_equal(ours.labels, theirs.target)
    assert len(ours.names) == 64
    assert ours.names[9] == "pixel_1_1"


def test_npz(monkeypatch, tmp_path, images):
    np.savez(tmp_path / "m.npz", X=images[0], y=images[1].astype(str))
    monkeypatch.setenv("DUALFOLD_MNIST", str(tmp_path / "m.npz"))
    found = mnist()
    np.testing.assert_array_equal(found.points, images[0])
    np.testing.assert_array_equal(found.labels, images[1])
    assert found.points.dtype == np.uint8
    assert found.labels.dtype == np.int64


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dot", ["-", "."])
def test_an_idx_file_finds_its_labels(monkeypatch, tmp_path, images, packed, dot):
    path = write_idx(tmp_path, "train", *images, packed=packed, dot=dot)
    monkeypatch.setenv("DUALFOLD_MNIST", str(path))
    found = mnist()
    np.testing.assert_array_equal(found.points, images[0])
    np.testing.assert_array_equal(found.labels, images[1])


def test_a_folder_holds_the_training_images_first(monkeypatch, tmp_path, images):
    points, labels = images
    write_idx(tmp_path, "t10k", points[8:], labels[8:], packed=True)
    write_idx(tmp_path, "train", points[:8], labels[:8])
    write_idx(tmp_path, "train", points[:8], labels[:8], packed=True)  # counts once
    monkeypatch.setenv("DUALFOLD_MNIST", str(tmp_path))
    found = mnist()
    np.testing.assert_array_equal(found.points, points)
    np.testing.assert_array_equal(found.labels, labels)


def test_samples(monkeypatch, tmp_path, images):
    np.savez(tmp_path / "m.npz", X=images[0], y=images[1])
    monkeypatch.setenv("DUALFOLD_MNIST", str(tmp_path / "m.npz"))
    np.testing.assert_array_equal(mnist(5).points, images[0][:5])
    drawn, again = mnist(8, random_state=1), mnist(8, random_state=1)
    np.testing.assert_array_equal(drawn.rows, again.rows)
    assert len(set(drawn.rows)) == 8
    assert not np.array_equal(drawn.rows, np.arange(8))
    np.testing.assert_array_equal(drawn.points, images[0][drawn.rows])
    np.testing.assert_array_equal(drawn.labels, images[1][drawn.rows])
    with pytest.raises(InvalidInput, match="between 1 and 12"):
        mnist(13)


def test_a_download_is_cached_once(monkeypatch, tmp_path, images):
    import sklearn.datasets
    from sklearn.utils import Bunch

    def download(name, **_):
        assert name == "mnist_784"
        return Bunch(data=images[0].astype(float), target=images[1].astype(str))

    monkeypatch.setattr("socket.create_connection", lambda *_, **__: io.BytesIO())
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", download)
    np.testing.assert_array_equal(mnist().points, images[0])
    assert [file.name for file in (tmp_path / "cache").iterdir()] == ["mnist.npz"]
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", no_network)
    again = mnist()
    np.testing.assert_array_equal(again.points, images[0])
    np.testing.assert_array_equal(again.labels, images[1])
    assert again.points.dtype == np.uint8


def test_offline_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr("urllib.request.getproxies", dict)
    monkeypatch.setattr("socket.create_connection", no_network)
    with pytest.raises(DataUnavailable, match="set DUALFOLD_MNIST to") as caught:
        mnist()
    assert "no route to host" in str(caught.value)
    assert not (tmp_path / "cache").exists()


def test_the_cache_follows_the_xdg_folder(monkeypatch, tmp_path, images):
    monkeypatch.delenv("DUALFOLD_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    (tmp_path / "xdg" / "dualfold").mkdir(parents=True)
    np.savez(tmp_path / "xdg" / "dualfold" / "mnist.npz", X=images[0], y=images[1])
    np.testing.assert_array_equal(mnist().points, images[0])


def broken_files(folder, points, labels):
    np.savez(folder / "names.npz", a=points)
    np.savez(folder / "short.npz", X=points, y=labels[:3])
    np.savez(folder / "scaled.npz", X=points / 255, y=labels)
    (folder / "torn.npz").write_bytes((folder / "short.npz").read_bytes()[:500])
    write_idx(folder, "lonely", points, labels)
    (folder / "lonely-labels-idx1-ubyte").unlink()
    write_idx(folder, "cut", points, labels)
    (folder / "cut-images-idx3-ubyte").write_bytes(idx_bytes(points.reshape(-1, 28, 28))[:-1])
    write_idx(folder, "pair", points, labels[:5])
    (folder / "text-images").write_bytes(b"hello")
    (folder / "text-labels").write_bytes(b"hello")
    (folder / "empty").mkdir()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing.npz", "does not exist"),
        ("names.npz", "arrays X and y"),
        ("short.npz", "3 labels"),
        ("scaled.npz", "0 to 255"),
        ("torn.npz", "not a readable"),
        ("lonely-images-idx3-ubyte", "expected beside it"),
        ("cut-images-idx3-ubyte", "12 × 28 × 28 bytes, but holds 9407"),
        ("pair-images-idx3-ubyte", "not a pair"),
        ("text-images", "IDX file of unsigned bytes"),
        ("empty", "train-images"),
    ],
)
def test_broken_files_are_explained(monkeypatch, tmp_path, images, name, words):
    broken_files(tmp_path, *images)
    monkeypatch.setenv("DUALFOLD_MNIST", str(tmp_path / name))
    with pytest.raises(InvalidInput, match=words):
        mnist()


def test_the_room_is_light():
    code = (
        "import sys, dualfold.data; "
        "heavy = {'pandas', 'sklearn', 'pyarrow', 'scipy.io'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_images_in_a_folder_by_either_name(here, monkeypatch):
    images, labels = np.arange(2 * 784).reshape(2, 784) % 255, np.array([3, 5])
    (here / "m").mkdir()
    monkeypatch.setenv("DUALFOLD_MNIST", "m")
    with pytest.raises(InvalidInput, match="has none of them"):
        mnist()
    np.savez("m/mnist.npz", X=images.astype(np.uint8), y=labels)
    np.testing.assert_array_equal(mnist().points, images)
    (here / "other.idx").write_bytes(b"")
    monkeypatch.setenv("DUALFOLD_MNIST", "other.idx")
    with pytest.raises(InvalidInput, match="with 'images' in its name"):
        mnist()
