"""Judging support vector machines and kernel ridge: the dual solution is the model's own, or ours."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import pairwise_kernels

from certifit._objective import Objective
from certifit._types import Array, BaseEstimator
from certifit.certificates import Certificate, Data, issue
from certifit.certificates._data import Rigor
from certifit.exceptions import UnknownModelError
from certifit.judge._registry import FOREIGN, TRUE_READERS, model_name, reads
from certifit.kernel_ridge._kernel_ridge import ridge_evidence
from certifit.kernels import NAMES, Function, Kernel, rows
from certifit.kernels._choice import choose
from certifit.losses import EpsilonInsensitive, Hinge
from certifit.regularizers import SquaredL2
from certifit.solvers import dual as points
from certifit.solvers.balance import balance
from certifit.svm import LinearSVR
from certifit.svm._crammer_singer import padded
from certifit.svm._evidence import evidence_of, hinge_objective, machine_evidence
from certifit.svm._labels import pairs_of
from certifit.svm._linear import linear_evidence_of

_KERNELS = {"polynomial": "poly"}
_PARTS = ("kernel", "gamma", "_gamma", "degree", "coef0", "classes_", "support_", "dual_coef_", "intercept_",
          "support_vectors_")  # fmt: skip


def _check_machine(model: BaseEstimator, data: Data) -> None:
    """One sentence where the machines of the model are not those of the objective, or y lacks one of its classes."""
    if getattr(model, "penalty", "l2") != "l2" and getattr(model, "multi_class", "ovr") == "ovr":
        raise UnknownModelError(f"certify supports linear SVMs with penalty='l2', not penalty={model.penalty!r}.")
    seen = np.unique(np.asarray(data.y))
    if len(seen) != len(model.classes_):
        raise ValueError(f"The model has {len(model.classes_)} classes, and y contains {len(seen)} of them.")


@reads("SVC")
def _svc(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    _check_machine(model, data)
    kind, evidence = evidence_of(model, data.X, data.y, data.sample_weight)
    return issue(kind, data, evidence, rigor)


@reads("LinearSVC")
def _linear_svc(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """By the model's own objective: liblinear's penalises the offset, certifit's does not."""
    _check_machine(model, data)
    own = model_name(model) is not None or model.multi_class == "crammer_singer"
    kind, evidence = linear_evidence_of(model, data.X, data.y, data.sample_weight, own_objective=own)
    return issue(kind, data, evidence, rigor)


