"""Errors and warnings as data: the argument they name, in Python and on the command line."""

import ast
import inspect
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import dualfold
from dualfold import errors, methods, quality
from dualfold.data import Reading, read_table
from dualfold.errors import (
    Argument,
    DualfoldError,
    DualfoldWarning,
    InPython,
    InvalidInput,
    Message,
    RowNumbers,
)
from dualfold.graph import join_pieces, knn, nearest
from dualfold.trace.solvers import Lanczos
from tests.tools.tables import roll_points
from tests.workflows.door import command_text, one_piece, write_table

X = roll_points(40, random_state=0)
TWO = np.vstack([X, X + 1000])


def table(text, tmp_path, **options):
    (tmp_path / "t.csv").write_text(text)
    return read_table(tmp_path / "t.csv", Reading(**options))


# What goes wrong, the argument to change, and the command that meets it (None: none does).
WRONG = {
    "n_neighbors": (lambda _: knn(X, 99), "--n-neighbors 99"),
    "n_neighbors of an estimator": (
        lambda _: dualfold.Isomap(n_neighbors=99).fit(X),
        "--n-neighbors",
    ),
    "n_components": (lambda _: dualfold.Isomap(n_components=50).fit(X), "--n-components"),
    "n_components of a problem": (lambda _: methods.pca(X, n_components=9), "--n-components"),
    "n_components of LTSA": (
        lambda _: methods.ltsa(knn(X, 2), n_components=2),
        "--n-components 2",
    ),
    "pieces refused": (lambda _: one_piece(knn(TWO, 5)), "--n-neighbors 5"),
    "pieces joined": (lambda _: join_pieces(knn(TWO, 5)), "--n-neighbors 5"),
    "pieces of an estimator": (
        lambda _: dualfold.LaplacianEigenmaps(n_neighbors=5, pieces="raise").fit(TWO),
        "--pieces join",
    ),
    "metric": (lambda _: nearest(X, 3, metric="nonsense"), None),
    "X": (lambda _: knn(np.where(X > 10, np.nan, X), 5), "FILE"),
    "X too large": (lambda _: knn(np.hstack([X * 1e200, X * 1e-200]), 5), "FILE"),
    "missing": (lambda p: table("a,b\n1,\n2,3\n4,5\n", p), "--missing drop"),
    "missing drops all": (
        lambda p: table("a,b\n1,\n,3\n", p, missing="drop"),
        "--exclude a",
    ),
    "missing of nothing": (
        lambda p: table("a,b\n1,inf\n2,inf\n", p, missing="mean"),
        "--exclude b",
    ),
    "keep": (lambda p: table("a,b\n1.5,2\n2.5,3\n", p, keep="c"), "--keep c"),
    "exclude": (lambda p: table("a,b\n1.5,2\n2.5,3\n", p, exclude="c"), "--exclude c"),
    "format": (lambda p: read_table(_written(p / "book.ods")), "--format csv"),
    "thousands": (
        lambda p: table('a,b\n"1,000",x\n"2,000",y\n', p, plain=True),
        "--thousands ,",
    ),
    "overwrite": (lambda p: write_table(_written(p / "t.csv"), {"a": [1.0]}), "--force"),
    "tolerance": (lambda _: dualfold.certificate.checked_tolerance(5.0), None),
    "n_neighbors of a measure": (
        lambda _: quality.report(X, X[:, :2], n_neighbors=30),
        "--n-neighbors",
    ),
    "width": (lambda _: methods.eigenmaps(knn(X, 5), width=1e-4), None),
    "eps": (
        lambda _: dualfold.RandomProjection(n_components="auto", eps=0.5).fit(X),
        "--n-components",
    ),
    "tol": (
        lambda _: Lanczos(most_products=3).solve(methods.eigenmaps(knn(X, 5))),
        None,
    ),
    "groups of neighbours": (
        lambda _: methods.lle(join_pieces(knn(TWO, 3)), n_components=2),
        "--n-neighbors",
    ),
}


def _written(path: Path) -> Path:
    path.write_text("something")
    return path


