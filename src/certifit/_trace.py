"""The record of a fit, one row an iteration: a small table that prints, plots and becomes a data frame.

Every trace begins with the same five columns and goes on with those of its algorithm:

- ``iteration``: number of the iteration, 0 for the start;
- ``objective``: the value that falls (or rises, where something is maximised);
- ``gap``: bound on the distance to the optimum, nan where there is none;
- ``step``: length of the step, or what the algorithm calls one;
- ``seconds``: since the start.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from certifit import _notebook
from certifit._types import Axes, Record
from certifit.exceptions import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation

COLUMNS = ("iteration", "objective", "gap", "step", "seconds")
_SHOWN = 20  # rows of a printed table; longer ones show their beginning and end


class TraceRow(tuple[Any, ...]):
    """One row of a `Trace`: a named tuple whose names are the columns (``row.gap`` or ``row["gap"]``).

    Parameters
    ----------
    iteration : int ≥ 0
    objective : float in (−∞, ∞]
        nan where the algorithm has none.
    gap, step, seconds : float ≥ 0
        nan where it is not known.
    **own
        The algorithm's own columns.

    Examples
    --------
    >>> row = TraceRow(3, 1.5, 0.25, 1.0, 0.01, row=7)
    >>> row.gap, row["row"], row.columns[-1]
    (0.25, 7, 'row')
    """

    columns: tuple[str, ...]

    def __new__(
        cls,
        iteration: int,
        objective: float = math.nan,
        gap: float = math.nan,
        step: float = math.nan,
        seconds: float = math.nan,
        **own: Any,
    ) -> TraceRow:
        self = super().__new__(cls, (iteration, objective, gap, step, seconds, *own.values()))
        self.columns = (*COLUMNS, *own)
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        return (), self._asdict()

    def __getattr__(self, name: str) -> Any:
        columns = self.__dict__.get("columns", ())
        if name not in columns:
            raise AttributeError(f"This trace has no column {name!r}; it has {', '.join(columns)}.")
        return tuple.__getitem__(self, columns.index(name))

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, key) if isinstance(key, str) else super().__getitem__(key)

    def _asdict(self) -> Record:
        return dict(zip(self.columns, self))

    def _replace(self, **changes: Any) -> TraceRow:
        return TraceRow(**{**self._asdict(), **changes})

    def __repr__(self) -> str:
        return f"TraceRow({', '.join(f'{k}={_word(v)}' for k, v in self._asdict().items())})"


class Trace(Sequence[TraceRow]):
    """The iterations of a fit as a table, which can be printed, plotted and converted to a data frame.

    ``model.trace_`` after a fit with ``trace=True``. All traces have the columns iteration, objective, gap, step and
    seconds; an algorithm adds its own, such as the row that was misclassified. Columns without any number are not
    printed.

    Parameters
    ----------
    rows : iterable of TraceRow, default=()

    See Also
    --------
    certifit.plot.trace : draws it.

    Examples
    --------
    >>> from certifit.linear_model import Perceptron
    >>> model = Perceptron(shuffle=False, trace=True).fit([[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]], [1, 0, 0])
    >>> len(model.trace_), model.trace_[0].row, model.trace_[-1].after
    (2, 0, array([-1.,  3.]))
    >>> model.trace_.columns[:5]
    ('iteration', 'objective', 'gap', 'step', 'seconds')
    """

    def __init__(self, rows: Iterable[TraceRow] = ()) -> None:
        # Plain lists by column: what a model file can hold.
        self._table: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        for row in rows:
            self.append(row)

    def append(self, row: TraceRow) -> None:
        """Add a row; cells of columns that a row does not have are None."""
        count = len(self)
        values = row._asdict()
        for name in values:
            self._table.setdefault(name, [None] * count)
        for name, column in self._table.items():
            column.append(values.get(name))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: the five of every trace, then the algorithm's own."""
        return tuple(self._table)

    def __len__(self) -> int:
        return len(self._table["iteration"])

    @overload
    def __getitem__(self, key: int) -> TraceRow: ...
    @overload
    def __getitem__(self, key: slice) -> Trace: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    def __getitem__(self, key: int | slice | str) -> TraceRow | Trace | list[Any]:
        """Row by number, rows by slice, or a column by name."""
        if isinstance(key, str):
            return list(self._table[key])
        if isinstance(key, slice):
            return Trace(self[i] for i in range(*key.indices(len(self))))
        return TraceRow(**{name: column[key] for name, column in self._table.items()})

    def __iter__(self) -> Iterator[TraceRow]:
        return (self[i] for i in range(len(self)))

    def __add__(self, more: Iterable[TraceRow]) -> Trace:
        return Trace([*self, *more])

    def to_dict(self) -> dict[str, list[Any]]:
        """Each column as a list, by name."""
        return {name: list(column) for name, column in self._table.items()}

    def frame(self) -> Any:
        """The table as a pandas data frame, or a polars one where only that is installed.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
        """
        try:
            import pandas
        except ImportError:
            pass
        else:
            return pandas.DataFrame(self.to_dict())
        try:
            import polars
        except ImportError:
            raise MissingExtraError("A data frame needs pandas or polars: install one, or use to_dict().") from None
        lists = {k: [v.tolist() if isinstance(v, np.ndarray) else v for v in c] for k, c in self._table.items()}
        return polars.DataFrame(lists, strict=False)

    def table(self, hide: Iterable[str] = ()) -> str:
        """The table as text, as ``print`` shows it.

        Parameters
        ----------
        hide : iterable of str, default=()
            Columns to leave out.
        """
        if not len(self):
            return "An empty trace: fit with trace=True an estimator that iterates."
        cells = self._cells(hide)
        width = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
        return "\n".join("  ".join(word.rjust(w) for word, w in zip(row, width)) for row in cells)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the gap, the objective if there is no gap, or what the algorithm measures (`certifit.plot.trace`).

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        """
        drawn: Axes = importlib.import_module("certifit.plot").trace(self, ax=ax)  # a higher floor, when somebody asks
        return drawn

    def animate(self) -> FuncAnimation:
        """The same picture, iteration by iteration, as a matplotlib animation (``.save("steps.gif")``)."""
        moving: FuncAnimation = importlib.import_module("certifit.plot").trace_animation(self)
        return moving

    def latex(self) -> str:
        r"""The steps as LaTeX: the update formulas with their numbers, or a table.

        Examples
        --------
        >>> steps = Trace([TraceRow(0, 2.0, gap=1.0), TraceRow(1, 1.5, gap=0.25)])
        >>> print(steps.latex())
        \begin{tabular}{rrr}
        $t$ & $J$ & $J - J^*$ \\ \hline
        0 & 2 & 1 \\
        1 & 1.5 & 0.25 \\
        \end{tabular}
        """
        from certifit._trace_latex import latex_of

        return latex_of(list(self), self.columns, self._cells() if len(self) else [["iteration"]])

    def _cells(self, hide: Iterable[str] = ()) -> list[list[str]]:
        """Heading and rows in words, without the columns that say nothing."""
        told = [name for name, column in self._table.items() if name not in hide and any(_told(v) for v in column)]
        rows: list[int | None] = list(range(len(self)))
        if len(rows) > _SHOWN:
            rows = [*rows[: _SHOWN // 2], None, *rows[-(_SHOWN // 2) :]]
        return [told, *(["…" if i is None else _word(self._table[name][i]) for name in told] for i in rows)]

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"Trace({len(self)} rows: {', '.join(self.columns)})"

    def _repr_html_(self) -> str:
        if not len(self):
            return _notebook.card(str(self))
        head, *body = self._cells()
        return _notebook.table(head, body)


def joined(traces: Iterable[Iterable[TraceRow]], name: str, labels: Iterable[Any] | None = None) -> Trace:
    """The traces of several machines or targets as one, told apart by a column.

    Examples
    --------
    >>> print(joined([[TraceRow(0, 2.0)], [TraceRow(0, 3.0), TraceRow(1, 1.0)]], "machine"))
    iteration  objective  machine
            0          2        0
            0          3        1
            1          1        1
    """
    parts = list(traces)
    which = range(len(parts)) if labels is None else labels
    return Trace(TraceRow(**{**row._asdict(), name: label}) for label, part in zip(which, parts) for row in part)


def continued(first: Trace, second: Iterable[TraceRow]) -> Trace:
    """Two runs of one fit as one trace: iterations and seconds of the second count on.

    Examples
    --------
    >>> whole = continued(Trace([TraceRow(0, 2.0, seconds=0.0), TraceRow(1, 1.0, seconds=1.0)]),
    ...                   [TraceRow(1, 0.5, seconds=0.5)])
    >>> whole[-1].iteration, whole[-1].seconds
    (2, 1.5)
    """
    if not len(first):
        return Trace(second)
    last = first[-1]
    shifted = (r._replace(iteration=r.iteration + last.iteration, seconds=r.seconds + last.seconds) for r in second)
    return first + shifted


def _told(value: object) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _word(value: object) -> str:
    if not _told(value):
        return ""
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, separator=" ", threshold=8, edgeitems=3).replace("\n", "")
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    return str(value)
