"""Algorithms: one per file, one shared driver, answers as `Solution` objects.

A solver takes a `Task` (an objective on rows) and `Options` (when to stop) and returns `Solution(value, status,
stats)`; it prints nothing and modifies nothing. `STATUS` lists the reasons to stop.
"""

from certifit._trace import Trace, TraceRow
from certifit.solvers._driver import drive
from certifit.solvers._solution import Solution
from certifit.solvers._status import STATUS
from certifit.solvers._task import Options, Task
from certifit.solvers.check_gradient import GradientCheck, check_gradient
from certifit.solvers.coordinate import solve_coordinate
from certifit.solvers.gradient_descent import gradient_descent
from certifit.solvers.least_squares import solve_least_squares

__all__ = [
    "GradientCheck",
    "STATUS",
    "Options",
    "Solution",
    "Task",
    "Trace",
    "TraceRow",
    "check_gradient",
    "drive",
    "gradient_descent",
    "solve_coordinate",
    "solve_least_squares",
]