def raised(case, folder):
    """The error or the warning of a wrong call."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DualfoldWarning)
        with pytest.raises((DualfoldError, DualfoldWarning)) as caught:
            WRONG[case][0](folder)
    return caught.value


@pytest.mark.parametrize("case", WRONG)
def test_an_error_is_shown_as_python_and_as_options(case, tmp_path):
    error = raised(case, tmp_path)
    named = [part for part in error.message.parts if isinstance(part, Argument)]
    assert error.argument == named[0].name
    assert str(error) == "".join(error.message.parts)
    option, here = WRONG[case][1], command_text(error.message)
    if option is not None:
        assert option in here
    for part in named:
        assert part in str(error)
        if re.search(r"[_=]", part):  # no name of Python stays
            assert not re.search(rf"(?<![\w-]){re.escape(part)}", here)
    assert "Python" not in here
    assert "dualfold." not in here


@pytest.mark.parametrize("case", WRONG)
def test_errors_survive_pickling(case, tmp_path):
    error = raised(case, tmp_path)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.message.parts == error.message.parts
    assert again.argument == error.argument


def classes():
    found = [one for _, one in inspect.getmembers(errors, inspect.isclass)]
    return [one for one in found if issubclass(one, DualfoldError | DualfoldWarning)]


@pytest.mark.parametrize("kind", classes())
def test_every_error_holds_a_message(kind):
    error = kind("lower ", Argument("n_components", np.int64(3)), ", or not")
    assert str(error) == "lower n_components=3, or not"
    assert error.argument == "n_components"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.argument) == (kind, str(error), "n_components")
    assert kind("nothing to change").argument is None


def test_errors_print_their_message_and_carry_data():
    error = errors.NotConverged("stopped", solution=np.zeros(1000))
    assert str(error) == "stopped"
    assert len(pickle.loads(pickle.dumps(error)).solution) == 1000


def test_messages_hold_messages():
    inner = Message("use ", Argument("missing", "drop"))
    outer = Message("3 rows; ", inner, InPython(" (or dropna)"), "; or ", Argument("keep", ["a b"]))
    assert outer == "3 rows; use missing='drop' (or dropna); or keep=['a b']"
    assert outer.arguments == ("missing", "keep")
    assert (
        outer.text_for(lambda argument: f"<{argument.name}>") == "3 rows; use <missing>; or <keep>"
    )
    assert pickle.loads(pickle.dumps(outer)).parts == outer.parts


@pytest.mark.parametrize(
    ("argument", "command", "option"),
    [
        (Argument("n_neighbors"), "embed", "--n-neighbors"),
        (Argument("identifier", "a b"), "embed", "--id 'a b'"),
        (Argument("exclude", ["a", "b"]), "embed", "--exclude a --exclude b"),
        (Argument("standardize", True), "embed", "--standardize"),
        (Argument("overwrite", True), "embed", "--force"),
        (Argument("pieces", "join"), "compare", "--pieces join"),
        (Argument("X"), "embed", "FILE"),
        (Argument("X"), "transform", "NEW_FILE"),
        (Argument("Y"), "report", "EMBEDDING"),
        (Argument("rows", 3), "embed", "rows 3"),
        (Argument("method", "auto"), "embed", "--method auto"),
        (Argument("n_components", 2), "certify", "--n-components 2 (of `dualfold embed`)"),
        (Argument("label_columns", ["y"]), "certify", "--color y (of `dualfold embed`)"),
    ],
)
def test_an_argument_is_the_option_of_the_command(argument, command, option):
    assert command_text(Message(argument), command) == option


def spoken(call):
    """The texts in a call that makes a message; not those of InPython or Argument."""
    for part in call.args:
        for node in ast.walk(part):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_no_message_spells_an_argument_as_text():
    """n_neighbors=6 in plain text would be shown to those who type --n-neighbors 6."""
    makers = {one.__name__ for one in classes()} | {"Message"}
    found = []
    for path in Path(dualfold.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) not in makers:
                continue
            node.args = [part for part in node.args if not isinstance(part, ast.Call)]
            found += [
                (path.name, node.lineno, name)
                for text in spoken(node)
                # Calls as knn(X, metric='cosine') are Python and meant to be.
                for name in re.findall(
                    r"(?<![\w(.])([a-z]\w*)=(?=\S|$)", re.sub(r"\(.*?\)", "", text)
                )
                if name != "min"  # min(n_samples, n_features)=5, as scikit-learn writes it
            ]
    assert not found


def test_rows_are_counted_from_1_on_the_command_line():
    """Python counts from 0, and says so; whoever looks at a file counts from 1."""
    hole = X.copy()
    hole[3, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"row 3 \(counted from 0\) holds NaN") as caught:
        knn(hole, 5)
    assert "row 4 holds NaN" in command_text(caught.value.message)
    several = Message("here: ", RowNumbers(*range(8)))
    assert several == "here: rows 0, 1, 2, 3, 4 … (counted from 0)"
    assert command_text(several) == "here: rows 1, 2, 3, 4, 5 …"
    assert command_text(pickle.loads(pickle.dumps(several))) == command_text(several)
