"""Every estimator that certifit exports can be saved, and comes back answering bit for bit the same."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import io
import warnings
import zipfile

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator

from certifit.exceptions import ModelFileError
from certifit.families import FAMILIES, model_of
from certifit.files import certificates_of, from_bytes, to_bytes, verify_model
from certifit.files._allowed import allowed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TARGETS = {
    "positive values": np.abs(X @ [1.0, 2.0, 3.0]) + 0.1,
    "two classes": np.where(X[:, 0] + 0.3 * RNG.normal(size=60) > 0, "a", "b"),
    "separable": np.where(X[:, 0] > 0, "a", "b"),
    "three classes": np.array(["a", "b", "c"])[RNG.integers(0, 3, 60)],
}


def estimators():
    for family in FAMILIES:
        module = importlib.import_module(f"certifit.{family.folder}")
        for name in module.__all__ if family.stored else ():
            thing = getattr(module, name)
            if name == "OneVsRest":  # needs a model to repeat: below
                continue
            if inspect.isclass(thing) and issubclass(thing, BaseEstimator) and not inspect.isabstract(thing):
                yield pytest.param(thing, id=name)


def fitted(cls):
    """The estimator on every kind of target that it accepts."""
    rows = np.abs(X).round() if "Multinomial" in cls.__name__ or "Categorical" in cls.__name__ else X
    for y in TARGETS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield cls().fit(rows, y), rows
            except (TypeError, ValueError):
                continue


def answers(model, rows):
    for method in ("predict", "predict_proba", "decision_function", "transform", "score_samples"):
        if hasattr(model, method):
            yield method, np.asarray(getattr(model, method)(rows))


def with_arguments():
    """Estimators and parts that a plain constructor does not reach."""
    from certifit import kernels, losses
    from certifit.glm import GLM, NegativeBinomial
    from certifit.kernel_ridge import KernelRidge
    from certifit.linear_model import LinearModel, LogisticRegression
    from certifit.multiclass import OneVsRest
    from certifit.neighbors import KNeighborsRegressor
    from certifit.semi_supervised import LabelPropagation, SelfTrainingClassifier
    from certifit.svm import SVC

    two, three, values = TARGETS["two classes"], TARGETS["three classes"], TARGETS["positive values"]
    few = two.astype(object)
    few[5:40] = -1
    return {
        "one against rest": (OneVsRest(LogisticRegression()), three),
        "machines against rest": (OneVsRest(SVC()), three),
        "polynomial kernel": (SVC(kernel=kernels.Polynomial(degree=2)), two),
        "sum of kernels": (SVC(kernel=2.0 * kernels.Linear() + kernels.RBF(gamma=0.5)), two),
        "kernel ridge": (KernelRidge(kernel="rbf"), values),
        "loss object": (LinearModel(loss=losses.Logistic()), two),
        "family object": (GLM(family=NegativeBinomial(0.5)), values.round()),
        "trace": (LogisticRegression(trace=True), two),
        "class weights": (LogisticRegression(class_weight={"a": 1.0, "b": 2.0}), two),
        "graph of neighbours": (LabelPropagation("knn"), few),
        "self-training": (SelfTrainingClassifier(LogisticRegression()), few),
        "metric": (KNeighborsRegressor(weights="distance", metric="manhattan"), values),
    }


@pytest.mark.parametrize("name", with_arguments())
def test_round_trip_with_arguments(name):
    model, y = with_arguments()[name]
    model.fit(X, y)
    again = from_bytes(to_bytes(model))
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    assert [c.to_dict() for c in certificates_of(again)] == [c.to_dict() for c in certificates_of(model)]
    assert certificates_of(again)


@pytest.mark.parametrize("cls", list(estimators()))
def test_round_trip(cls):
    models = list(fitted(cls))
    if not models:
        pytest.skip(f"{cls.__name__} needs arguments of its own")
    for model, rows in models:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = from_bytes(to_bytes(model))
            for (method, before), (_, after) in zip(
                answers(model, rows.copy()), answers(again, rows.copy()), strict=True
            ):
                assert before.tobytes() == after.tobytes(), method
            assert [c.to_dict() for c in certificates_of(again)] == [c.to_dict() for c in certificates_of(model)]


def test_the_table_names_what_exists():
    for family in FAMILIES:
        for part in family.parts:
            module, name = f"certifit.{family.folder}.{part}".rsplit(".", 1)
            assert inspect.isclass(getattr(importlib.import_module(module), name))
        for model in family.models:
            home = importlib.import_module(f"certifit.{family.folder}")
            cls = getattr(home, model.name, None) or next(
                getattr(importlib.import_module(f"certifit.{family.folder}.{p.rsplit('.', 1)[0]}"), model.name)
                for p in family.parts
                if p.endswith(f".{model.name}")
            )
            assert model_of(cls.__module__, cls.__name__) == model
            assert f"{cls.__module__}.{cls.__qualname__}" in allowed()
            assert (model.role == "step") == (hasattr(cls, "transform") and not hasattr(cls, "predict"))


def test_every_estimator_is_in_the_table():
    named = {m.name for family in FAMILIES for m in family.models}
    assert {p.id for p in estimators()} | {"OneVsRest"} <= named


def decisions():
    """Processes and what planning and learning make of them."""
    from certifit.reinforcement import MDP, finite_horizon, grid_world, policy_iteration, q_learning, value_iteration

    world = grid_world(["..+", ".#-"], noise=0.1, living_reward=-0.02, discount=0.9)
    table = pandas.DataFrame(
        [("low", "wait", "high", 1.0, 0.5), ("high", "go", "low", 1.0, 2.0)], columns=[*"sanpr"]
    ).astype({"s": object})
    return {
        "value iteration": value_iteration(world, trace=True),
        "policy iteration": policy_iteration(world),
        "from a table": value_iteration(MDP(table, discount=0.5)),
        "finite horizon": finite_horizon(world, 4),
        "learned": q_learning(world, episodes=30, random_state=0),
    }


def test_perceptron_networks_round_trip():
    from certifit.neural import PerceptronNetwork

    def odd(a, b, c):
        return (a + b + c) % 2 == 1

    again = from_bytes(to_bytes(PerceptronNetwork.from_function(odd, 3)))
    assert again.certify(odd).holds
    assert not again.certify(lambda a, b, c: not odd(a, b, c)).holds


@pytest.mark.parametrize("name", decisions())
def test_plans_round_trip(name, tmp_path):
    plan = decisions()[name]
    again = from_bytes(to_bytes(plan))
    assert type(again) is type(plan)
    assert again.policy == plan.policy
    assert again.values.tobytes() == plan.values.tobytes()
    assert [c.to_dict() for c in certificates_of(again)] == [c.to_dict() for c in certificates_of(plan)]
    assert certificates_of(again)
    if hasattr(plan, "mdp"):
        assert (again.mdp.states, again.mdp.actions) == (plan.mdp.states, plan.mdp.actions)
        assert again.lower.tobytes() == plan.lower.tobytes()
        assert verify_model(again, *plan.mdp.table()).holds
        other = plan.mdp.table()[1] + 0.1
        assert not verify_model(again, plan.mdp.table()[0], other).holds
    if hasattr(plan, "trace"):
        assert list(again.trace["objective"]) == list(plan.trace["objective"])


@pytest.mark.parametrize("name", ["value iteration", "finite horizon"])
def test_changed_plans_are_refused(name, tmp_path):
    """A file is bound to its digests, and a rewritten one to its certificate and its process."""
    plan = decisions()[name]
    data = to_bytes(plan)
    with pytest.raises(ModelFileError):
        from_bytes(data[: len(data) // 2])
    parts = zipfile.ZipFile(io.BytesIO(data))
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for member in parts.namelist():
            archive.writestr(member, parts.read(member).replace(b'"loss"', b'"lost"'))
    with pytest.raises(ModelFileError, match="was changed after it was written"):
        from_bytes(changed.getvalue())
    worse = plan.rows.copy()
    worse[..., 0] = plan.mdp.first[0] + (worse[..., 0] + 1 - plan.mdp.first[0]) % 4
    process = copy.copy(plan.mdp)
    process.rewards = plan.mdp.rewards + 1.0
    slower = copy.copy(plan.mdp)
    slower.discount = 0.5
    for change in ({"rows": worse}, {"values": plan.values + 1.0}, {"mdp": process}, {"mdp": slower}):
        forged = dataclasses.replace(plan, **change)
        forged.__dict__["_certificates"] = plan.certificates_
        outcome = verify_model(from_bytes(to_bytes(forged)), *plan.mdp.table())
        assert not outcome.holds, change
