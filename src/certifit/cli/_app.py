"""The commands: their arguments, their help, their exit codes. What they do stands in `_commands` and `_screen`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

import certifit
from certifit.cli import _commands
from certifit.cli._errors import UsageError

_Names = Annotated[str | None, Parameter(negative="")]
# What several commands take, said once.
_Model = Annotated[Path, Parameter(help="A model file, written by certifit study or fit.")]
_Task = Annotated[
    Literal["classification", "regression", "counts"] | None,
    Parameter(help="What the target is; inferred from its values by default."),
]
_Drop = Annotated[str | None, Parameter(negative="", help="Columns to drop, separated by commas.")]
_Keep = Annotated[
    str | None, Parameter(negative="", help="Columns to keep even if they look like identifiers or leak the target.")
]
_Categories = Annotated[str | None, Parameter(negative="", help="Numeric columns to treat as categorical.")]

app = App(
    name="certifit",
    version=certifit.__version__,
    suppress_keyboard_interrupt=False,  # `main` says what became of the files
    help="""Classical machine learning that proves its answers.

Start with a table and a column to predict:

    certifit study patients.csv --target disease

This compares every model that applies, reports which differences are significant, and writes study/report.html,
study/model.certifit and study/record.json. Then:

    certifit predict study/model.certifit new.csv --out predictions.csv
    certifit verify  study/model.certifit patients.csv
    certifit check   study/model.proof study/model.proof.csv

A table is a CSV, TSV, Parquet, Arrow or Excel file; example:breast-cancer, example:iris, example:wine and
example:diabetes are tables to try things on.

