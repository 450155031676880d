"""What the commands do. ``cf.files`` and the like load when a command uses them: ``certifit --help`` needs none."""

from __future__ import annotations

import ast
import csv
import io
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

import certifit as cf
from certifit import _copies
from certifit._arrow import without_pandas
from certifit.cli._errors import UsageError, existing, no_column
from certifit.exceptions import CertifitError, ModelFileError

_EXAMPLE = "example:"
_FAMILIES = tuple(
    f"certifit.{name}" for name in ("linear_model", "svm", "naive_bayes", "tree", "neighbors", "decomposition")
)
_SMALL_FILE = 1 << 20  # bytes of a table whose study is over in seconds: starting processes is much of it


def say(text: str = "", errors: bool = False) -> None:
    Console(stderr=errors, highlight=False, soft_wrap=True, emoji=False).print(text, markup=False)


def print_remark(text: str) -> None:
    say(f"certifit: {text}", errors=True)


def read(data: str) -> tuple[Any, str | None]:
    """A table, and its target when it is a bundled example."""
    with suppress(ImportError):  # said when the table is read
        without_pandas()
    if data.startswith(_EXAMPLE):
        try:
            example = cf.datasets.load(data[len(_EXAMPLE) :])
        except ValueError as error:
            raise UsageError(str(error)) from None
        return replace(cf.files.Table.of(dict(example.columns)), source=data), example.target
    return cf.files.read_table(existing(data)), None


def with_target(data: str, target: str | None) -> tuple[Any, str]:
    table, own = read(data)
    chosen = target or own
    if chosen is None:
        names = ", ".join(table.columns[-8:])
        raise UsageError(f"Which column is to be predicted? Add --target COLUMN (the last columns are: {names}).")
    if chosen not in table.columns:
        hint = f" ({table.notes[-1]})" if len(table.columns) == 1 and table.notes else ""
        raise no_column(chosen, table.columns, data, hint)
    return table, chosen


def _model(path: Path) -> Any:
    model = cf.files.load(existing(path))
    if not isinstance(model, cf.files.TableModel):
        raise CertifitError(f"{path} was saved without a table: load it in Python with certifit.load.")
    return model


def study(data: str, target: str | None, *, out: Path, workers: int | None, **options: Any) -> int:
    """certifit study."""
    small = data.startswith(_EXAMPLE) or (Path(data).is_file() and Path(data).stat().st_size <= _SMALL_FILE)
    with _report_ahead() if small and workers != 1 else nullcontext():
        from certifit.parallel import cores

        # Two at least: only work elsewhere can be ended in time.
        options["workers"] = workers if workers is not None else max(2, min(cores(), 8))
        with _workers_ahead(options["workers"]) if small else nullcontext():
            return _study(data, target, out=out, **options)


def _report_ahead() -> AbstractContextManager[None]:
    """Copy this process now, while it is small: the copy loads what draws the report while this one reads the table."""
    if not _copies.possible():
        return nullcontext()
    # On a small table BLAS on several threads gains nothing, and its threads would spin between two calls.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return _copies.made_ahead("report", _page, None)


def _workers_ahead(workers: int) -> AbstractContextManager[None]:
    """Where no copies can be made: start the other processes now, so that they load what they need meanwhile."""
    if workers < 2 or _copies.possible():
        return nullcontext()
    from certifit.parallel import starting_processes

    return starting_processes(workers - 1, "certifit.study._runner", _FAMILIES)


def _page(record: Any) -> str:
    """In a copy of this process: the report of a record; None loads what draws it."""
    from certifit.report import prepare, render

    return prepare() if record is None else render(record)


def _study(data: str, target: str | None, *, out: Path, **options: Any) -> int:
    from certifit.cli._screen import Screen
    from certifit.study._threshold import Rule, read_costs

    if options["time_budget"] is not None and options["time_budget"] <= 0:
        raise UsageError("--time-budget must be a positive number of seconds.")
    if options["folds"] is not None and options["folds"] < 2:
        raise UsageError("--folds must be 2 or more.")
    if options["workers"] < 1:
        raise UsageError("--workers must be 1 or more.")
    options["costs"] = None if options["costs"] is None else _usage(read_costs, options["costs"])
    if options["require"] is not None:
        _usage(Rule.read, options["require"])
    if options["seed"] < 0:
        raise UsageError("--seed must be an integer from 0.")
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file: name a folder.")
    writable(out)
    memory = options.pop("memory")
    if memory is not None or "*" in data:
        from certifit.cli import _scale

        return _scale.study(data, target, memory or "2GB", out, options)
    with Screen() as screen:
        table, chosen = with_target(data, target)
        for role in ("groups", "time", "weights"):
            if options[role] is not None and options[role] not in table.columns:
                raise UsageError(f"There is no column {options[role]!r} in {data} for --{role}.")
        test = None if options["test"] is None else read(options.pop("test"))[0]
        cf.study.run(table, chosen, out=out, listener=screen, **(options | {"test": test}))
    return 0


