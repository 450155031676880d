"""Naive Bayes: the estimates are the (smoothed) counts, means and variances of the data.

Discrete cells. In class c a group of cells with weighted counts n_k has the estimate
p*_k = (n_k + α_k) / Σ(n + α), the maximum of the log posterior Σ (n_k + α_k) log p_k under the Dirichlet prior
with parameters α + 1. On the simplex its gradient vanishes exactly where (n_k + α_k)/p_k is the same for all k,
and for stated p the log posterior is below its maximum by at most Σ(n + α) · (χ² + |1 − Σp|), χ² = Σ(p*−p)²/p.

Gaussian columns. With r₁ = Σw(x − θ) and r₂ = Σw(x − θ)² about the stated mean θ, the exact mean is θ + r₁/W and
the exact variance r₂/W − (r₁/W)²; both are compared with what is stated. Recounting is done here in plain NumPy.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._types import Array, Matrix
from certifit.certificates._ball import UNIT, Ball, ball, rationals
from certifit.certificates._by_class import (
    class_codes,
    class_totals,
    dense_blocks,
    deviation_sums,
    present_classes,
    value_sums,
)
from certifit.certificates._data import Data, Evidence, Figures, Rigor
from certifit.certificates._figures import above
from certifit.certificates._record import Check, Kind, Proof, about, equal, register, upper
from certifit.certificates._schema import FINITE, LABELS, LISTS, LOGARITHMS, NUMBER, WHOLE, word

_MEAN = 1e-9  # a mean may be off by this many standard deviations, plus the spacing of floats there
SHARE_ERROR = 1e-8  # a variance or a probability may be off by this share
CLASS_SHARES = {"classes": LABELS, "class_prior": FINITE, "prior_rule": word("data", "uniform", "given")}


def read_classes(data: Data, evidence: Evidence) -> tuple[Array, Array, Check]:
    """The classes, the code of each row, and whether every row that counts has a class of the model."""
    classes = np.asarray(evidence["classes"])
    codes = class_codes(data.y, classes)
    counted = codes if data.sample_weight is None else codes[data.weights > 0]
    return classes, codes, Check("every label is a known class", bool(np.all(counted >= 0)))


def prior_check(evidence: Evidence, total: Ball) -> tuple[float, Check]:
    """Class shares: given by the user, uniform, or those of the data."""
    stated = np.asarray(evidence["class_prior"], dtype=float)
    if stated.shape != total.shape or not np.all(np.isfinite(stated)):
        raise ValueError("one finite share per class is needed")
    if evidence["prior_rule"] not in ("data", "given", "uniform"):
        raise ValueError(f"unknown rule for the class shares: {evidence['prior_rule']!r}")
    if evidence["prior_rule"] == "given":
        return 0.0, Check("the class shares are not negative", bool(np.all(stated >= 0)), "given by the user")
    if evidence["prior_rule"] == "uniform":
        error = float(np.max(above((ball(stated, like=total) * float(len(stated)) - 1.0).magnitude)))
        return error, Check("the class shares are equal", error <= 1e-12, f"off by {error:.1e}")
    share = total / total.sum()
    error = float(np.max(above((share - stated).magnitude)))
    return error, Check("the class shares are those of the data", error <= 1e-12, f"off by {error:.1e}")


def _prior_words(evidence: Evidence) -> str:
    """Where the class shares come from."""
    rule = evidence["prior_rule"]
    return "class shares as given" if rule == "given" else "equal class shares" if rule == "uniform" else ""


def _prior_note(evidence: Evidence) -> str:
    """The same in brackets, where there is something to say."""
    words = _prior_words(evidence)
    return f" ({words})" if words else ""


def check_shape(shape: tuple[int, ...], **arrays: Array) -> None:
    """ValueError for an array that is not of its shape: broadcasting would hide it."""
    for name, array in arrays.items():
        if array.shape != shape:
            raise ValueError(f"{name} has the shape {array.shape}, not {shape}")


def parameter(evidence: Evidence, name: str) -> tuple[Array, Check]:
    """A parameter that must be finite and not negative, and whether it is."""
    value = np.asarray(evidence[name], dtype=float)
    return value, Check(f"{name} is finite and not negative", bool(np.all(np.isfinite(value) & (value >= 0))))


def alpha_words(evidence: Evidence) -> str:
    alpha = np.ravel(np.asarray(evidence["alpha"], dtype=float))
    low, high = float(alpha.min()), float(alpha.max())
    return f"α = {low:g}" if low == high else f"α from {low:g} to {high:g}"


# -- Gaussian columns -----------------------------------------------------------------------------------
def _no_zero(W: Ball) -> Ball:
    """Weights to divide by: one where there is none (the sums over nothing are zero there)."""
    none = np.asarray(W.mid, dtype=float) == 0.0
    return Ball(np.where(none, ball(np.float64(1.0), like=W).mid, W.mid), np.where(none, W.rad * 0, W.rad))


def exact_moments(W: Ball, r1: Ball, r2: Ball) -> tuple[Ball, Ball]:
    """Error of the stated mean, and the exact variance."""
    shift = r1 / W
    return shift, r2 / W - shift.square()


def _column_variance(W: Ball, shift: Ball, variance: Ball, theta: Array) -> Ball:
    """Variance of each column over all classes: within plus between."""
    centre = ball(theta.mean(axis=0), like=W)
    offset = (ball(theta, like=W) - centre) + shift
    total = _no_zero(W.sum(axis=0))
    mean = (W * offset).sum(axis=0) / total
    return (W * (variance + (offset - mean).square())).sum(axis=0) / total


def gaussian_checks(shift: Ball, want: Ball, theta: Array, var: Array) -> tuple[dict[str, Any], tuple[Check, ...]]:
    """Stated means (off by ``shift``) and variances against those that are wanted."""
    std = np.sqrt(var)
    spacing = 16 * UNIT * np.abs(theta)
    off, wrong = above(shift.magnitude), above((want - var).magnitude)
    # Where the variance is zero every value of the class is the same number, and its mean is that number.
    same = (off < 2.0**-60 * np.abs(theta)) | ((shift.mid.astype(float) == 0.0) & (off < 1e-150))
    mean_ok = bool(np.all(np.where(std > 0.0, off <= _MEAN * std + spacing, same)))
    var_ok = bool(np.all(wrong <= SHARE_ERROR * var + spacing**2))
    unit = np.where(std > 0, std, 1.0)
    mean_error, var_error = float(np.max(off / unit)), float(np.max(wrong / np.where(var > 0, var, 1.0)))
    figures = {"mean_error": upper(mean_error), "variance_error": upper(var_error)}
    return figures, (
        Check("each mean is that of the data", mean_ok, f"off by {mean_error:.1e} standard deviations"),
        Check("each variance is that of the data", var_ok, f"relative error {var_error:.1e}"),
    )


@register
class GaussianCounts(Kind):
    """Shares, means and variances per class are those of the data.

    Evidence: ``classes``, ``class_count``, ``class_prior``, ``prior_rule``, ``theta``, ``var``, ``var_smoothing``.
    """

    name = "gaussian-counts"
    theorem = "maximum likelihood for a Gaussian: the sample mean and the sample variance"
    needs: ClassVar = {**CLASS_SHARES, "class_count": FINITE, "theta": FINITE, "var": FINITE, "var_smoothing": NUMBER}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        classes, codes, known = read_classes(data, evidence)
        theta, var = (np.asarray(evidence[k], dtype=float) for k in ("theta", "var"))
        check_shape((len(classes), data.X.shape[1]), theta=theta, var=var)
        W, r1, r2 = deviation_sums(data, data.X, None, codes, theta, rigor)
        shift, variance = exact_moments(W, r1, r2)
        spread = _column_variance(W, shift, variance, theta)
        smoothing, sane = parameter(evidence, "var_smoothing")
        epsilon = spread.max() * ball(smoothing, like=spread)
        figures, more = gaussian_checks(shift, variance + epsilon, theta, var)
        total = W[:, 0]
        error, prior = prior_check(evidence, total)
        count = above((total - np.asarray(evidence["class_count"])).magnitude)
        counted = bool(np.all(count <= 1e-12 * np.asarray(evidence["class_count"])))
        figures |= {"prior_error": upper(error), "rows": equal(int(data.X.shape[0]))}
        return Proof(figures, (known, sane, Check("the class counts are those of the data", counted), prior, *more))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        prior, smoothing = _prior_words(evidence), float(evidence["var_smoothing"])
        added = f" with {smoothing:g} of the largest column variance added" if smoothing > 0 else ""
        return (
            f"Every {'' if prior else 'class share, '}mean and variance is that of the {figures['rows']} rows"
            f"{_prior_note(evidence)}: means to {figures['mean_error']:.1e} standard deviations, "
            f"variances{added} to {figures['variance_error']:.1e}."
        )


# -- Discrete cells -------------------------------------------------------------------------------------
def count_cells(data: Data, codes: Array, K: int, cells: Any, width: int, rigor: Rigor) -> Ball:
    """Σ w · cells(block) per class; ``cells`` turns a block of X into a (rows, width) matrix of counts."""
    if rigor != "exact":
        return value_sums(data, codes, K, cells, width)
    sums = [Ball(rationals(np.zeros(width)))] * K
    for rows, block in dense_blocks(data.X, "float"):
        table = cells(block, rows)
        for c in present_classes(codes[rows]):
            mine = codes[rows] == c
            w = ball(data.weights[rows][mine][:, None], like=sums[c])
            sums[c] = sums[c] + (ball(table[mine], like=sums[c]) * w).sum(axis=0)
    # An empty class keeps exact zeros.
    return Ball(np.array([s.mid for s in sums]), np.array([np.broadcast_to(s.rad, s.mid.shape) for s in sums]))


def _indicator(column: Array, size: int) -> Array:
    """One column of category numbers as 0/1 columns; anything else than 0 … size−1 gives a row of zeros."""
    return np.asarray((column[:, None] == np.arange(size)[None, :]).astype(float))


def read_cells(evidence: Evidence, d: int) -> tuple[Any, Array, int]:
    """How a model reads a row: the counting function, the group of each cell, the number of groups."""
    model = evidence["model"]
    if model == "multinomial":
        return (lambda block, rows: block), np.zeros(d, dtype=int), 1
    if model == "bernoulli":
        threshold = evidence.get("binarize")

        def pairs(block: Array, rows: slice) -> Array:
            on = block if threshold is None else (block > threshold).astype(float)
            return np.hstack([1.0 - on, on])

        return pairs, np.tile(np.arange(d), 2), d
    if model == "categorical":
        sizes = [int(m) for m in evidence["n_categories"]]

        def codes(block: Array, rows: slice) -> Array:
            return np.hstack([_indicator(block[:, j], m) for j, m in enumerate(sizes)])

        return codes, np.repeat(np.arange(d), sizes), d
    raise ValueError(f"unknown model {model!r}")


def _inside(X: Matrix, sizes: Any) -> bool:
    """Whether every cell is a category number 0 … size − 1: none is left uncounted."""
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    return bool(np.all((dense >= 0) & (dense < np.asarray(sizes)) & (dense == np.rint(dense))))


def spread_alpha(alpha: Array, group: Array, model: str) -> Array:
    """Pseudo-counts per cell from one number or one per feature."""
    if alpha.ndim == 0:
        return np.full(len(group), float(alpha))
    features = len(group) if model == "multinomial" else int(group.max(initial=-1)) + 1
    check_shape((features,), alpha=alpha)
    return alpha if model == "multinomial" else alpha[group]


def _by_group(values: Ball, group: Array, groups: int) -> Ball:
    """Sums over the cells of each group, spread back over its cells."""
    parts = [values[:, group == g].sum(axis=1) for g in range(groups)]
    mid = np.stack([p.mid for p in parts], axis=1)[:, group]
    rad = np.stack([p.rad for p in parts], axis=1)[:, group]
    return Ball(mid, rad)


def discrete_proof(counts: Ball, alpha: Array, p: Ball, group: Array, groups: int) -> tuple[dict[str, Any], Any]:
    """Figures and checks of stated probabilities p against counts + α (see the module docstring)."""
    check_shape(counts.shape, probabilities=p.mid)
    smooth = counts + ball(alpha, like=counts)
    total = _by_group(smooth, group, groups)
    best = smooth / total
    error = above((best - p).magnitude)
    size = np.abs(np.asarray(p.mid, dtype=float))
    sums = _by_group(p, group, groups)
    off = above((sums - np.float64(1.0)).magnitude)
    scale = np.where(size > 0, size, 1.0)
    share = float(np.max(error / scale))
    chi2 = _by_group(Ball(error**2 / scale * (1 + 1e-12)), group, groups)
    _, once = np.unique(group, return_index=True)
    gap = (ball(above(total.magnitude)) * (chi2 + off))[:, once].sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.asarray(smooth.mid, dtype=float) * np.log(np.asarray(p.mid, dtype=float))
    value = float(np.nansum(np.where(np.asarray(smooth.mid, dtype=float) > 0, terms, 0.0)))
    figures = {
        "value": about(value),
        "gap": upper(gap),
        "gradient": upper(share),
        "sum_error": upper(float(np.max(off))),
    }
    # A probability of zero needs a count of zero: whatever was seen has a logarithm of it to pay for.
    zero_ok = bool(np.all((smooth.mid == 0)[size == 0]))
    not_negative = bool(np.all(np.asarray(smooth.upper, dtype=float) >= 0))  # else the posterior is not concave
    return figures, (
        Check("no count plus pseudo-count is negative", not_negative),
        Check("every probability is its smoothed share", share <= SHARE_ERROR and zero_ok, f"off by {share:.1e}"),
        Check("the probabilities of each feature sum to one", bool(np.max(off) <= SHARE_ERROR), f"{np.max(off):.1e}"),
        Check("the log posterior has no slope on the simplex", share <= SHARE_ERROR, f"{share:.1e} per count"),
    )


def stated_probabilities(evidence: Evidence) -> Ball:
    log_p = np.asarray(evidence["feature_log_prob"], dtype=float)
    p = np.exp(Ball(np.where(np.isneginf(log_p), 0.0, log_p)))
    gone = np.isneginf(log_p)
    p = Ball(np.where(gone, 0.0, p.mid), np.where(gone, 0.0, p.rad))
    if evidence["model"] != "bernoulli":
        return p
    q = Ball(np.ones_like(p.mid)) - p
    return Ball(np.hstack([q.mid, p.mid]), np.hstack([q.rad, p.rad]))


@register
class SmoothedCounts(Kind):
    """Every probability of a Bernoulli, multinomial or categorical naive Bayes is a smoothed count.

    Evidence: ``model``, ``classes``, ``alpha``, ``feature_log_prob`` (features side by side), ``class_prior``,
    ``prior_rule``, ``binarize`` (Bernoulli), ``n_categories`` (categorical).
    """

    name = "smoothed-counts"
    theorem = "the maximum of a Dirichlet posterior: counts plus α, divided by their sum"
    needs: ClassVar = {**CLASS_SHARES, "model": word("bernoulli", "multinomial", "categorical"), "alpha": FINITE,
             "feature_log_prob": LOGARITHMS}  # fmt: skip
    may: ClassVar = {"binarize": NUMBER, "n_categories": WHOLE}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        classes, codes, known = read_classes(data, evidence)
        if not known.holds:
            return Proof({}, (known,))
        values = data.X.data if scipy.sparse.issparse(data.X) else data.X
        if not (np.isfinite(values.sum()) or np.all(np.isfinite(values))):  # a finite sum has no other terms
            raise ValueError("the data are not finite")
        if evidence["model"] == "categorical":
            # Before arrays of that width are made: evidence may name any number of categories.
            width = sum(int(m) for m in np.ravel(evidence["n_categories"]))
            check_shape((len(classes), width), probabilities=np.asarray(evidence["feature_log_prob"]))
        cells, group, groups = read_cells(evidence, data.X.shape[1])
        counts = count_cells(data, codes, len(classes), cells, len(group), rigor)
        alpha, sane = parameter(evidence, "alpha")
        alpha = spread_alpha(alpha, group, evidence["model"])
        figures, checks = discrete_proof(counts, alpha, stated_probabilities(evidence), group, groups)
        if evidence["model"] == "categorical":
            inside = _inside(data.X, evidence["n_categories"])
            checks = (*checks, Check("every cell is one of the categories", inside))
        error, prior = prior_check(evidence, class_totals(data, codes, len(classes), rigor))
        figures |= {"prior_error": upper(error), "rows": equal(int(data.X.shape[0]))}
        return Proof(figures, (known, sane, prior, *checks))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "rows" not in figures:
            return "The labels are not those of the model."
        return (
            f"Every probability is its relative frequency, smoothed by {alpha_words(evidence)}, in the "
            f"{figures['rows']} rows{_prior_note(evidence)} (to {figures['gradient']:.1e}): the log posterior is "
            f"within {figures['gap']:.1e} nats of its maximum."
        )


# -- Columns of several kinds ---------------------------------------------------------------------------
def cell_word(v: object) -> str | None:
    """The name under which a cell's value is counted; None for a missing one.

    Numbers and truth values are named by their float value, so that 1, 1.0 and True are one category.
    """
    if v is None or (isinstance(v, (float, np.floating)) and v != v) or str(v) in ("<NA>", "NaT"):
        return None
    if isinstance(v, (bool, np.bool_, int, np.integer, float, np.floating)):
        return repr(float(v))
    return str(v)


def _numeric_columns(X: Matrix, columns: list[int]) -> tuple[Array, Array]:
    """Values (zero where missing) and whether they are there."""
    raw = X[:, columns]
    if raw.dtype == object:
        raw = np.array([[np.nan if cell_word(v) is None else float(v) for v in row] for row in raw])
    values = np.asarray(raw, dtype=float).reshape(len(X), len(columns))
    there = ~np.isnan(values)
    return np.where(there, values, 0.0), there


def category_columns(X: Matrix, columns: list[int], categories: list[list[str]]) -> Array:
    """Category numbers, −1 where missing or unknown."""
    out = np.full((len(X), len(columns)), -1)
    for k, j in enumerate(columns):
        words = categories[k]
        if X.dtype != object:  # a table of numbers: the names are numbers too
            words = [repr(float(w)) for w in words]
        place = {w: i for i, w in enumerate(words)}
        if len(place) != len(words):
            raise ValueError("two categories have the same name")
        out[:, k] = [place.get(cell_word(v), -1) for v in X[:, j]]  # type: ignore[arg-type]
    return out


@register
class MixedCounts(Kind):
    """Numeric columns by mean and variance, boolean and categorical ones by counts; missing cells left out.

    Evidence: ``classes``, ``class_prior``, ``prior_rule``, ``numeric`` and ``discrete`` (column numbers),
    ``theta``, ``var``, ``var_smoothing``, ``pooled`` (class and column pairs without any value, which take the
    column's own mean and variance), ``categories``, ``feature_log_prob``, ``alpha``.
    """

    name = "mixed-counts"
    theorem = "maximum likelihood for Gaussians; the maximum of a Dirichlet posterior for categories"
    needs: ClassVar = {**CLASS_SHARES, "alpha": FINITE, "var_smoothing": NUMBER, "numeric": WHOLE, "discrete": WHOLE}
    may: ClassVar = {"theta": FINITE, "var": FINITE, "categories": LISTS, "feature_log_prob": LOGARITHMS}

    def prove(self, data: Data, evidence: Evidence, rigor: Rigor) -> Proof:
        classes, codes, known = read_classes(data, evidence)
        if not known.holds:
            return Proof({}, (known,))
        error, prior = prior_check(evidence, class_totals(data, codes, len(classes), rigor))
        figures: dict[str, Any] = {"rows": equal(len(data.X)), "prior_error": upper(error)}
        columns = sorted([*map(int, evidence["numeric"]), *map(int, evidence["discrete"])])
        whole = Check("every column is taken once", columns == list(range(data.X.shape[1])))
        checks: list[Check] = [known, prior, whole]
        if len(evidence["numeric"]):
            more, proofs = self._numbers(data, codes, evidence, rigor)
            figures |= more
            checks += proofs
        if len(evidence["discrete"]):
            more, proofs = self._categories(data, codes, evidence, rigor)
            figures |= more
            checks += proofs
        return Proof(figures, tuple(checks))

    def _numbers(self, data: Data, codes: Array, evidence: Evidence, rigor: Rigor) -> Any:
        theta, var = (np.asarray(evidence[k], dtype=float) for k in ("theta", "var"))
        check_shape((len(evidence["classes"]), len(evidence["numeric"])), theta=theta, var=var)
        values, there = _numeric_columns(data.X, [int(j) for j in evidence["numeric"]])
        W, r1, r2 = deviation_sums(data, values, there, codes, theta, rigor)
        return mixed_numbers(W, *exact_moments(_no_zero(W), r1, r2), evidence)

    def _categories(self, data: Data, codes: Array, evidence: Evidence, rigor: Rigor) -> Any:
        columns = [int(j) for j in evidence["discrete"]]
        categories = [list(c) for c in evidence["categories"]]
        table = category_columns(data.X, columns, categories)
        sizes = [len(c) for c in categories]
        plain = Data(table.astype(float), data.y, data.sample_weight)
        spec = {
            "model": "categorical",
            "n_categories": sizes,
            "feature_log_prob": evidence["feature_log_prob"],
        }
        cells, group, groups = read_cells(spec, len(columns))
        counts = count_cells(plain, codes, len(evidence["classes"]), cells, len(group), rigor)
        alpha, sane = parameter(evidence, "alpha")
        figures, checks = discrete_proof(
            counts, spread_alpha(alpha, group, "categorical"), stated_probabilities(spec), group, groups
        )
        lost = [[cell_word(v) is not None for v in data.X[:, j]] for j in columns]
        counted = bool(np.all((table >= 0) == np.array(lost).T))
        return figures, (sane, *checks, Check("every cell is missing or one of the categories", counted))

    def claim(self, figures: Figures, evidence: Evidence) -> str:
        if "rows" not in figures:
            return "The labels are not those of the model."
        worst = max([figures.get("mean_error", 0.0), figures.get("variance_error", 0.0), figures.get("gradient", 0.0)])
        flat = figures.get("constant_columns", 0)
        unit = f"; {flat} column{'s' if flat > 1 else ''} without variation beyond rounding: variance 1" if flat else ""
        return (
            f"Every mean, variance and probability is that of the cells present in the {figures['rows']} rows"
            f"{_prior_note(evidence)}, smoothed with {alpha_words(evidence)} and "
            f"{float(evidence['var_smoothing']):g} of each column's "
            f"variance (to {worst:.1e}){unit}."
        )


def mixed_numbers(W: Ball, shift: Ball, variance: Ball, evidence: Evidence) -> tuple[dict[str, Any], tuple[Check, ...]]:
    """Checks of the columns of numbers: weight, error of the stated mean and variance of each class and column.

    A class that never shows a column takes the column's own mean and variance; a column that is constant everywhere
    says nothing and has variance one by convention.
    """
    theta, var = (np.asarray(evidence[k], dtype=float) for k in ("theta", "var"))
    empty = np.asarray(W.mid, dtype=float) == 0.0
    spread = _column_variance(W, shift, variance, theta)
    smoothing, sane = parameter(evidence, "var_smoothing")
    epsilon = spread * ball(smoothing, like=spread)
    want = _pool(variance, spread, empty)
    flat = np.asarray(spread.magnitude, dtype=float) <= (16 * UNIT * np.abs(theta).max(axis=0)) ** 2 + 1e-300
    wide = want + epsilon
    one = ball(np.ones(wide.shape), like=wide)
    wide = Ball(np.where(flat, one.mid, wide.mid), np.where(flat, one.rad, wide.rad))
    figures, checks = gaussian_checks(_pooled_shift(W, shift, theta, empty), wide, theta, var)
    flat_ok = bool(np.all(var[:, flat] == 1.0))
    if flat.any():
        figures["constant_columns"] = equal(int(flat.sum()))
    return figures, (sane, *checks, Check("columns without variation have variance 1", flat_ok, f"{int(flat.sum())}"))


def _pool(variance: Ball, spread: Ball, empty: Array) -> Ball:
    mid = np.where(empty, spread.mid[None, :], variance.mid)
    rad = np.where(empty, np.broadcast_to(spread.rad, spread.mid.shape)[None, :], variance.rad)
    return Ball(mid, rad)


def _pooled_shift(W: Ball, shift: Ball, theta: Array, empty: Array) -> Ball:
    """How far means are off; where a class shows no value of a column, from the mean over the other classes."""
    if not empty.any():
        return shift
    theta_ball = ball(theta, like=W)
    mean = (W * (theta_ball + shift)).sum(axis=0) / _no_zero(W.sum(axis=0))
    off = mean - theta_ball
    return Ball(np.where(empty, off.mid, shift.mid), np.where(empty, off.rad, shift.rad))