Exit codes: 0 success (every claim holds), 1 a claim does not hold or the data were rejected, 2 wrong usage.""",
    help_format="markdown",
    help_flags=["--help", "-h"],
)


@app.command
def study(
    data: str = "example:breast-cancer",
    /,
    *,
    target: str | None = None,
    task: _Task = None,
    models: _Names = None,
    folds: int | None = None,
    time_budget: float | None = 150.0,
    seed: int = 0,
    out: Path = Path("study"),
    drop: _Drop = None,
    keep: _Keep = None,
    categories: _Categories = None,
    workers: int | None = None,
    yardstick: bool = True,
    allow_black_box: Annotated[bool, Parameter(negative="")] = False,
    groups: str | None = None,
    time: str | None = None,
    weights: str | None = None,
    test: str | None = None,
    positive: str | None = None,
    metric: str | None = None,
    costs: str | None = None,
    require: str | None = None,
    memory: str | None = None,
) -> int:
    """Compare every model that applies to a table, choose one, prove it, write the report.

    Parameters
    ----------
    data
        The table; scikit-learn's breast-cancer table when none is named.
    target
        The column to predict.
    models
        Models to compare, separated by commas; by default all that apply.
    folds
        Outer folds; by default 10 for up to 2000 rows, 5 up to 20000, 3 beyond.
    time_budget
        Seconds of work per process. Models that are estimated to exceed it are skipped and listed.
    seed
        Random seed, for the folds and the models.
    out
        Folder for report.html, model.certifit and record.json.
    workers
        Number of processes; by default one per processor.
    yardstick
        Run scikit-learn's gradient boosting and random forest in the same folds, for comparison only.
    allow_black_box
        Let gradient boosting and random forest be chosen and saved, too; nothing is proved about them.
    groups
        A column, such as patient or household: its rows are kept in the same fold. Not used as a feature.
    time
        A column of dates or numbers: rows are predicted from earlier rows only. Not used as a feature.
    weights
        A numeric column: the weight of each row, in fits and in scores. Not used as a feature.
    test
        A labelled test table, on which the chosen model is evaluated once, at the end.
    positive
        With two classes, the positive one; by default the rarer one.
    metric
        The metric that chooses the model: auc, accuracy, balanced_accuracy, average_precision, f1, log_loss or brier
        for classes; r2, absolute_error or deviance for numbers.
    costs
        Costs of a false positive and of a false negative, such as 1,20; they set the decision threshold.
    require
        Choose the decision threshold by a requirement instead, such as "recall >= 0.95" (or precision, specificity).
    memory
        Budget such as 2GB, for files (big/*.parquet) that do not fit into it: models are compared on a reproducible
        sample whose size is stated, and the chosen one is fitted again to all rows where its family allows.
    """
    options = dict(locals())  # every option, under its own name
    options["models"] = _list(models)
    options |= {name: _list(options[name]) or [] for name in ("drop", "keep", "categories")}
    return _commands.study(**options)


@app.command
def fit(
    data: str,
    /,
    *more: str,
    target: str | None = None,
    model: str,
    set_: Annotated[str | None, Parameter(name="--set")] = None,
    task: _Task = None,
    seed: int = 0,
    out: Path = Path("model.certifit"),
    drop: _Drop = None,
    keep: _Keep = None,
    categories: _Categories = None,
    engine: Literal["local", "dask"] | None = None,
    scheduler: str | None = None,
    memory: str | None = None,
) -> int:
    """Fit one model to a table and save it with its proof.

    With several files (big/*.parquet), or any of --engine, --scheduler and --memory, the table is read in partitions
    and need not fit into memory; all numeric columns except the target are used.

    Parameters
    ----------
    data
        The table.
    more
        Further files of the same table.
    target
        The column to predict.
    model
        Its name in a study, such as ridge or "logistic regression".
    set_
        Parameters, such as alpha=1,fit_intercept=false; chosen by cross-validation when none are given.
    seed
        Random seed.
    out
        The model file.
    engine
        What reads the partitions: processes on this machine, or a Dask cluster.
    scheduler
        Address of a Dask scheduler, such as tcp://10.0.0.1:8786.
    memory
        Budget of all processes together, such as 2GB.
    """
    from certifit.cli import _scale

    if more or "*" in data or engine or scheduler or memory:
        way = {"engine": scheduler or engine or "local", "memory": memory}
        return _scale.fit([data, *more], target, model, _list(set_) or [], _list(drop) or [], out, way)

    columns = {"drop": _list(drop) or [], "keep": _list(keep) or [], "categories": _list(categories) or []}
    return _commands.fit(data, target, model, _list(set_) or [], task=task, seed=seed, out=out, **columns)


@app.command
def predict(
    model: _Model, data: str, /, *, out: Path | None = None, interval: float | None = None, carry: _Names = None
) -> int:
    """Predict the rows of a table: a CSV with the prediction, and for classes their probabilities.

    Identifier columns of the study's table are copied and come first. A model with a threshold (study --costs,
    --require) also gives its decision, and one that was recalibrated also its calibrated probability.

    Categories that were not seen during the fit count as none of the known ones and empty cells as missing; both are
    reported on standard error. A missing column is an error; additional columns are ignored.

    Parameters
    ----------
    data
        The table.
    out
        The CSV to write; standard output when not given.
    interval
        Add prediction intervals (low, high) or sets of labels with this coverage, such as 0.9.
    carry
        Columns of the table to put before the predictions, separated by commas; by default identifiers and names.
    """
    return _commands.predict(model, data, out, interval, _list(carry))


@app.command
def evaluate(model: _Model, data: str, /, *, by: _Names = None) -> int:
    """Evaluate a model on a labelled table: metrics with 95 % intervals.

    It also says when rows were in the training table, and which columns have drifted since then.

    Parameters
    ----------
    data
        A table with the target column; for an unbiased estimate, use rows that the model has not seen.
    by
        Columns, separated by commas: scores for each category (or third of a numeric column), with simultaneous
        intervals.
    """
    return _commands.evaluate(model, data, _list(by) or [])


@app.command
def certify(
    first: str,
    data: str | None = None,
    /,
    *,
    target: str | None = None,
    coefficients: Path | None = None,
    loss: str = "squared",
    regularizer: str = "l2",
    lam: float = 0.0,
) -> int:
    """How far is a fitted model from the best possible one, by its own objective? With proof.

    certifit certify MODEL TABLE certifies a model file; certifit certify TABLE --coefficients w.csv certifies numbers
    found by hand, by mean loss plus λ times the penalty, and says which mistake would explain them.

    Parameters
    ----------
    first
        A certifit file, or a skops file of a scikit-learn model; with --coefficients the table.
    data
        The table it was fitted to.
    target
        The column it predicts (for a skops file and for coefficients, where it may be left out: it is the column
        without a coefficient, or the last one).
    coefficients
        A CSV file with a line for each column of the table, NAME,VALUE, and one for the offset, intercept,VALUE; or
        numbers alone in the order of the columns, the offset last.
    loss
        squared, absolute, logistic, hinge, squared_hinge, exponential, poisson.
    regularizer
        l2 (the squared norm), half_l2, l1, none.
    lam
        λ.
    """
    from certifit.cli import _coefficients

    if coefficients is not None:
        if data is not None:
            raise UsageError("With --coefficients there is one table, and no model file.")
        return _coefficients.judge_file(first, target, coefficients, (loss, regularizer, lam))
    if data is None:
        raise UsageError("certifit certify MODEL TABLE, or certifit certify TABLE --coefficients w.csv.")
    return _commands.certify(Path(first), data, target)


@app.command
def separable(data: str, /, *, target: str | None = None, drop: _Drop = None, exact: bool = False) -> int:
    """Can a hyperplane separate the classes? With proof either way.

    Parameters
    ----------
    data
        The table.
    target
        The column of classes.
    exact
        Decide in rational arithmetic, which takes longer.
    """
    return _commands.separable(data, target, _list(drop) or [], exact)


@app.command
def verify(model: _Model, data: str, /, *, details: bool = False) -> int:
    """Re-check every claim of a model file against the table it was fitted to.

    Exit code 0 when every claim holds, 1 when not. The check recomputes everything from the data and the
    evidence in the file; it trusts no solver.

    Parameters
    ----------
    data
        The table, with the target column.
    details
        List every check, not only those that fail.
    """
    return _commands.verify(model, data, details)


@app.command
def prove(model: _Model, data: str | None = None, /, *, out: Path = Path("fit.proof")) -> int:
    """Write the proof of a model to a file that can be checked with only Python's standard library.

    Parameters
    ----------
    data
        The table it was fitted to; the encoded rows are then written to OUT.csv, for certifit check.
    out
        The proof file.
    """
    return _commands.prove(model, data, out)


@app.command
def check(proof: Path, table: Path, /, *more: Path) -> int:
    """Check a proof file against the table written beside it, in exact arithmetic.

    The same as python checker.py PROOF TABLE, on any machine with Python. Exit code 0 when proved, 1 when not.

    Parameters
    ----------
    proof
        A proof file, as written by certifit prove, certifit study or certificate.save.
    table
        The CSV or .npy file with the encoded rows that the model was fitted to.
    more
        Further .npy files (y, weights, offsets), or the other partitions.
    """
    return _commands.check(proof, table, *more)


@app.command
def explain(model: _Model, row: str, /) -> int:
    """Why does the model make this prediction for one row?

    Parameters
    ----------
    row
        A row of a table, as TABLE:NUMBER (the first is 1), or cells, as age=63,sex=male (others are missing).
    """
    return _commands.explain(model, row)


@app.command
def show(model: _Model, /) -> int:
    """What is in a model file: columns, target, parameters, score, claims."""
    return _commands.show(model)


@app.command
def examples(
    name: str | None = None, /, *, out: Path = Path("examples"), names: bool = False, notebook: bool = False
) -> int:
    """Run a worked example, print its results and draw its figure; without a name, all of them (about half a minute).

    Parameters
    ----------
    name
        The example, or "all".
    out
        The folder for the pictures (NAME.png).
    names
        Only list the examples.
    notebook
        Write a Jupyter notebook to run and change (NAME.ipynb) instead of running it.
    """
    from certifit.cli import _examples

    return _examples.examples(name, out, names, notebook)


@app.command
def lab(
    data: str | None = None,
    /,
    *,
    target: str | None = None,
    port: int = 8765,
    browser: bool = True,
) -> int:
    """Watch algorithms work in the browser, step by step, on points that you draw or on your own table.

    The page is served on this computer only; the printed address contains the token that it requires. Ctrl-C stops it.

    Parameters
    ----------
    data
        A table to begin with.
    target
        Its column to predict.
    port
        The port; if it is taken, any free one.
    browser
        Open the page in a browser.
    """
    from certifit.cli import _lab

    return _lab.lab(data, target, port, browser)


@app.command
def exercises(
    action: Literal["list", "show", "run", "notebook"] = "list",
    name: str | None = None,
    answer: Path | None = None,
    /,
    *,
    seed: int = 0,
    out: Path | None = None,
) -> int:
    """Exercises that mark themselves: list them, show one, mark an answer, write a notebook.

    Exit code 0 for a right answer, 1 for one that is not right yet.

    Parameters
    ----------
    action
        What to do.
    name
        The exercise, or a lecturer's own Python file.
    answer
        A JSON file with the parts of the answer, for "run".
    seed
        The student's number: data differ from seed to seed.
    out
        The file to write, for "notebook"; NAME.ipynb when not given.
    """
    from certifit.cli import _exercises

    return _exercises.exercises(action, name, answer, seed, out)


@app.command
def export(model: _Model, /, *, to: Literal["onnx", "sql", "python", "c"] = "onnx", out: Path | None = None) -> int:
    """Write the model for other languages and servers: an ONNX graph, or source code without dependencies.

    The graph has one input per column (numbers, or strings for categories) and returns the labels of certifit
    predict. Code takes the table's own columns: a query, a Python function or a C function.

    Parameters
    ----------
    to
        What to write: onnx, sql, python or c.
    out
        The file to write; model.onnx, model.sql, model.py or model.c when not given.
    """
    return _commands.export(model, to, out)


@app.command
def warm() -> int:
    """Compile every loop now, so that no first fit has to wait: for servers, images and classrooms.

    The machine code is kept beside the installed package, or in the folder that NUMBA_CACHE_DIR names, and stays valid
    for this machine and this version. A second call finds it there and takes a second or two.
    """
    return _commands.warm()


def _list(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
