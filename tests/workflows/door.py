"""Names inside rooms that tests across rooms need: words of commands, counts of work."""

from __future__ import annotations

from dualfold.cli.terminal import Stage, duration
from dualfold.cli.wording import command_text
from dualfold.data.reading import PLAIN_READING
from dualfold.data.table_writer import write_table
from dualfold.exploration.verdict_words import short_verdict, verdict
from dualfold.graph.pieces import one_piece
from dualfold.kernels import reports, threads
from dualfold.kernels.arithmetic import intervals
from dualfold.kernels.reports import (
    Report,
    count_work,
    descent,
    digits_share,
    long_call,
    reporting_to,
    steps,
    tally,
)
from dualfold.kernels.threads import one_blas_thread
from dualfold.methods.fitting.piecewise_certificate import PiecewiseCertificate
from dualfold.methods.maps.out_of_sample import map_from_parts, parts_of
from dualfold.quality.estimate import Estimate
from dualfold.quality.picture import MEASURE_MEANINGS
from dualfold.theory.games import certificate as game_certificate
from dualfold.theory.games import divergences, textbook_methods
from dualfold.theory.games.minimum_search import LeastPoint
from dualfold.trace.proof import rounding
from dualfold.trace.solvers import auto
from dualfold.trace.solvers.auto import Pace
from dualfold.trace.solvers.solver import Solver
from dualfold.trace.solvers.subspace import Progress
from dualfold.trace.sparse.factorisation import factorise
from dualfold.trace.sparse.shifted_matrices import shifted_matrices
from dualfold.unfolding.certificate import NEARLY_EQUAL_TOLERANCE
