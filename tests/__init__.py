"""Tests, in the folders of what they are about: those of `src/dualfold`, and some more.

* a room (`trace`, `graph`, `methods`, …): one file a promise of that room
* `workflows`: what crosses rooms, and what holds for the whole package (documents, counts)
* `robustness`: damaged and forged inputs, threads at once, what no map may depend on
* `papers`: the experiments of `papers/` and the checks of docs/errata.md
* `proofs`: judges in exact arithmetic, fuzzers, closed forms; scripts and helpers
* `tools`: mutation testing, recorded kernel calls, windows of browsers, forked programs
* `results`: what the longer tools found last

Helpers are imported by their full path (`from tests.proofs.judge import …`) and scripts run as
modules from the root of the project (`python -m tests.proofs.fuzz_trace --help`).
"""
