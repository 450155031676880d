"""Judging support vector machines and kernel ridge: the dual solution is the model's own, or ours."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from certifit._errors import UnknownModelError
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.judge._registry import model_name, reads
from certifit.kernel_ridge._kernel_ridge import ridge_evidence
from certifit.kernels import NAMES, Function, Kernel
from certifit.kernels._choice import choose
from certifit.svm._evidence import evidence_of
from certifit.svm._linear import linear_evidence_of

_KERNELS = {"polynomial": "poly"}


def _check_machine(model: Any, data: Data) -> None:
    """One sentence where the machines of the model are not those of the objective, or y lacks one of its classes."""
    if getattr(model, "penalty", "l2") != "l2" or getattr(model, "multi_class", "ovr") != "ovr":
        raise UnknownModelError(
            f"certify judges linear machines with penalty='l2' and one class against the rest, not penalty="
            f"{model.penalty!r} with multi_class={getattr(model, 'multi_class', 'ovr')!r}."
        )
    seen = np.unique(np.asarray(data.y))
    if len(seen) != len(model.classes_):
        raise ValueError(f"The model tells {len(model.classes_)} classes apart, and y holds {len(seen)} of them.")


@reads("SVC")
def _svc(model: Any, data: Data, rigor: Rigor) -> Certificate:
    _check_machine(model, data)
    kind, evidence = evidence_of(model, data.X, data.y, data.sample_weight)
    return issue(kind, data, evidence, rigor)


@reads("LinearSVC")
def _linear_svc(model: Any, data: Data, rigor: Rigor) -> Certificate:
    """By the model's own objective: liblinear's penalises the offset, certifit's does not."""
    _check_machine(model, data)
    own = model_name(model) is not None
    kind, evidence = linear_evidence_of(model, data.X, data.y, data.sample_weight, own_objective=own)
    return issue(kind, data, evidence, rigor)


@reads("LinearSVC", objective="true")
def _linear_svc_true(model: Any, data: Data, rigor: Rigor) -> Certificate:
    """By the true objective, whose offset is free."""
    _check_machine(model, data)
    kind, evidence = linear_evidence_of(model, data.X, data.y, data.sample_weight, own_objective=False)
    return issue(kind, data, evidence, rigor)


def judge_hinge(model: Any, data: Data, rigor: Rigor) -> Certificate:
    """An SGDClassifier with hinge loss: mean loss + α/2‖w‖² is C Σ loss + ½‖w‖² with C = 1/(αn), scaled."""
    _check_machine(model, data)
    weight = model.class_weight
    if isinstance(weight, str):  # it counts rows, not weights
        labels, counts = np.unique(np.asarray(data.y), return_counts=True)
        weight = dict(zip(labels.tolist(), (counts.sum() / (len(labels) * counts)).tolist()))
    shown = SimpleNamespace(
        coef_=model.coef_,
        intercept_=model.intercept_,
        classes_=model.classes_,
        C=1.0 / (float(model.alpha) * data.X.shape[0]),
        loss=model.loss,
        fit_intercept=model.fit_intercept,
        class_weight=weight,
    )
    kind, evidence = linear_evidence_of(shown, data.X, data.y, data.sample_weight)
    return issue(kind, data, evidence, rigor)


def _pairwise(model: Any) -> Kernel:
    """A kernel of scikit-learn's that has no formula here, or a function of two rows."""

    def values(A: Any, B: Any) -> Any:
        named = {} if callable(model.kernel) else {"filter_params": True}
        own = {"gamma": model.gamma, "degree": model.degree, "coef0": model.coef0}
        params = (model.kernel_params or {}) if callable(model.kernel) else own
        return pairwise_kernels(A, B, metric=model.kernel, **named, **params)

    return Function(values)


@reads("KernelRidge")
def _kernel_ridge(model: Any, data: Data, rigor: Rigor) -> Certificate:
    name = _KERNELS.get(model.kernel, model.kernel) if isinstance(model.kernel, str) else model.kernel
    foreign = model_name(model) is not None and (callable(name) or name not in NAMES)
    kernel = _pairwise(model) if foreign else choose(name, model.gamma, model.degree, model.coef0, data.X)[0]
    targets = np.asarray(data.y, dtype=float).reshape(data.X.shape[0], -1).shape[1]
    alpha = np.broadcast_to(np.asarray(model.alpha, dtype=float), (targets,))
    coef = np.asarray(model.dual_coef_, dtype=float).reshape(data.X.shape[0], -1)
    return issue("duality", data, ridge_evidence(kernel, data.X, coef, alpha), rigor)
