"""Why is a machine not the best one? Other prices, tubes, kernels and labels, for which it is.

Support vector machines for classification (pairs of classes, or one class against the rest), for regression, with ν in
place of the price, and kernel ridge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from certifit._objective import Objective
from certifit._types import Array
from certifit.certificates import Certificate, Data, issue
from certifit.judge._by_hand import certify_dual
from certifit.judge._findings import Candidate, Diagnosis, dense_rows, explained, other_orders, scalings
from certifit.judge._strength import fitting_strengths
from certifit.judge._svm import half_width
from certifit.kernel_ridge._kernel_ridge import ridge_evidence
from certifit.kernels import RBF, Linear, Polynomial, rebuild
from certifit.losses import EpsilonInsensitive, Hinge, Squared, SquaredEpsilonInsensitive, SquaredHinge, best_offset
from certifit.regularizers import SquaredL2
from certifit.solvers.balance import balance
from certifit.svm._crammer_singer import padded
from certifit.svm._linear import linear_evidence_of

TUBES = (EpsilonInsensitive, SquaredEpsilonInsensitive)
_PRICES: tuple[tuple[str, Callable[[int], float]], ...] = (
    ("C/2", lambda n: 0.5), ("2C", lambda n: 2.0), ("C/n", lambda n: 1.0 / n), ("nC", float),
)  # fmt: skip
_PRICE = "It is optimal for {}: is the penalty on the slack a sum or a mean, with ½ or without?"
_OTHER_PRICE = "It is optimal for C = {:.4g}, not {:.4g}: was another C meant, or is a factor wrong?"


def _scaled(words: str) -> str:
    return f"It is optimal for {words}: were they meant to be scaled?"


def diagnose_kernel_machine(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """Dual variables of machines for classification or regression, or coefficients of a kernel ridge."""
    told = c.evidence["objective"]
    several = not isinstance(told, Mapping)
    objectives = [Objective.from_dict(o) for o in (told if several else [told])]
    first = objectives[0]
    if isinstance(first.loss, Squared) and "support" not in c.evidence:
        return _kernel_ridge(c, data, tol, [o.strength for o in objectives])
    if several or "nu" in c.evidence or first.classes is None or len(first.classes) != 2:
        return _several(c, data, tol, objectives)
    return _several(c, data, tol, objectives) if c.evidence["kernel"][0] == "given" else _dual(c, data, tol, first)


# several machines, and machines for regression


@dataclass(frozen=True)
class _Machines:
    """Machines with an expansion in the rows, to be judged by other objectives."""

    c: Certificate
    data: Data
    objectives: list[Objective]

    def judge(
        self,
        factor: float = 1.0,
        sign: float = 1.0,
        kernel: Any = None,
        width: float | None = None,
        rows: Array | None = None,
        order: tuple[int, ...] | None = None,
        **more: Any,
    ) -> Callable[[], Certificate]:
        """The same expansion with the price times ``factor``, or for another kernel, tube, table or order."""

        def issued() -> Certificate:
            e, data = self.c.evidence, self.data
            others = [_priced(o, factor, width) for o in self.objectives]
            if (
                "nu" in e
                and isinstance(others[0].loss, EpsilonInsensitive)
                and (rows is not None or kernel is not None)
            ):
                others = [_priced(o, 1.0, self._own_width(kernel, rows)) for o in others]  # ε follows from ν
            if rows is not None or order is not None:
                data = Data.of(data.X if rows is None else rows, _renamed(data.y, others[0], order), data.sample_weight)
            coef, support = sign * np.asarray(e["coef"], dtype=float), np.asarray(e["support"], dtype=int)
            told = others if len(others) > 1 else others[:1] * len(coef)
            targets = others[0].encode(np.asarray(data.y), data.sample_weight)
            if len(others) > 1:
                targets = tuple(o.encode(np.asarray(data.y), data.sample_weight)[k] for k, o in enumerate(others))
            dual = [
                balance(o.strength * w, t.weights[support] if isinstance(o.loss, (Hinge, EpsilonInsensitive))
                        else np.full(len(support), np.inf)) if o.fit_intercept else o.strength * w
                for o, w, t in zip(told, coef, targets)
            ]  # fmt: skip
            own: dict[str, Any] = {
                "coef": coef,
                "intercept": sign * np.asarray(e["intercept"], dtype=float),
                "dual": -np.array(dual).T,
            }
            own["objective"] = others[0].to_dict() if len(others) == 1 else [o.to_dict() for o in others]
            if kernel is not None:
                own |= kernel.evidence(data.X)
            return issue("duality", data, {**e, **own, **more})

        return issued

    def _own_width(self, kernel: Any, rows: Array | None) -> float:
        """The half width that a machine with ν has on other rows, or by another kernel."""
        e, X = self.c.evidence, dense_rows(self.data) if rows is None else rows
        support, w = np.asarray(e["support"], dtype=int), np.asarray(e["coef"], dtype=float)[0]
        used = X[support]
        scores = (rebuild(e["kernel"]) if kernel is None else kernel)(used, used) @ w + np.ravel(e["intercept"])[0]
        errors = np.abs(np.asarray(self.data.y, dtype=float)[support] - scores)
        return half_width(errors, np.abs(w) / np.asarray(self.data.weights)[support])

    def with_offsets(self) -> Callable[[], Certificate]:
        """With the best offset of each machine."""

        def issued() -> Certificate:
            e, n = self.c.evidence, self.data.X.shape[0]
            support = np.asarray(e["support"], dtype=int)
            K = np.asarray(e["gram"])[:, support] if "gram" in e else None
            K = rebuild(e["kernel"])(self.data.X, self.data.X[support]) if K is None else K
            found = []
            for k, w in enumerate(np.asarray(e["coef"], dtype=float)):
                o = self.objectives[min(k, len(self.objectives) - 1)]
                t = o.encode(np.asarray(self.data.y), self.data.sample_weight)[k]
                found.append(best_offset(o.loss, (K @ w).reshape(n), t.y, t.weights))
            return self.judge(intercept=np.array(found))()

        return issued


def _price(o: Objective) -> float:
    return 1.0 / o.strength if o.class_weight is None else o.class_weight[0]


def _unusual(ratio: float, n: int) -> bool:
    """Whether this is a factor that has no words here."""
    return ratio > 0 and not any(abs(np.log(ratio / factor)) < 1e-6 for factor in (1.0, 0.5, 2.0, 1.0 / n, float(n)))


def _priced(o: Objective, factor: float, width: float | None) -> Objective:
    """Another price, which stands in the weights of the classes or as 1/Λ, and another tube."""
    if o.class_weight is not None:
        o = replace(o, class_weight=tuple(factor * v for v in o.class_weight))
    else:
        o = replace(o, strength=o.strength / factor)
    return o if width is None else replace(o, loss=EpsilonInsensitive(width))


def _renamed(y: Any, o: Objective, order: tuple[int, ...] | None) -> Array:
    """Labels under which the class at position k has the name of the one at position order[k]."""
    labels = np.asarray(y)
    return labels if order is None or o.classes is None else np.asarray(o.classes)[np.asarray(order)[o.codes(labels)]]


def _several(c: Certificate, data: Data, tol: float, objectives: list[Objective]) -> Diagnosis:
    machines, n, loss, classes = (
        _Machines(c, data, objectives),
        data.X.shape[0],
        objectives[0].loss,
        objectives[0].classes,
    )
    found: list[Candidate] = []
    if "nu" in c.evidence:
        found += [*_shares(machines, float(c.evidence["nu"]))]
    if "nu" not in c.evidence or isinstance(loss, EpsilonInsensitive):
        found += [(f"{name} for C", _PRICE.format(name), machines.judge(factor(n))) for name, factor in _PRICES]
        price, top = _price(objectives[0]), float(np.abs(np.asarray(c.evidence["coef"])).max(initial=0.0))
        if _unusual(top / price, n):  # rows outside the margin have multipliers of C
            found.append(("another C", _OTHER_PRICE.format(top, price), machines.judge(top / price)))
    found.append(("wrong sign", "Its negative is optimal: is a sign wrong, or are the labels swapped?",
                  machines.judge(sign=-1.0)))  # fmt: skip
    found.append(("wrong offset", "It is optimal with another offset: was b left out, or not found from rows on the "
                  "margin?", machines.with_offsets()))  # fmt: skip
    if isinstance(loss, EpsilonInsensitive) and loss.epsilon > 0:
        for name, width in (("no tube", 0.0), ("2ε for ε", 2 * loss.epsilon), ("ε/2 for ε", loss.epsilon / 2)):
            asks = "It is optimal for {}: is ε half the width of the tube, or all of it, and was it left out?"
            found.append((name, asks.format(name.split()[0] if width else "ε = 0"), machines.judge(width=width)))
    asks = "It is optimal with the classes in another order: they are sorted, and pairs go (0, 1), (0, 2), …"
    for order in other_orders(len(classes or ())):
        found.append(("classes in another order", asks, machines.judge(order=order)))
    if c.evidence["kernel"][0] != "given":
        kernel = rebuild(c.evidence["kernel"])
        found += [(name, asks, machines.judge(kernel=other)) for name, asks, other in _other_kernels(kernel)]
        found += [(name, _scaled(words), machines.judge(rows=rows)) for name, words, rows in scalings(dense_rows(data))]
    return Diagnosis(c, False, explained(c, tol, found))


def _shares(machines: _Machines, nu: float) -> Iterator[Candidate]:
    """Multipliers that add up to another share of the rows.

    A classifier is divided by its margin, so that its price follows from ν; other machines have theirs beside it.
    """
    o, w = machines.objectives[0], np.abs(np.asarray(machines.c.evidence["coef"], dtype=float)[0])
    limits = o.encode(np.asarray(machines.data.y), machines.data.sample_weight)[0].weights
    of_margin, names = o.classes is not None, {"ν/2": nu / 2, "2ν": 2 * nu, "1 − ν": 1 - nu, "ν²": nu * nu}
    top = float(w.max(initial=0.0)) if of_margin else 1.0 / o.strength
    rows = float(np.count_nonzero(limits)) if of_margin else float(limits.sum())
    own = float(w.sum()) / (top * rows) if top > 0 and rows else nu
    for name, share in {**names, f"ν = {own:.4g}": own}.items():
        usual = name in names
        if 0 < share <= 1 and share != nu and (usual or not np.isclose([*names.values(), nu], share, rtol=1e-6).any()):
            asks = f"The multipliers add up to {name} of the rows: is ν the share that may be on the wrong side?"
            judged = machines.judge(nu / share if of_margin else 1.0, nu=share)
            yield (f"{name} for ν" if usual else "another ν"), asks, judged


# linear machines, one class against the rest


def linear_machines(c: Certificate) -> bool:
    """Whether a certificate is about linear machines with a price for each class, as `LinearSVC` has them."""
    told = c.evidence["objective"]
    if not isinstance(told, Mapping):
        return False
    o = Objective.from_dict(told)
    return isinstance(o.loss, (Hinge, SquaredHinge)) and o.class_weight is not None and o.regularizer == SquaredL2(0.5)


def diagnose_linear_machines(c: Certificate, data: Data, tol: float) -> Diagnosis:
    """A slip has to explain all machines."""
    o = Objective.from_dict(c.evidence["objective"])
    assert o.classes is not None
    assert o.class_weight is not None
    W, b = np.atleast_2d(c.evidence["coef"]), np.ravel(c.evidence["intercept"])
    share = dict(zip(o.classes, o.class_weight)) if len(set(o.class_weight)) > 1 else None
    model = SimpleNamespace(
        coef_=W, intercept_=b, classes_=o.classes, C=1.0 if share else o.class_weight[0], loss=o.loss.name,
        fit_intercept=o.fit_intercept, class_weight=share, intercept_scaling=o.padding or 1.0,
    )  # fmt: skip
    dense, n, other = dense_rows(data), data.X.shape[0], "hinge" if o.loss.name == "squared_hinge" else "squared_hinge"

    def judge(rows: Array = dense, padded: bool = o.padding is not None, **more: Any) -> Callable[[], Certificate]:
        def issued() -> Certificate:
            changed = SimpleNamespace(**{**vars(model), **more})
            kind, evidence = linear_evidence_of(changed, rows, data.y, data.sample_weight, own_objective=padded)
            return issue(kind, Data.of(rows, data.y, data.sample_weight), evidence)

        return issued

    found: list[Candidate] = [
        *((f"{name} for C", _PRICE.format(name), judge(C=model.C * factor(n))) for name, factor in _PRICES),
        ("wrong sign", "Its negative is optimal: is a sign wrong, or are the labels swapped?",
         judge(coef_=-W, intercept_=-b)),
        ("other loss", "It is optimal for the other loss of its kind: is the hinge squared, or is it not?",
         judge(loss=other)),
    ]  # fmt: skip
    if o.fit_intercept and o.padding is None:
        asks = "It is optimal for a penalty that includes the offset: did you penalise the offset?"
        found.append(("penalised offset", asks, judge(padded=True)))
    if o.padding is not None:
        found.append(("offset not penalised", "It is optimal with a free offset: the penalty asked for includes it, "
                      "did yours?", judge(padded=False)))  # fmt: skip
    if o.fit_intercept and not np.any(b):
        asks = "It is optimal among models without an offset: did you forget the offset?"
        found.append(("forgotten offset", asks, judge(padded=False, fit_intercept=False)))
    found += [(name, _scaled(words), judge(rows)) for name, words, rows in scalings(dense)]
    asks = "It is optimal for centred columns: did you forget to correct the offset?"
    found.append(("centred columns", asks, judge(dense - dense.mean(axis=0))))
    if share is None and (price := _linear_price(o, W[:1], b[:1], data)) and _unusual(price / model.C, n):
        found.append(("another C", _OTHER_PRICE.format(price, model.C), judge(C=price)))
    for order in map(list, other_orders(len(W))):
        asks = f"It is optimal with its lines in the order {order}: the classes are sorted."
        found.append(("classes in another order", asks, judge(coef_=W[order], intercept_=b[order])))
    return Diagnosis(c, False, explained(c, tol, found))


def _linear_price(o: Objective, w: Array, b: Array, data: Data) -> float | None:
    """The C for which the first machine may be optimal: λ = 1/(C Σ sᵢ) in the objective of means."""
    target, X = o.encode(np.asarray(data.y), data.sample_weight)[0], dense_rows(data)
    offset: Array | None = b if o.fit_intercept else None
    if offset is not None and o.padding is not None:
        X, w, offset = padded(X, o.padding), np.column_stack([w, b / o.padding]), None
    total = float(np.sum(data.weights))
    found = fitting_strengths(o.loss, SquaredL2(0.5), w, offset, X, target.y, np.asarray(data.weights) / total)
    return None if found is None else 1.0 / (found.named(1.0, len(X))[0] * total)


# two classes, and kernel ridge


def _other_kernels(kernel: Any) -> list[tuple[str, str, Any]]:
    """The kernel with another parameter, and another kernel."""
    found: list[tuple[str, str, Any]] = []
    if isinstance(kernel, RBF):
        for words, gamma in (("2γ", 2 * kernel.gamma), ("γ/2", kernel.gamma / 2), ("γ²", kernel.gamma**2)):
            asks = f"It is optimal for {words} in place of γ: is the exponent −γ‖x − z‖² or −‖x − z‖²/(2σ²)?"
            found.append((f"{words} for γ", asks, RBF(gamma)))
    if isinstance(kernel, Polynomial):
        for words, other in (
            ("without the constant", replace(kernel, offset=0.0)),
            ("with a constant of one", replace(kernel, offset=1.0)),
            ("of one degree less", replace(kernel, degree=max(1, kernel.degree - 1))),
            ("of one degree more", replace(kernel, degree=kernel.degree + 1)),
        ):
            if other != kernel:
                found.append((f"kernel {words}", f"It is optimal for the kernel {words}: (γ x·z + c)^p?", other))
    if not isinstance(kernel, Linear):
        found.append(("linear kernel", "It is optimal for the linear kernel x·z: was the kernel applied?", Linear()))
    return found


def _dual(c: Certificate, data: Data, tol: float, told: Objective) -> Diagnosis:
    kernel = rebuild(c.evidence["kernel"])
    alpha = np.zeros(len(np.asarray(data.y)))
    alpha[np.asarray(c.evidence["support"], dtype=int)] = np.abs(np.asarray(c.evidence["coef"])).ravel()
    C, n = _price(told), len(alpha)

    def judge(a: Array, cost: float, labels: Array, k: Any = kernel) -> Callable[[], Certificate]:
        return lambda: certify_dual(a, data.X, labels, cost, k)

    labels = np.asarray(data.y)
    first, second = np.unique(labels)
    candidates: list[Candidate] = [
        (f"{name} for C", _PRICE.format(name), judge(alpha, C * factor(n), labels)) for name, factor in _PRICES
    ]
    top = float(alpha.max(initial=0.0))
    if _unusual(top / C, n):
        candidates.append(("another C", _OTHER_PRICE.format(top, C), judge(alpha, top, labels)))
    swapped = np.where(labels == first, second, first)
    candidates += [
        ("labels swapped", "It is optimal with the labels exchanged.", judge(alpha, C, swapped)),
        ("half of α", "Twice these multipliers are optimal: is a factor ½ missing in the dual?",
         judge(2 * alpha, C, labels)),
        ("twice α", "Half of these multipliers are optimal: is a factor ½ too many in the dual?",
         judge(alpha / 2, C, labels)),
        ("no upper limit", "It is optimal for a hard margin: is α ≤ C missing?",
         judge(alpha, 1e3 * max(C, float(alpha.max(initial=0.0))), labels)),
        *((name, asks, judge(alpha, C, labels, other)) for name, asks, other in _other_kernels(kernel)),
    ]  # fmt: skip
    candidates += [(name, _scaled(words), partial(certify_dual, alpha, rows, labels, C, kernel))
                   for name, words, rows in scalings(dense_rows(data))]  # fmt: skip
    return Diagnosis(c, False, explained(c, tol, candidates))


def _kernel_ridge(c: Certificate, data: Data, tol: float, strengths: list[float]) -> Diagnosis:
    coef, alpha, n = np.asarray(c.evidence["coef"], dtype=float).T, np.array(strengths), data.X.shape[0]
    given = c.evidence["kernel"][0] == "given"
    kernel: Any = None if given else rebuild(c.evidence["kernel"])

    def judge(a: Array, factor: float = 1.0, other: Any = None, rows: Any = None) -> Callable[[], Certificate]:
        def issued() -> Certificate:
            strength = alpha * factor
            if given:
                evidence = ridge_evidence(Linear(), data.X, a, strength)
                evidence |= {"kernel": c.evidence["kernel"], "gram": c.evidence["gram"]}
            else:
                evidence = ridge_evidence(kernel if other is None else other, data.X, a, strength)
            return issue("duality", data if rows is None else Data.of(rows, data.y, data.sample_weight), evidence)

        return issued

    factors = {"λ/2": 0.5, "2λ": 2.0, "λ/n": 1.0 / n, "λn": float(n), "λ/(2n)": 0.5 / n, "λ²": float(alpha[0])}
    candidates: list[Candidate] = [
        (f"{name} for λ", f"It is optimal for {name}: is the loss a sum or a mean, with ½ or without?",
         judge(coef, factor)) for name, factor in factors.items() if factor != 1.0
    ]  # fmt: skip
    K = np.asarray(c.evidence["gram"]) if given else kernel(data.X)
    rest = np.asarray(data.y, dtype=float).reshape(coef.shape) - K @ coef  # λ times the coefficients at the optimum
    found = float(np.sum(rest * coef)) / max(float(np.sum(coef * coef)), 1e-300)
    if found > 0 and _unusual(found / alpha[0], n):
        asks = f"It is optimal for λ = {found:.4g}, not {alpha[0]:.4g}: is a factor or a power wrong in the objective?"
        candidates.append(("another penalty", asks, judge(coef, found / alpha[0])))
    candidates.append(("wrong sign", "Its negative is optimal: is a sign wrong?", judge(-coef)))
    candidates.append(("no penalty", "It is optimal without a penalty: did you leave λ out?", judge(coef, 1e-9)))
    if kernel is not None:
        candidates += [(name, asks, judge(coef, 1.0, other)) for name, asks, other in _other_kernels(kernel)]
        candidates += [(name, _scaled(words), judge(coef, rows=X)) for name, words, X in scalings(dense_rows(data))]
    return Diagnosis(c, False, explained(c, tol, candidates))
