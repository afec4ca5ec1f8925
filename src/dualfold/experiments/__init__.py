"""The papers' tables and figures, made again: the paper's number, ours, the difference.

    from dualfold import experiments
    setting = experiments.Setting("quick")
    for done in experiments.run(experiments.chosen(["tucker"]), setting):
        print(done.finding.sentence)

`dualfold reproduce` runs all of them and writes one report.
"""

from dualfold.experiments.catalogue import chosen, experiments, run
from dualfold.experiments.finding import PAPERS, Done, Experiment, Finding, Paper, Row, Setting
from dualfold.experiments.report import html_report, markdown_report

__all__ = [
    "PAPERS",
    "Done",
    "Experiment",
    "Finding",
    "Paper",
    "Row",
    "Setting",
    "chosen",
    "experiments",
    "html_report",
    "markdown_report",
    "run",
]
