"""A pytest plugin: scikit-learn's own tests, with some of its names replaced by ours.

Loaded by `-p tests.tools.scikit_learn_with_ours` in a process of its own. The environment says what
to do: DUALFOLD_REPLACES holds "package:Name=package:Name" entries, separated by
blanks; DUALFOLD_OUTCOMES the file that receives {module: {test: "passed" | "failed" | "skipped"}}.
Packages are changed before test modules are collected, so `from sklearn.x import Name`
in them finds ours.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

_outcomes: dict[str, dict[str, str]] = {}


def pytest_configure(config: Any) -> None:
    for entry in os.environ["DUALFOLD_REPLACES"].split():
        theirs, ours = entry.split("=")
        package, name = theirs.split(":")
        our_package, our_name = ours.split(":")
        setattr(import_module(package), name, getattr(import_module(our_package), our_name))


def pytest_collection_finish(session: Any) -> None:
    # scikit-learn's conftest asks for all cores; on a busy machine the threads of BLAS then
    # wait for one another, and matrices of some hundred rows take a hundred times as long.
    threadpool_limits(1)


def pytest_runtest_logreport(report: Any) -> None:
    name = report.nodeid.split("::", 1)[1]
    found = _outcomes.setdefault(Path(report.location[0]).stem, {})  # no path is in nodeid
    if report.failed or found.get(name) == "failed":
        found[name] = "failed"
    elif report.skipped:
        found[name] = "skipped"
    elif report.when == "call":
        found[name] = "passed"


def pytest_sessionfinish(session: Any) -> None:
    Path(os.environ["DUALFOLD_OUTCOMES"]).write_text(json.dumps(_outcomes))