def _usage(read: Any, text: str) -> Any:
    """What an option says; what it cannot mean is wrong usage, not a refusal of data."""
    try:
        return read(text)
    except CertifitError as error:
        raise UsageError(str(error)) from None


def writable(folder: Path) -> None:
    """Refuse now rather than after minutes of work."""
    there = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"Nothing can be written to {folder}: name another folder with --out.")


def fit(data: str, target: str | None, model: str, settings: Sequence[str], *, out: Path, **options: Any) -> int:
    """certifit fit."""
    table, chosen = with_target(data, target)
    fitted = cf.study.fit(table, chosen, model, parameters=dict(setting(s) for s in settings), **options)
    cf.files.save(fitted, out)
    shown = ", ".join(f"{k} = {v}" for k, v in fitted.about["parameters"].items())
    for name, why in fitted.schema.dropped:
        say(f"{name!r} is not used: {why}")
    lost = fitted.about.get("unlabelled", 0)
    without = f" ({lost} more have no target)" if lost else ""
    say(f"{model}{' with ' + shown if shown else ''}, fitted to {fitted.about['rows']} rows{without}")
    for certificate in cf.files.certificates_of(fitted.pipeline)[:1]:
        say(str(certificate))
    say(f"wrote {out}")
    return 0


def setting(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise UsageError(f"--set takes name=value, got {text!r}.")
    words = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return name.strip(), words[value.lower()]
    try:
        return name.strip(), ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name.strip(), value


def predict(
    path: Path, data: str, out: Path | None, interval: float | None = None, carry: Sequence[str] | None = None
) -> int:
    """certifit predict."""
    import numpy as np

    if interval is not None and not 0.0 < interval < 1.0:
        raise UsageError("--interval must lie between 0 and 1, such as 0.9.")

    from certifit.cli import _scale

    if _scale.is_plain(path):
        return _scale.predict(path, data, out)
    model = _model(path)
    table = read(data)[0]
    reading = model.read(table)
    for remark in reading.remarks():
        print_remark(remark)
    columns = _carried(model, table, carry)
    unused = [name for name in reading.ignored if name not in dict(columns)]
    if unused:
        print_remark(f"not used: {', '.join(unused[:8])}{' ...' if len(unused) > 8 else ''}.")
    said = model.pipeline.predict(reading.X)
    columns.append(("prediction", said))
    if hasattr(model.pipeline, "predict_proba"):
        probabilities = np.asarray(model.pipeline.predict_proba(reading.X))
        columns += [(f"probability {c}", probabilities[:, k]) for k, c in enumerate(model.classes_)]
        columns += cf.study.decisions(model, probabilities)
    if interval is not None:
        columns += cf.study.prediction_sets(model, reading.X, interval)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, _ in columns])
    # repr of a float is the shortest text that reads back as the same float: nothing is lost in the file.
    writer.writerows([[_cell(v[i]) for _, v in columns] for i in range(len(said))])
    if out is None:
        sys.stdout.write(text.getvalue())
    else:
        cf.files.write_atomic(out, text.getvalue().encode())
        print_remark(f"wrote {out} ({len(said)} rows).")
    return 0


def _carried(model: Any, table: Any, carry: Sequence[str] | None) -> list[tuple[str, Any]]:
    """Columns that go into the output as they are: those asked for, or identifiers and names of the study's table."""
    if carry is None:
        own = ("identifier", "free text of a few words")  # such as names: they say which row it is
        names = [n for n, why in model.schema.dropped if why.startswith(own) and n in table.columns]
    else:
        names = list(carry)
        unknown = [n for n in names if n not in table.columns]
        if unknown:
            raise UsageError(f"There is no column {unknown[0]!r} for --carry.")
    return [(n, ["" if v is None else v for v in table.column(n).to_pylist()]) for n in names]


def _cell(v: Any) -> str:
    return repr(float(v)) if hasattr(v, "dtype") and v.dtype.kind == "f" else str(v)


def evaluate(path: Path, data: str, by: Sequence[str] = ()) -> int:
    """certifit evaluate."""
    model = _model(path)
    table, _ = read(data)
    for remark in model.read(table).remarks():
        print_remark(remark)
    unknown = [name for name in by if name not in table.columns]
    if unknown:
        raise UsageError(f"There is no column {unknown[0]!r} in {data} for --by.")
    for line in cf.study.evaluate(model, table, by):
        say(line)
    return 0


