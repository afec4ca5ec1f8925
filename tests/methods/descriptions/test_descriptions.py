"""What is known about a method is stated once: everything else follows from its description."""

import inspect
from pathlib import Path
from runpy import run_path

import pytest
from sklearn.base import BaseEstimator

import dualfold
from dualfold.methods.descriptions import (
    DESCRIPTIONS,
    ESTIMATOR_MODULES,
    FUNCTION_MODULES,
    description_of,
)

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_what_a_description_names_is_there(name):
    row = DESCRIPTIONS[name]
    estimator = row.estimator_class()
    assert getattr(dualfold, row.class_name) is row.estimator_class()
    assert getattr(dualfold, row.class_name) is estimator
    parameters = inspect.signature(estimator).parameters
    for named in (*row.options, *row.defaults, *row.fixed):
        assert named in parameters, named
        assert named in estimator._parameter_constraints, named
    assert not set(row.fixed) & set(row.options)
    # Estimators that need a graph take one that was made before; t-SNE may have one.
    assert (row.needs_graph or name == "tsne") == ("graph" in parameters)
    estimator(**row.estimator_parameters({}))._validate_params()


def test_every_public_estimator_has_a_description():
    public = {name for name in dualfold.__all__ if inspect.isclass(getattr(dualfold, name))}
    found = {name for name in public if issubclass(getattr(dualfold, name), BaseEstimator)}
    assert found == set(ESTIMATOR_MODULES)


def test_every_function_of_the_methods_has_one():
    assert set(dualfold.methods.__all__) == set(FUNCTION_MODULES)
    for name in FUNCTION_MODULES:
        assert inspect.isfunction(getattr(dualfold.methods, name))
    folder = Path(dualfold.methods.__file__).parent
    files = {path.stem.removeprefix("_") for path in folder.glob("_[a-z]*.py")}
    assert files == set(FUNCTION_MODULES.values()) | set(ESTIMATOR_MODULES.values())


def test_every_function_that_states_a_problem_is_in_the_table_of_problems():
    table = (ROOT / "docs" / "dev" / "problems.md").read_text()
    helpers = {"landmark_count", "johnson_lindenstrauss_size"}
    missing = [
        name for name in FUNCTION_MODULES if f"`{name}`" not in table and name not in helpers
    ]
    assert not missing


def test_what_is_written_from_the_descriptions_is_up_to_date():
    written = run_path(str(ROOT / "docs" / "generated.py"))["files"]()
    assert len(written) >= 3
    for path, text in written.items():
        assert path.read_text() == text, f"python docs/generated.py writes {path.name}"


def test_a_method_by_the_name_that_people_write():
    assert description_of("t-SNE") is description_of("tsne")
    assert description_of("PCA") is description_of("pca")
