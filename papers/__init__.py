"""The papers' tables, figures and claims, put to the test with this package.

    import papers
    setting = papers.Setting("quick")
    for done in papers.run(papers.chosen(["tucker"]), setting):
        print(done.finding.sentence)

`python -m papers all` runs all of them from a checkout and writes one report (docs/papers.md).
"""

from papers.catalogue import chosen, experiments, run
from papers.finding import PAPERS, Done, Experiment, Finding, Paper, Row, Setting
from papers.report import html_report, markdown_report

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