def certify(path: Path, data: str, target: str | None) -> int:
    """certifit certify."""
    existing(path)
    table, own = read(data)
    weights = None
    if cf.files.is_ours(path):
        model = cf.files.load(path)
        if not isinstance(model, cf.files.TableModel):
            raise CertifitError(f"{path} was saved without a table: use certifit.certify in Python.")
        (X, y, weights), estimator = model.labelled(table), model.estimator
    else:
        chosen = target or own
        if chosen is None:
            raise UsageError("Which column does the model predict? Add --target COLUMN.")
        X, y, estimator = _foreign(cf.files.load_foreign(path), table, chosen)
    try:
        certificate = cf.certify(estimator, X, y, weights)
    except CertifitError:
        found = cf.files.certificates_of(estimator) if cf.files.is_ours(path) else ()
        if not found:
            raise
        certificate = found[0]  # no objective to judge by (a tree, say): the model's own claim, checked again
        y = estimator.certified_target(y) if hasattr(estimator, "certified_target") else y
        outcome = certificate.verify(X, y, weights)
        if not outcome.holds:
            say(f"DOES NOT HOLD: {outcome.reason}")
            return 1
    say(str(certificate))
    return 0 if certificate.holds else 1


def _foreign(model: Any, table: Any, target: str) -> tuple[Any, Any, Any]:
    """Rows, labels and last step for somebody else's model: columns by its own names, or all but the target."""
    import numpy as np

    facts = cf.study.examine(table, target, keep=[c for c in table.columns if c != target])
    first = model.steps[0][1] if hasattr(model, "steps") else model
    names = getattr(first, "feature_names_in_", None)
    names = [c for c in table.columns if c != target] if names is None else [str(n) for n in names]
    X = cf.files.Schema(tuple(cf.files.Column(n, "number") for n in names)).read(table).X
    if np.isnan(X).any():
        raise CertifitError("The table has missing or non-numeric cells: certify needs exactly the rows of the fit.")
    if hasattr(model, "steps"):
        return model[:-1].transform(X), facts.y, model.steps[-1][1]
    return X, facts.y, model


def separable(data: str, target: str | None, drop: Sequence[str], exact: bool = False) -> int:
    """certifit separable."""
    table, chosen = with_target(data, target)
    facts = cf.study.examine(
        table, chosen, "classification", drop=drop, keep=[c for c in table.columns if c not in drop and c != chosen]
    )
    X = cf.study.raw_features(facts)
    answer = cf.geometry.separability(X, facts.y, rigor="exact" if exact else "float")
    if not answer.holds and X.size <= 200_000:  # "touching" is proved in exact arithmetic only
        answer = cf.geometry.separability(X, facts.y, rigor="exact")
    if not answer.holds and not exact:
        say("Not decided in floating-point arithmetic: --exact decides it in rational numbers, which takes longer.")
    # Several classes that are not separable may be told apart in part: only their pairs have a verdict one can read.
    if len(answer.classes) == 2 or answer.verdict == "separable":
        say(str(answer))
        return 0 if answer.holds else 1
    for (a, b), pair in answer.pairs.items():
        say(f"{a} and {b}: {pair.verdict}{'' if pair.holds else ' (not proved)'}")
    return 0 if all(pair.holds for pair in answer.pairs.values()) else 1


def verify(path: Path, data: str, details: bool = False) -> int:
    """certifit verify."""
    try:
        model = cf.files.load(existing(path))
    except ModelFileError as error:
        say(f"DOES NOT HOLD: {error}")
        return 1
    if not isinstance(model, cf.files.TableModel):
        from certifit.cli import _scale

        outcome = _scale.verify(model, path, data)
    elif any("partitions" in c.digests for c in model.certificates_):
        from certifit.cli import _scale

        outcome = _scale.verify_encoded(model, data)
    else:
        outcome = cf.files.verify_model(model, read(data)[0])
    hint = "" if details else ", --details lists them"
    said = f"every claim holds ({len(outcome.checks)} checks{hint})"
    say(said if outcome.holds else f"DOES NOT HOLD: {outcome.reason}")
    for check in outcome.checks:
        if details or not check.holds:
            say(f"  {check}")
    return 0 if outcome.holds else 1


def prove(path: Path, data: str | None, out: Path) -> int:
    """certifit prove."""
    model = _model(path)
    found = cf.files.certificates_of(model.pipeline)
    if not found:
        raise CertifitError(f"{path} carries no certificate.")
    found[0].save(out)
    say(f"wrote {out}: {found[0].claim}")
    if data is None:
        return 0
    beside = Path(f"{out}.csv")
    cf.certificates.write_table(beside, *model.labelled(read(data)[0]))
    say(f"wrote {beside}; check them with: certifit check {out} {beside}")
    return 0


