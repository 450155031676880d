"""From a table's model to a program of formulas: its features, its sums, its answer."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from certifit._types import Array, BaseEstimator
from certifit.exceptions import ExportError
from certifit.files._code._formula import AtMost, Col, If, Is, Missing, Op, Program, clipped, times, total
from certifit.files._dates import parts
from certifit.files._table_model import TableModel


def program_of(model: TableModel) -> Program:
    """The formulas of a model that `certifit study` or `fit` made; ExportError for what cannot be written out."""
    columns = model.schema.columns
    texts = [c.text for c in columns if c.text]
    if texts:
        raise ExportError(f"Text ({texts[0]!r}) cannot be exported: fit without it (--drop {texts[0]!r}).")
    program = Program(
        [c.name for c in columns if c.kind != "category"],
        [c.name for c in columns if c.kind == "category"],
        any(c.kind == "date" for c in columns),
    )
    steps = getattr(model.pipeline, "steps", [])
    if not steps or type(steps[0][1]).__name__ != "TableEncoder":
        raise ExportError("Only models of a table (certifit study, certifit fit) can be written as code.")
    encoder, estimator = steps[0][1], steps[-1][1]
    if type(estimator).__name__ == "MixedNB":
        _naive_bayes(program, encoder, estimator)
        return program
    features = _features(program, encoder)
    for _, step in steps[1:-1]:
        if type(step).__name__ != "AdditiveBasis":
            raise ExportError(f"{type(step).__name__} cannot be written as code: export to ONNX.")
        features = _additive(program, step, features)
    _answer(program, estimator, features)
    return program


# -- features -----------------------------------------------------------------------------------------
def _features(program: Program, encoder: BaseEstimator) -> list[Any]:
    """What the encoder makes of a row: numbers filled and scaled, marks of gaps, 0/1 of levels."""
    made = []
    dates = _parts_of_dates(program, encoder)
    for j, fill, centre, scale in zip(encoder.kept_, encoder.fill_, encoder.centre_, encoder.scale_):
        name, part = dates.get(int(j), (encoder.names_[j], None))
        x: Any = If(Missing(name), float(fill), Col(name) if part is None else part)
        x = x if centre == 0.0 else Op("-", (x, float(centre)))
        made.append(program.name(x if scale == 1.0 else Op("/", (x, float(scale)))))
    made += [program.name(If(Missing(encoder.names[j]), 1.0, 0.0)) for j in encoder.marked_]
    for j, v in zip(encoder.level_column_, encoder.level_):
        if int(j) in dates:
            name, part = dates[int(j)]
            same = If(AtMost(part, float(v) + 0.5), If(AtMost(float(v) - 0.5, part), 1.0, 0.0), 0.0)
            made.append(program.name(If(Missing(name), 0.0, same)))
            continue
        levels, name = encoder.categories[j], encoder.names[j]
        asked: Any = Missing(name) if int(v) == len(levels) else Is(name, levels[int(v)])
        made.append(program.name(If(asked, 1.0, 0.0)))
    return made


def _parts_of_dates(program: Program, encoder: BaseEstimator) -> dict[int, tuple[str, Any]]:
    """For each column that is a part of a date its date and a formula for it (of day 0 where the date is missing)."""
    found: dict[int, tuple[str, Any]] = {}
    used = {int(j) for j in (*encoder.kept_, *encoder.level_column_)}
    made: dict[int, dict[str, Any]] = {}

    def arithmetic(sign: str, a: Any, b: Any, *sides: Any) -> Any:
        if sign == "<=":
            return program.name(If(AtMost(a, b), *sides))
        return program.name(Op("floor", (Op("/", (a, b)),)) if sign == "//" else Op(sign, (a, b)))

    for k, (j, part) in enumerate(encoder.parts_, start=len(encoder.names)):
        if k in used:
            name = encoder.names[j]
            if j not in made:
                made[j] = parts(arithmetic, program.name(If(Missing(name), 0.0, Col(name))))
            found[k] = name, made[j][part]
    return found


def _additive(program: Program, basis: BaseEstimator, features: list[Any]) -> list[Any]:
    """Ramps of each feature between its knots, and products of the ramps of pairs."""

    def ramps(x: Any, t: Array) -> list[Any]:
        return [
            program.name(clipped(Op("/", (Op("-", (x, float(a))), float(b - a))), 0.0, 1.0)) for a, b in pairwise(t)
        ]

    made = [r for x, t in zip(features, basis.knots_) for r in ramps(x, t)]
    for i, j, s, t in basis.pairs_:
        left, right = ramps(features[i], s), ramps(features[j], t)
        made += [program.name(Op("*", (a, b))) for a in left for b in right]
    return made


# -- answers ------------------------------------------------------------------------------------------
def _answer(program: Program, model: BaseEstimator, z: list[Any]) -> None:
    kind = type(model).__name__
    if hasattr(model, "tree_"):
        _tree(program, model, z)
    elif kind in ("ConstantClassifier", "ConstantRegressor"):
        _constant(program, model)
    elif not hasattr(model, "coef_"):
        raise ExportError(f"{kind} cannot be written as code: export to ONNX.")
    elif hasattr(model, "classes_"):
        _linear_classes(program, model, z)
    else:
        _linear_value(program, model, z)


def _sum(program: Program, coef: Array, offset: float, z: list[Any]) -> Any:
    parts = [times(float(c), x) for c, x in zip(coef, z) if c != 0.0]
    return program.name(total([float(offset), *parts]))


def _linear_value(program: Program, model: BaseEstimator, z: list[Any]) -> None:
    score = _sum(program, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), z)
    if hasattr(model, "smearing_"):  # a model of the logarithm, its mean brought back
        low, high = model.range_
        inside = program.name(clipped(score, low - 1.0, high + 1.0))
        score = Op("*", (Op("exp", (inside,)), float(model.smearing_)))
    elif hasattr(model, "link_"):
        if model.link_ not in ("log", "identity"):
            raise ExportError(f"The link {model.link_!r} cannot be written as code: export to ONNX.")
        score = Op("exp", (score,)) if model.link_ == "log" else score
    program.outputs.append(("prediction", score))


def _linear_classes(program: Program, model: BaseEstimator, z: list[Any]) -> None:
    table = np.atleast_2d(np.asarray(model.coef_, dtype=float))
    offsets = np.broadcast_to(np.ravel(np.asarray(model.intercept_, dtype=float)), len(table))
    scores = [_sum(program, row, b, z) for row, b in zip(table, offsets)]
    likely = hasattr(model, "predict_proba")
    if len(model.classes_) == 2 and len(scores) == 1:
        no, yes = (str(c) for c in model.classes_)
        at = float(getattr(model, "threshold_", 0.5) if likely else 0.5)
        bar = float(np.log(at / (1.0 - at)))
        label = If(AtMost(scores[0], bar), no, yes)
        if not likely:
            program.outputs.append(("prediction", label))
            return
        p = program.name(Op("/", (1.0, total([1.0, Op("exp", (Op("-", (0.0, scores[0])),))]))))
        chances = [Op("-", (1.0, p)), p]
        program.outputs += [("prediction", label), *_named(model.classes_, chances)]
        return
    _posterior(program, model.classes_, scores, likely)


def _posterior(program: Program, classes: Array, scores: list[Any], likely: bool = True) -> None:
    """The class of largest score (the first of equals) and, where scores are logarithms, softmax."""
    top, label = scores[0], str(classes[0])
    for c, s in zip(classes[1:], scores[1:]):
        worse = program.name(If(AtMost(s, top), 0.0, 1.0))
        label = If(AtMost(worse, 0.5), label, str(c))
        top = program.name(If(AtMost(s, top), top, s))
    program.outputs.append(("prediction", label))
    if likely:
        parts = [program.name(Op("exp", (Op("-", (s, top)),))) for s in scores]
        whole = program.name(total(parts))
        program.outputs += _named(classes, [Op("/", (p, whole)) for p in parts])


def _named(classes: Array, chances: list[Any]) -> list[tuple[str, Any]]:
    return [(f"probability {c}", p) for c, p in zip(classes, chances)]


def _constant(program: Program, model: BaseEstimator) -> None:
    if hasattr(model, "classes_"):
        program.outputs.append(("prediction", str(model.classes_[int(np.argmax(model.shares_))])))
        program.outputs += _named(model.classes_, [float(p) for p in model.shares_])
    else:
        program.outputs.append(("prediction", float(model.value_)))


def _tree(program: Program, model: BaseEstimator, z: list[Any]) -> None:
    tree = model.tree_
    if np.any((tree.group >= 0) & ~tree.is_leaf):
        raise ExportError("Trees with splits on categories cannot be written as code: export to ONNX.")

    def walk(node: int, leaf: Any) -> Any:
        if tree.children_left[node] < 0:
            return leaf(node)
        asked = AtMost(z[int(tree.feature[node])], float(tree.threshold[node]))
        left, right = (walk(int(side[node]), leaf) for side in (tree.children_left, tree.children_right))
        return left if left == right else If(asked, left, right)

    if not hasattr(model, "classes_"):
        program.outputs.append(("prediction", walk(0, lambda n: float(tree.value[n, 0, 0]))))
        return
    classes = model.classes_
    program.outputs.append(("prediction", walk(0, lambda n: str(classes[int(np.argmax(tree.value[n, 0]))]))))
    for k, c in enumerate(classes):
        chance = walk(0, lambda n, k=k: float(tree.value[n, 0, k]))
        program.outputs.append((f"probability {c}", chance))


# -- naive Bayes --------------------------------------------------------------------------------------
def _naive_bayes(program: Program, encoder: BaseEstimator, model: BaseEstimator) -> None:
    """Log prior, plus the log density of each number and the log fraction of each category that is there."""
    scale = {int(j): (float(c), float(s)) for j, c, s in zip(encoder.kept_, encoder.centre_, encoder.scale_)}
    terms: list[list[Any]] = [[float(v)] for v in model.class_log_prior_]
    number = category = 0
    for j, kind in enumerate(model.column_kinds_):
        if kind == "numeric":
            for k, part in enumerate(terms):
                part.append(_density(program, encoder.names[j], scale.get(j), model, k, number))
            number += 1
            continue
        logs, known = model.feature_log_prob_[category], model.categories_[category]
        for k, part in enumerate(terms):
            part.append(program.name(_looked_up(encoder, j, known, logs[k])))
        category += 1
    _posterior(program, model.classes_, [program.name(total(part)) for part in terms])


def _density(
    program: Program, name: str, scale: tuple[float, float] | None, model: BaseEstimator, k: int, j: int
) -> Any:
    mean, variance = float(model.theta_[k, j]), float(model.var_[k, j])
    constant = float(np.log(2.0 * np.pi * variance))
    if scale is None:  # a column that did not vary counts as 0
        return -0.5 * ((0.0 - mean) ** 2 / variance + constant)
    centre, spread = scale
    away = program.name(Op("-", (Op("/", (Op("-", (If(Missing(name), centre, Col(name)), centre)), spread)), mean)))
    value = Op("*", (-0.5, total([Op("/", (Op("*", (away, away)), variance)), constant])))
    return program.name(If(Missing(name), 0.0, value))


def _looked_up(encoder: BaseEstimator, j: int, known: list[Any], logs: Array) -> Any:
    """The log fraction of the level in the cell; 0 where it is missing or not known."""
    name, answer = encoder.names[j], 0.0
    formula: Any = answer
    for code, log in list(zip(known, logs))[::-1]:
        place = int(float(code))
        if encoder.kinds[j] == "category":
            asked: Any = Is(name, encoder.categories[j][place])
            formula = If(asked, float(log), formula)
        else:  # a boolean: 0 or 1
            bar = AtMost(Col(name), 0.5) if place == 0 else AtMost(0.5, Col(name))
            formula = If(bar, float(log), formula)
    return formula if encoder.kinds[j] == "category" else If(Missing(name), 0.0, formula)
