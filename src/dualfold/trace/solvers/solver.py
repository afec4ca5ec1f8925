"""The base class of solvers: frozen settings, `attempt` and `solve`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from dualfold.errors import Argument, Message, NotConverged
from dualfold.kernels.threads import lapack_threads
from dualfold.trace.equivalent_problems import rescaled_problem
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution


class Solver(ABC):
    """Settings of an algorithm for trace problems: the base class of all solvers.

    A solver knows nothing of methods, and nothing that it returns is proved.

    See Also
    --------
    Auto : Chooses a solver.
    dualfold.embed : Takes a solver.

    Examples
    --------
    >>> from dualfold.trace.solvers import Auto
    >>> from dualfold.trace.solvers.solver import Solver
    >>> isinstance(Auto(), Solver)
    True
    """

    @abstractmethod
    def attempt(self, problem: TraceProblem) -> Solution:
        """Compute the best solution that the algorithm finds.

        Parameters
        ----------
        problem : TraceProblem
            The problem.

        Returns
        -------
        Solution
            The solution; read its `status` before using it.
        """

    def solve(self, problem: TraceProblem) -> Solution:
        """Solve a problem to the tolerance.

        Parameters
        ----------
        problem : TraceProblem
            The problem.

        Returns
        -------
        Solution
            The converged solution.

        Raises
        ------
        NotConverged
            If the iteration stops before its tolerance; the error holds the attempt.
        """
        scaled, power = rescaled_problem(problem)  # LAPACK would rescale too, but with rounding
        with lapack_threads(problem.n):
            solution = self.attempt(scaled)
        if power:
            solution = replace(solution, values=np.ldexp(solution.values, power))
        if solution.status != "converged":
            story = f" ({'; '.join(solution.story)})" if solution.story else ""
            raise NotConverged(
                f"{solution.solver} stopped after {solution.products} products with A before "
                f"reaching its tolerance{story}; ",
                self.remedy(),
                solution=solution,
            )
        return solution

    def remedy(self) -> Message:
        """Advice to a user whose solver did not converge.

        Returns
        -------
        Message
            The advice.
        """
        return Message(
            "raise ",
            Argument("most_products"),
            ", loosen ",
            Argument("tol"),
            ", or use Auto(), which picks another solver",
        )
