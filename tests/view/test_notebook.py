"""What a notebook shows: verdicts, tables, figures and the page; warnings once for a search."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import dualfold
from dualfold import view
from dualfold.data import swiss_roll
from dualfold.errors import InvalidInput, PiecesJoined


@pytest.fixture(scope="module")
def roll():
    return swiss_roll(200, random_state=0)


@pytest.fixture(scope="module")
def model(roll):
    return dualfold.Isomap(n_neighbors=10).fit(roll.points)


def shown_things(roll, model):
    embedding = dualfold.embed(dualfold.methods.pca(roll.points))
    return {
        "certificate": model.certificate_,
        "quality": dualfold.quality.report(roll.points, model.embedding_),
        "embedding": embedding,
        "recommendation": dualfold.recommend(roll.points, methods=("pca", "isomap")),
        "audit": dualfold.audit(roll.points, model.embedding_),
    }


def test_everything_that_is_printed_shows_itself_in_a_notebook(roll, model):
    for name, thing in shown_things(roll, model).items():
        page = thing._repr_html_()
        assert page.count("<div") == page.count("</div>") == 1, name
        assert "<script" not in page
        verdict = str(getattr(thing, "verdict", getattr(thing, "certificate", thing)))
        assert verdict.split(".")[0].split("'")[0][:40] in page, name
        assert len(repr(thing)) < 300, name
        assert "\n" not in repr(thing), name


def test_every_certificate_has_a_short_repr():
    def below(kind):
        return [kind, *(deeper for sub in kind.__subclasses__() for deeper in below(sub))]

    import dualfold.games
    import dualfold.methods.points.neighbor_map
    import dualfold.methods.points.tsne
    import dualfold.point_pca
    import dualfold.programs
    import dualfold.unfolding

    kinds = below(dualfold.Certificate)
    assert len(kinds) > 4
    assert all(kind.__repr__ is dualfold.Certificate.__repr__ for kind in kinds)


def test_words_in_a_table_are_no_markup():
    from dataclasses import replace

    failed = dualfold.PCA(1).fit(np.eye(3)).certificate_.with_doubts("<script>alert(1)</script>")
    assert "<script" not in replace(failed, about="<b>")._repr_html_()


def test_a_figure_is_a_picture_with_or_without_pyplot(roll, model):
    figure = model.plot(color=roll.color, color_name="along", title="roll")
    assert figure._repr_png_()[:4] == b"\x89PNG"
    assert len(figure.axes[0].collections) >= 1
    assert figure.axes[0].collections[0].get_offsets().shape[0] <= 200
    assert pickle.loads(pickle.dumps(figure)).axes


def test_an_audit_is_drawn_and_explored(roll, model):
    found = dualfold.audit(roll.points, model.embedding_)
    assert found.plot(title="roll")._repr_png_()[:4] == b"\x89PNG"
    assert "Are its groups real?" in view.page(found, roll.points)._repr_html_()
    with pytest.raises(InvalidInput, match="the data that the audit was asked about"):
        view.page(found)


def test_an_audit_takes_the_tables_that_estimators_take(roll, model):
    wanted = dualfold.audit(roll.points, model.embedding_).reliability.scores
    anndata = pytest.importorskip("anndata")
    given = anndata.AnnData(roll.points)
    np.testing.assert_array_equal(
        dualfold.audit(given, model.embedding_).reliability.scores, wanted
    )
    report = dualfold.quality.report(given, model.embedding_)
    assert report.picture.n == len(roll.points)


def test_models_without_points_of_their_own_draw_rows(roll):
    pca = dualfold.PCA(2).fit(roll.points)
    with pytest.raises(InvalidInput, match="plot\\(X\\)"):
        pca.plot()
    assert pca.plot(roll.points, color=roll.color).axes
    spectral = dualfold.SpectralEmbedding(2).fit(roll.points)
    assert spectral.plot().axes
    with pytest.raises(InvalidInput, match="no new rows"):
        spectral.plot(roll.points)
    embedding = dualfold.embed(dualfold.methods.pca(roll.points))
    assert embedding.plot(color=roll.color).axes


def test_a_page_is_shown_and_saved(roll, model, tmp_path):
    columns = {"along": roll.color, 'a "quoted" <name>': roll.color}
    shown = view.page([model, roll.points[:, :2]], roll.points, columns=columns)
    frame = shown._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert frame.count('"') == 6  # of three attributes: nothing inside ends the first
    shown.write(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "Isomap" in text
    assert "map 2" in text
    with pytest.raises(InvalidInput, match="keeps no points"):
        view.page(dualfold.PCA(2).fit(roll.points))


def searched(cv: int) -> int:
    """How many warnings of joined pieces a search over folds and numbers gives."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], 40)
    X = rng.standard_normal((120, 3)) + 20 * np.eye(3)[kinds]
    steps = make_pipeline(dualfold.Isomap(), KNeighborsClassifier(3))
    search = GridSearchCV(steps, {"isomap__n_neighbors": [4, 5, 6, 7]}, cv=cv)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        search.fit(X, kinds)
    return sum(issubclass(one.category, PiecesJoined) for one in said)


def test_a_search_warns_once_and_not_once_a_fold():
    assert searched(3) == 1
    assert searched(3) == 1  # the next search says it again


def test_fits_beside_each_other_warn_each():
    X = np.vstack([np.zeros((20, 2)), np.full((20, 2), 9.0)]) + np.random.default_rng(0).normal(
        size=(40, 2)
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        dualfold.Isomap(n_neighbors=4).fit(X)
        dualfold.Isomap(n_neighbors=4).fit(X)
    assert len(said) == 2


CELLS = [
    "import dualfold, numpy as np\n"
    "from dualfold.data import swiss_roll\n"
    "roll = swiss_roll(150, random_state=0)\n"
    "model = dualfold.Isomap(n_neighbors=10).fit(roll.points)",
    "model.certificate_",
    "model.plot(color=roll.color)",
    "dualfold.quality.report(roll.points, model.embedding_)",
    "dualfold.view.page(model, roll.points, columns={'along': roll.color})",
]


@pytest.mark.full  # a kernel of its own; `.ci/run` starts it
def test_a_notebook_shows_all_of_it():
    nbclient = pytest.importorskip("nbclient", reason="runs a notebook: pip install nbclient")
    pytest.importorskip("ipykernel", reason="runs a notebook: pip install ipykernel")
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0] == []
    kinds = [next(iter(out)).data.keys() for out in outputs[1:]]
    assert "text/html" in kinds[0]
    assert "image/png" in kinds[1]
    assert "text/html" in kinds[2]
    assert "text/html" in kinds[3]
    assert all(len(out) == 1 for out in outputs[1:])  # each once, and nothing on stderr


def test_a_page_of_models_needs_their_data_alone_where_they_keep_no_points():
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = dualfold.PCA(n_components=2).fit(X)
    with pytest.raises(InvalidInput, match="PCA keeps no points of its own"):
        view.page(model)
    by_model, by_map = view.page(model, X), view.page(view.Map("mine", X[:, :2]))
    assert "PCA" in by_model.html
    assert "mine" in by_map.html