@reads("LinearSVC", table=TRUE_READERS)
def _linear_svc_true(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """By the true objective, whose offset is free."""
    _check_machine(model, data)
    if getattr(model, "multi_class", "ovr") == "crammer_singer" and model.fit_intercept:
        raise UnknownModelError("multi_class='crammer_singer' penalises the offset: leave objective='true' out.")
    kind, evidence = linear_evidence_of(model, data.X, data.y, data.sample_weight, own_objective=False)
    return issue(kind, data, evidence, rigor)


def judge_hinge(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
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


def _expansion(model: BaseEstimator, data: Data) -> tuple[Kernel, Any, Array, Array]:
    """Kernel, rows, support and multipliers of another library's machine."""
    rows_of_x = np.asarray(data.X, dtype=float) if model.kernel == "precomputed" else rows(data.X)
    kernel, _ = choose(model.kernel, getattr(model, "_gamma", model.gamma), model.degree, model.coef0, rows_of_x)
    dual = model.dual_coef_
    multipliers = np.ravel(dual.toarray() if scipy.sparse.issparse(dual) else np.asarray(dual, dtype=float))
    return kernel, rows_of_x, np.asarray(model.support_, dtype=int), multipliers


@reads("SVR", "NuSVR", table=FOREIGN)
def _tube(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Another library's SVR or NuSVR, by its own expansion and offset; its dual is the same expansion, repaired."""
    _check_numbers(data)
    (kernel, X, support, beta), price = _expansion(model, data), float(model.C)
    weights, share = np.asarray(data.weights, dtype=float), {}
    if "nu" in model.get_params():
        K = X[:, support] if model.kernel == "precomputed" else kernel(X, X[support])
        errors = np.abs(np.asarray(data.y, dtype=float) - K @ beta - float(np.ravel(model.intercept_)[0]))
        width, share = half_width(errors[support], np.abs(beta) / weights[support]), {"nu": float(model.nu)}
        # Only a tube of no width may have fewer multipliers than ν: nothing is then claimed of their share.
        few = np.abs(beta).sum() < float(model.nu) * price * weights.sum() * (1.0 - 1e-6)
        if few and width <= 2.0 * float(model.tol):
            width, share = 0.0, {}
    else:
        width = float(model.epsilon)
    objective = Objective(EpsilonInsensitive(width), SquaredL2(0.5), 1.0 / price, stated="sum")
    repaired = balance(beta / price, weights[support])
    evidence = machine_evidence(
        kernel, X, objective, support, beta[:, None], np.ravel(model.intercept_), repaired[:, None]
    )
    return issue("duality", data, evidence | share, rigor)


def half_width(errors: Array, sizes: Array) -> float:
    """ε of a tube by its support vectors: rows on its edge have multipliers below the limit that rows outside reach.

    Where all multipliers are alike, the row nearest to the tube stands for the edge.
    """
    edge = sizes < sizes.max(initial=0.0) * (1.0 - 1e-8)
    return float(np.median(errors[edge]) if edge.any() else errors.min(initial=np.inf)) if len(errors) else 0.0


@reads("OneClassSVM", table=FOREIGN)
def _one_class(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Another library's OneClassSVM: divided by the height ρ of its hyperplane, a machine that wants 1 of every row."""
    (kernel, X, support, alpha), height = _expansion(model, data), float(np.ravel(model.offset_)[0])
    if not height > float(model.tol):
        raise UnknownModelError(
            f"The height ρ = {height:.1e} of this OneClassSVM's hyperplane is not above its tolerance {model.tol:g}: "
            "it may go through the origin, and w cannot be divided by ρ."
        )
    ones = Data.of(data.X, np.ones(data.X.shape[0]), data.sample_weight)
    objective = Objective(Hinge(), SquaredL2(0.5), height, fit_intercept=False, stated="sum")
    columns = alpha[:, None]
    evidence = machine_evidence(kernel, X, objective, support, columns / height, np.zeros(1), columns)
    return issue("duality", ones, evidence | {"nu": float(model.nu)}, rigor)


@reads("LinearSVR", table=FOREIGN)
def _linear_tube(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Another library's LinearSVR, by its own objective, which penalises the offset; the dual solution is ours."""
    _check_numbers(data)
    X, offset, scale = rows(data.X), bool(model.fit_intercept), float(getattr(model, "intercept_scaling", 1.0))
    X = padded(X, scale if offset else None)
    own = {"epsilon": float(model.epsilon), "C": float(model.C), "loss": model.loss}
    best = LinearSVR(**own, fit_intercept=False, tol=1e-9, max_iter=100_000).fit(
        X, np.asarray(data.y), data.sample_weight
    )
    told = Objective.from_dict(best.certificate_.evidence["objective"])
    told = replace(told, fit_intercept=offset, padding=scale if offset else None)
    evidence = points.evidence_of(told, model.coef_, np.ravel(model.intercept_)) | {
        "dual": best.certificate_.evidence["dual"]
    }
    return issue("duality", data, evidence, rigor)


@reads("NuSVC", table=FOREIGN)
def _share(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    """Another library's NuSVC: divided by the margin it is SVC, each pair with the price at which Σ|α| = νCn."""
    _check_machine(model, data)
    if model.class_weight is not None or data.sample_weight is not None:
        raise UnknownModelError(
            "certify supports NuSVC of other libraries only without sample_weight and class_weight."
        )
    shown = SimpleNamespace(**{name: getattr(model, name) for name in _PARTS}, C=1e300)
    _, evidence = evidence_of(shown, data.X, data.y)
    codes, coef = np.searchsorted(model.classes_, np.asarray(data.y)), evidence["coef"]
    counts, nu = np.bincount(codes), float(model.nu)
    pairs = pairs_of(len(counts))
    prices = [float(np.abs(w).sum()) / (nu * float(counts[i] + counts[j])) for w, (i, j) in zip(coef, pairs)]
    dual = np.array([balance(w, np.full(len(w), price)) for w, price in zip(coef, prices)])
    told = [hinge_objective(model.classes_, np.full(len(counts), price)) for price in prices]
    stated = told[0].to_dict() if len(told) == 1 else [o.to_dict() for o in told]
    return issue("duality", data, evidence | {"objective": stated, "dual": -dual.T, "nu": nu}, rigor)


def _check_numbers(data: Data) -> None:
    if data.y is None or not data.shapes_agree() or np.asarray(data.y).dtype.kind not in "biuf":
        raise ValueError(f"y must contain a number for each of the {data.X.shape[0]} rows of X.")


def _pairwise(model: BaseEstimator) -> Kernel:
    """A kernel of scikit-learn's that has no formula here, or a function of two rows."""

    def values(A: Any, B: Any) -> Any:
        named = {} if callable(model.kernel) else {"filter_params": True}
        own = {"gamma": model.gamma, "degree": model.degree, "coef0": model.coef0}
        params = (model.kernel_params or {}) if callable(model.kernel) else own
        return pairwise_kernels(A, B, metric=model.kernel, **named, **params)

    return Function(values)


@reads("KernelRidge")
def _kernel_ridge(model: BaseEstimator, data: Data, rigor: Rigor) -> Certificate:
    name = _KERNELS.get(model.kernel, model.kernel) if isinstance(model.kernel, str) else model.kernel
    foreign = model_name(model) is not None and (callable(name) or name not in NAMES)
    kernel = _pairwise(model) if foreign else choose(name, model.gamma, model.degree, model.coef0, data.X)[0]
    targets = np.asarray(data.y, dtype=float).reshape(data.X.shape[0], -1).shape[1]
    alpha = np.broadcast_to(np.asarray(model.alpha, dtype=float), (targets,))
    coef = np.asarray(model.dual_coef_, dtype=float).reshape(data.X.shape[0], -1)
    return issue("duality", data, ridge_evidence(kernel, data.X, coef, alpha), rigor)