def check(proof: Path, *tables: Path) -> int:
    """certifit check."""
    from certifit.checker import main

    return int(main([str(existing(path)) for path in (proof, *tables)]))


def explain(path: Path, row: str) -> int:
    """certifit explain."""
    import numpy as np

    model = _model(path)
    reading = model.read(_row(model, row))
    for remark in reading.remarks():
        print_remark(remark)
    told = cf.study.explain(model, reading.X)
    target = model.schema.target.name if model.schema.target else "prediction"
    say(f"{target}: {told.prediction}")
    for label, p in told.probabilities:
        say(f"  probability of {label}: {p:.4f}")
    if told.probabilities and "decision" in (
        at := dict(cf.study.decisions(model, np.array([[p for _, p in told.probabilities]])))
    ):
        say(f"  decision: {at['decision'][0]} (by the threshold of the study)")
    if told.path:
        say(told.path)
    if told.contributions:
        say(f"{told.about}:")
        width = max(len(name) for name, _ in told.contributions[:15])
        for name, value in told.contributions[:15]:
            say(f"  {name:<{width}}  {value:+.4g}")
    return 0


def _row(model: Any, row: str) -> Any:
    """One row as a table: FILE:NUMBER or name=value,name=value."""
    source, colon, number = row.rpartition(":")
    if colon and number.isdigit():
        table, _ = read(source)
        if not 1 <= int(number) <= table.rows:
            raise UsageError(f"{source} has rows 1 to {table.rows}; there is no row {number}.")
        return table.take([int(number) - 1])
    cells = {name: [""] for name in model.schema.sources}
    for part in row.split(","):
        name, sign, value = part.partition("=")
        if not sign or name.strip() not in cells:
            raise UsageError(
                f"A row is TABLE:NUMBER or cells such as {next(iter(cells))}=...; {part!r} is neither "
                "(certifit show MODEL lists the columns)."
            )
        cells[name.strip()] = [value]
    return cf.files.Table.of(cells)


def show(path: Path) -> int:
    """certifit show."""
    from certifit.families import words_for

    model = cf.files.load(existing(path))
    if not isinstance(model, cf.files.TableModel):
        say(str(model))
        for certificate in cf.files.certificates_of(model):
            say(str(certificate))
        return 0
    about, target = model.about, model.schema.target
    say(f"{about.get('name', words_for(type(model.estimator)))}, fitted to {about.get('rows', '?')} rows")
    if target is not None:
        classes = f" ({', '.join(target.classes[:10])})" if target.classes else ""
        say(f"  predicts    {target.name}, {target.task}{classes}")
    if about.get("score"):
        s = about["score"]
        low, high = s["interval"]
        say(f"  score       {s['measure']} {s['mean']:.3f} ({low:.3f} to {high:.3f}) on held-out rows")
    if about.get("parameters"):
        say("  parameters  " + ", ".join(f"{k} = {v}" for k, v in about["parameters"].items()))
    say(f"  columns     {len(model.schema.sources)}")
    for name in dict.fromkeys(c.text for c in model.schema.columns if c.text):
        say(f"    {name} (text: {sum(c.text == name for c in model.schema.columns)} words)")
    for column in [c for c in model.schema.columns if not c.text]:
        shown = ", ".join(column.categories[:6]) + (" ..." if len(column.categories) > 6 else "")
        say(f"    {column.name} ({column.kind}{': ' + shown if shown else ''})")
    for name, why in model.schema.dropped:
        say(f"    {name} is not used: {why}")
    for certificate in cf.files.certificates_of(model.pipeline):
        say(f"  claim       {certificate.claim}")
    return 0


def export(path: Path, to: str, out: Path | None) -> int:
    """certifit export."""
    existing(path)
    written = out or Path("model").with_suffix({"onnx": ".onnx", "sql": ".sql", "python": ".py", "c": ".c"}[to])
    if to != "onnx":
        code = cf.files.to_code(cf.files.load(path), to, written)
        say(f"wrote {written} ({len(code.splitlines())} lines of {'SQL' if to == 'sql' else to.capitalize()})")
        return 0
    graph = cf.files.to_onnx(cf.files.load(path), written)
    say(
        f"{written}: inputs {', '.join(i.name for i in graph.graph.input)}; outputs "
        f"{', '.join(o.name for o in graph.graph.output)}"
    )
    return 0


def warm() -> int:
    """Compile every loop, one process per core."""
    from certifit.loops.__main__ import main
    from certifit.parallel import cores, loaded_processes

    if cores() < 2:
        main()
        return 0
    with loaded_processes(cores(), "certifit.loops.__main__") as executor:
        main(executor.map)
    return 0
