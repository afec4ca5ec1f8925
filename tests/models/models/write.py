"""Writes these files: maps and models of small tables, with what the version that wrote them said.

Run once in an empty folder by the version whose files later ones must read.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import dualfold
from dualfold.cli import app
from dualfold.data import swiss_roll
from dualfold.models import load_model, model_of, save_model

X = swiss_roll(60, random_state=0).points.round(6)
NEW = swiss_roll(5, random_state=1).points.round(6)
APART = np.vstack([X[:35], X[:25] + 500]).round(6)

METHODS = (
    "pca", "mds", "isomap", "eigenmaps", "lle", "ltsa", "lpp", "npp", "mvu", "modified_lle",
    "hessian_lle", "orthogonal_lpp", "orthogonal_npp",
)  # fmt: skip
COMMANDS = {name: ["roll.csv", "-m", name] for name in METHODS}
COMMANDS["mvu"] += ["-k", "5"]
COMMANDS |= {
    "pca-standardized": ["roll.csv", "--standardize", "-d", "3"],
    "isomap-1d": ["roll.csv", "-m", "isomap", "-k", "7", "-d", "1"],
    "eigenmaps-joined": ["apart.csv", "-m", "eigenmaps", "-k", "6"],
}
ESTIMATORS = {
    "PCA-whitened": lambda: dualfold.PCA(2, whiten=True, standardize=True),
    "PointPCA": lambda: dualfold.PointPCA(2, random_state=0),
    "RandomProjection": lambda: dualfold.RandomProjection(2, kind="orthogonal", random_state=0),
    "ClassicalMDS": lambda: dualfold.ClassicalMDS(2),
    "Isomap-landmarks": lambda: dualfold.Isomap(n_neighbors=8, landmarks=20),
    "Isomap-radius": lambda: dualfold.Isomap(n_neighbors=None, radius=9.0),
    "LaplacianEigenmaps-VALE": lambda: dualfold.LaplacianEigenmaps.named("VALE"),
    "LaplacianEigenmaps-diffusion": lambda: dualfold.LaplacianEigenmaps(diffusion_time=2.5),
    "LocallyLinearEmbedding-modified": lambda: dualfold.LocallyLinearEmbedding(
        n_neighbors=10, method="modified"
    ),
    "LocalityPreservingProjection": lambda: dualfold.LocalityPreservingProjection(2),
    "OrthogonalNPP": lambda: dualfold.OrthogonalNPP(2),
    "MaximumVarianceUnfolding-equal": lambda: dualfold.MaximumVarianceUnfolding(
        n_neighbors=4, constraints="equal"
    ),
}
SEPARATE = {
    "Isomap-separate": lambda: dualfold.Isomap(n_neighbors=6, pieces="separate"),
    "MaximumVarianceUnfolding-separate": lambda: dualfold.MaximumVarianceUnfolding(
        n_neighbors=4, pieces="separate"
    ),
}


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code in (0, 3), (words, done.output, done.exception)
    return done


def judged(table, path, *more):
    """What `certify` says: its exit code and the words of the certificate that are no numbers."""
    done = run("certify", table, path, "--json", "-q", *more)
    certificate = json.loads(done.stdout)["certificate"]
    return {"exit": done.exit_code, "level": certificate["level"], "gap": certificate["gap"]}


def main():
    for name, points in (("roll", X), ("apart", APART), ("new", NEW)):
        pd.DataFrame(points, columns=["x", "y", "z"]).to_csv(f"{name}.csv", index=False)
    expected = {"dualfold": dualfold.__version__, "maps": {}, "models": {}}
    for name, words in COMMANDS.items():
        run("embed", *words, "-o", f"{name}.map.csv", "--save-model", f"{name}.dualfold", "-q")
        both = ["--model", f"{name}.dualfold"] if name == "mvu" else []
        expected["maps"][name] = {"table": words[0]} | judged(words[0], f"{name}.map.csv", *both)
        expected["models"][name] = {"table": words[0]}
    for name, make in (ESTIMATORS | SEPARATE).items():
        table = "apart.csv" if name in SEPARATE else "roll.csv"
        rows = APART if name in SEPARATE else X
        save_model(f"{name}.dualfold", model_of(make().fit(rows)))
        expected["models"][name] = {"table": table}
    for name, facts in expected["models"].items():
        facts["points"] = load_model(f"{name}.dualfold").transform(NEW).tolist()
        if not name.startswith("RandomProjection"):  # it states no problem
            facts |= judged(facts["table"], f"{name}.dualfold")
    Path("expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
