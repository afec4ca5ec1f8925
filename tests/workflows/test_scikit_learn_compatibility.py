"""scikit-learn's own tests of its estimators, run on ours in their place.

Nothing of scikit-learn is copied: the installed test files run in a process of their
own with the plugin `tests.tools.scikit_learn_with_ours`. docs/compatibility.md shows the numbers
and gives the reason of every test that does not pass; here it is asserted that exactly those
do not. `python -m tests.workflows.test_scikit_learn_compatibility` prints the table of numbers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sklearn

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "compatibility.md"
# The share of tests (skipped ones aside) that must pass in each file.
LEAST_SHARE = 0.95
# The version whose tests the exceptions were written for; another one may have other tests.
VERSION = "1.9"


@dataclass(frozen=True)
class Suite:
    """A test module of scikit-learn, what is replaced in it and what then fails, and why."""

    module: str
    replaced: tuple[str, ...]
    failing: dict[str, str] = field(default_factory=dict)
    least_share: float = LEAST_SHARE

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return self.module.rpartition(".")[2]


WHITENED_MODEL = "whiten"
FLOAT32_COSINES = "cosines"
CLASSICAL_START = "init"
PRIVATE_CALL = "private"
LARGEST_MODULI = "moduli"
TABLES_STAY = "copy"
TRIVIAL_CORRELATIONS = "trivial"
SUITES = [
    Suite(
        "sklearn.decomposition.tests.test_pca",
        ("sklearn.decomposition:PCA=dualfold:PCA",),
        {
            f"test_pca_score[{solver}]": WHITENED_MODEL
            for solver in ("full", "covariance_eigh", "arpack", "randomized", "auto")
        },
    ),
    Suite(
        "sklearn.decomposition.tests.test_kernel_pca",
        ("sklearn.decomposition:KernelPCA=dualfold:KernelPCA",),
        {"test_precomputed_kernel_not_psd[randomized]": LARGEST_MODULI},
    ),
    Suite(
        "sklearn.decomposition.tests.test_truncated_svd",
        ("sklearn.decomposition:TruncatedSVD=dualfold:TruncatedSVD",),
    ),
    Suite(
        "sklearn.cross_decomposition.tests.test_pls",
        ("sklearn.cross_decomposition:CCA=dualfold:CCA",),
        {"test_copy[CCA]": TABLES_STAY}
        | {
            f"test_scale_and_stability[X{case}-y{case}-CCA]": TRIVIAL_CORRELATIONS
            for case in (2, 3, 4)
        },
        0.9,  # three of the four have tables of four rows, on which every correlation is 1
    ),
    Suite(
        "sklearn.manifold.tests.test_classical_mds",
        ("sklearn.manifold:ClassicalMDS=dualfold:ClassicalMDS",),
    ),
    Suite(
        "sklearn.manifold.tests.test_mds",
        ("sklearn.manifold._mds:MDS=dualfold:MDS",),
        {"test_future_warning_init_and_metric": CLASSICAL_START}
        | {f"test_returned_stress[{normalized}]": CLASSICAL_START for normalized in (True, False)}
        | {f"test_normalized_stress_auto[{metric}]": PRIVATE_CALL for metric in (True, False)},
        0.8,  # three are about another default, two about a private function being called
    ),
    Suite(
        "sklearn.manifold.tests.test_isomap",
        ("sklearn.manifold:Isomap=dualfold:Isomap",),
    ),
    Suite(
        "sklearn.manifold.tests.test_locally_linear",
        ("sklearn.manifold:LocallyLinearEmbedding=dualfold:LocallyLinearEmbedding",),
    ),
    Suite(
        "sklearn.manifold.tests.test_spectral_embedding",
        ("sklearn.manifold:SpectralEmbedding=dualfold:SpectralEmbedding",),
    ),
    Suite(
        "sklearn.manifold.tests.test_t_sne",
        ("sklearn.manifold:TSNE=dualfold:TSNE",),
        {
            f"test_tsne_with_different_distance_metrics[{method}-cosine-cosine_distances]": (
                FLOAT32_COSINES
            )
            for method in ("barnes_hut", "exact")
        },
    ),
]


def outcomes(*suites: Suite) -> dict[str, dict[str, str]]:
    """Module → {test: "passed" | "failed" | "skipped"}, with our names in place, by one process."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "outcomes.json"
        paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {
            "DUALFOLD_REPLACES": " ".join(name for suite in suites for name in suite.replaced),
            "DUALFOLD_OUTCOMES": str(results),
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        }
        plugins = ["-p", "tests.tools.scikit_learn_with_ours", "-p", "no:cacheprovider"]
        modules = [suite.module for suite in suites]
        command = [sys.executable, "-m", "pytest", *plugins, "-q", "--tb=no", "--pyargs", *modules]
        run = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
        assert results.exists(), run.stdout + run.stderr
        return dict(json.loads(results.read_text()))


def row(suite: Suite, found: dict[str, str]) -> str:
    """The line of docs/compatibility.md."""
    count = Counter(found.values())
    names = ", ".join(f"`{entry.split(':')[-1]}`" for entry in suite.replaced)
    ran = count["passed"] + count["failed"]
    return (
        f"| `{suite.module}` | {names} | {count['passed']} of {ran} "
        f"({count['passed'] / ran:.1%}) | {count['failed']} | {count['skipped']} |"
    )


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_scikit_learns_own_tests() -> None:
    if not sklearn.__version__.startswith(VERSION + "."):
        pytest.skip(f"written for the tests of scikit-learn {VERSION}, not {sklearn.__version__}")
    found = outcomes(*SUITES)
    document = DOCUMENT.read_text(encoding="utf-8")
    for suite in SUITES:
        judge(suite, found[suite.name], document)


def judge(suite: Suite, found: dict[str, str], document: str) -> None:
    """What fails is what the document gives a reason for."""
    failed = {name for name, outcome in found.items() if outcome == "failed"}
    passed = sum(outcome == "passed" for outcome in found.values())
    assert failed == set(suite.failing), suite.module
    assert passed >= suite.least_share * (passed + len(failed)), suite.module
    for test, reason in suite.failing.items():
        assert test.split("[")[0] in document, test
        assert f"<a id='{reason}'></a>" in document, reason
    assert f"`{suite.module}`" in document


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_replacement_is_seen() -> None:
    """A name that is replaced by something else makes their tests fail."""
    broken = Suite(
        "sklearn.manifold.tests.test_classical_mds",
        ("sklearn.manifold:ClassicalMDS=dualfold:RandomProjection",),
    )
    assert "failed" in outcomes(broken)[broken.name].values()


if __name__ == "__main__":
    print("| tests | ours | passed | not passed | skipped |\n|---|---|---|---|---|")
    everything = outcomes(*SUITES)
    for each in SUITES:
        print(row(each, everything[each.name]))
