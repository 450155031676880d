"""Pictures of judgements: each takes the record that `metrics` or `model_selection` returns and gives axes.

Every function takes ``ax`` (axes to draw on; a fresh figure when None) and returns the axes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from certifit._types import Array, Axes
from certifit.plot._style import drawing, figure, palette


@drawing
def confusion(record: Any, ax: Axes | None = None) -> Axes:
    """Confusion matrix as shaded counts with the fraction of each true class.

    Parameters
    ----------
    record : Confusion
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.

    Examples
    --------
    >>> from certifit import metrics
    >>> ax = confusion(metrics.confusion([0, 1, 1, 0], [0, 1, 0, 0]))
    >>> len(ax.texts)
    4
    """
    _, ax = figure(ax, (4.2, 3.8))
    m = np.asarray(record.matrix)
    rows = m.sum(axis=1, keepdims=True)
    share = np.divide(m, rows, out=np.zeros_like(m), where=rows > 0)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1.3)
    for (i, j), value in np.ndenumerate(m):
        colour = "white" if share[i, j] > 0.75 else "#333333"  # the cells are light on any paper
        ax.text(j, i, f"{value:g}\n{share[i, j]:.0%}", ha="center", va="center", color=colour)
    names = [str(c) for c in record.labels]
    ax.set_xticks(range(len(names)), names)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="predicted", ylabel="true", title=f"accuracy {float(record.accuracy):.3g}")
    return ax


@drawing
def roc(record: Any, ax: Axes | None = None, level: float = 0.95, label: str | None = None, band: bool = True) -> Axes:
    """ROC curve with its simultaneous band and the area's interval.

    Parameters
    ----------
    record : Roc
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.
    level : float in (0, 1), default=0.95
        Of the intervals.
    label : str, default=None
        Name of the model in the legend.
    band : bool, default=True
        Whether to draw the simultaneous band.

    Examples
    --------
    >>> from certifit import metrics
    >>> ax = roc(metrics.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> ax.get_xlabel()
    'false positive rate'
    """
    _, ax = figure(ax, (4.4, 4.2))
    low, high = record.interval(level)
    name = f"{label}: " if label else ""
    (line,) = ax.plot(record.fpr, record.tpr, label=f"{name}AUC {record.auc:.3f} ({low:.3f} to {high:.3f})")
    if band:
        bottom, top = record.band(level)
        ax.fill_between(record.fpr, bottom, top, color=line.get_color(), alpha=0.12, linewidth=0, step="pre")
    ax.plot([0, 1], [0, 1], color=palette().faint, linewidth=0.8, zorder=0)
    ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.set_aspect("equal")
    ax.legend(loc="lower right")
    return ax


@drawing
def precision_recall(record: Any, ax: Axes | None = None, level: float = 0.95, label: str | None = None) -> Axes:
    """Precision-recall curve with the interval of the average precision.

    Parameters
    ----------
    record : PrecisionRecall
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.
    level : float in (0, 1), default=0.95
        Of the intervals.
    label : str, default=None
        Name of the model in the legend.

    Examples
    --------
    >>> from certifit import metrics
    >>> ax = precision_recall(metrics.precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> ax.get_ylabel()
    'precision'
    """
    _, ax = figure(ax, (4.4, 4.2))
    low, high = record.interval(level)
    name = f"{label}: " if label else ""
    text = f"{name}AP {record.average_precision:.3f} ({low:.3f} to {high:.3f})"
    ax.step(record.recall, record.precision, where="post", label=text)
    ax.set(xlabel="recall", ylabel="precision", xlim=(-0.01, 1.01), ylim=(-0.01, 1.03))
    ax.legend(loc="lower left")
    return ax


@drawing
def calibration(record: Any, ax: Axes | None = None, level: float = 0.95) -> Axes:
    """Share of positives against predicted probability, with the interval of each bin.

    Parameters
    ----------
    record : Calibration
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.
    level : float in (0, 1), default=0.95
        Of the intervals.

    Examples
    --------
    >>> from certifit import metrics
    >>> ax = calibration(metrics.calibration([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.8], bins=2))
    >>> ax.get_ylabel()
    'fraction of positives'
    """
    _, ax = figure(ax, (4.4, 4.2))
    ends = np.array(record.intervals(level))
    reach = np.abs(ends.T - record.observed)
    ax.plot([0, 1], [0, 1], color=palette().faint, linewidth=0.8, zorder=0)
    ax.errorbar(record.predicted, record.observed, yerr=reach, fmt="o-", elinewidth=0.8, capsize=2)
    ax.set(xlabel="predicted probability", ylabel="fraction of positives", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_title(f"Brier score {record.brier:.3g}, calibration error {record.error:.3g}")
    return ax


@drawing
def cross_validation(record: Any, ax: Axes | None = None, level: float = 0.95, metric: str | None = None) -> Axes:
    """Score of each fold, their mean and its corrected interval.

    Parameters
    ----------
    record : CrossValidation
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.
    level : float in (0, 1), default=0.95
        Of the intervals.
    metric : str, default=None
        Which, when there are several.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from certifit.model_selection import cross_validate
    >>> X = np.arange(40.0)[:, None]
    >>> ax = cross_validation(cross_validate(Ridge(), X, X[:, 0] + np.sin(X[:, 0]), cv=4))
    >>> ax.get_xlabel()
    'fold'
    """
    _, ax = figure(ax)
    scores = record.scores(metric)
    low, high = record.interval(level, metric)
    ax.axhspan(low, high, color=palette().colours[0], alpha=0.12, linewidth=0)
    ax.axhline(float(record.mean(metric)), color=palette().colours[0])
    ax.plot(np.arange(1, len(scores) + 1), scores, "o", color=palette().ink)
    ax.set(xlabel="fold", ylabel="score", title=f"mean {float(record.mean(metric)):.3g} ({low:.3g} to {high:.3g})")
    ax.set_xticks(np.unique(np.linspace(1, len(scores), min(len(scores), 10)).round().astype(int)))
    return ax


@drawing
def search(record: Any, ax: Axes | None = None, name: str | None = None) -> Axes:
    """Mean score along one parameter of a fitted search, with one standard error and the choice marked.

    Parameters
    ----------
    record : Search
        Fitted.
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.
    name : str, default=None
        The parameter; the one with most values when None.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from certifit.model_selection import Search
    >>> X = np.arange(40.0)[:, None]
    >>> ax = search(Search(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, cv=4).fit(X, np.sin(X[:, 0])))
    >>> ax.get_xlabel(), ax.get_xscale()
    ('alpha', 'log')
    """
    _, ax = figure(ax)
    params = record.cv_results_["params"]
    name = name or max(params[0], key=lambda k: len({str(p[k]) for p in params if k in p}))
    score = record.refit if record.multimetric_ else "score"
    fixed = {k: v for k, v in record.best_params_.items() if k != name}
    at = [i for i, p in enumerate(params) if all(str(p.get(k)) == str(v) for k, v in fixed.items())]
    x = np.array([params[i][name] for i in at])
    mean = record.cv_results_[f"mean_test_{score}"][at]
    error = record.cv_results_[f"std_test_{score}"][at] / np.sqrt(record.n_splits_ - 1)
    numbers = x.dtype.kind in "iuf"
    places = x.astype(float) if numbers else np.arange(len(x))
    ax.fill_between(places, mean - error, mean + error, alpha=0.15, linewidth=0)
    ax.plot(places, mean, "o-")
    ax.plot(
        places[at.index(record.best_index_)],
        record.best_score_,
        "o",
        color=palette().colours[1],
        markersize=8,
        label="chosen",
    )
    _scale(ax, places, numbers, x)
    rule = "one-standard-error rule" if record.rule != "best" else "best mean"
    ax.set(xlabel=name, ylabel="score", title=f"{name} = {record.best_params_[name]:.4g} ({rule})" if numbers else name)
    ax.legend()
    return ax


def _scale(ax: Axes, places: Array, numbers: bool, labels: Iterable[object]) -> None:
    if not numbers:
        ax.set_xticks(places, [str(v) for v in labels])
    elif np.all(places > 0) and places.max() / places.min() > 50:
        ax.set_xscale("log")


@drawing
def curve(record: Any, ax: Axes | None = None, level: float = 0.95) -> Axes:
    """Learning or validation curve: training and test score, the latter with its corrected interval.

    Parameters
    ----------
    record : Curve
        From `learning_curve` or `validation_curve`.
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.
    level : float in (0, 1), default=0.95
        Of the intervals.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from certifit.model_selection import learning_curve
    >>> X = np.arange(40.0)[:, None]
    >>> ax = curve(learning_curve(Ridge(), X, np.sin(X[:, 0]), train_sizes=[8, 16, 32]))
    >>> ax.get_xlabel()
    'training rows'
    """
    _, ax = figure(ax)
    numbers = np.asarray(record.x).dtype.kind in "iuf"
    places = np.asarray(record.x, dtype=float) if numbers else np.arange(len(record.x))
    ends = np.array(record.intervals(level))
    ax.plot(places, record.train_scores.mean(axis=1), "o--", color=palette().faint, label="training rows")
    ax.fill_between(places, ends[:, 0], ends[:, 1], color=palette().colours[0], alpha=0.15, linewidth=0)
    ax.plot(places, record.test_scores.mean(axis=1), "o-", color=palette().colours[0], label="held-out rows")
    _scale(ax, places, numbers, record.x)
    ax.set(xlabel=record.name, ylabel="score")
    ax.legend()
    return ax


@drawing
def comparison(record: Any, ax: Axes | None = None) -> Axes:
    """Models by mean score, best on top, each with its corrected interval.

    Parameters
    ----------
    record : Comparison
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression, Ridge
    >>> from certifit.model_selection import compare
    >>> X = np.arange(40.0)[:, None]
    >>> ax = comparison(compare([Ridge(), LinearRegression()], X, np.sin(X[:, 0]), cv=4))
    >>> len(ax.get_yticklabels())
    2
    """
    names = record.ranking[::-1]
    _, ax = figure(ax, (5.6, 0.9 + 0.4 * len(names)))
    for i, name in enumerate(names):
        result = record.results[name]
        low, high = result.interval(record.level)
        ax.plot([low, high], [i, i], color=palette().colours[0], linewidth=1)
        ax.plot(float(result.mean()), i, "o", color=palette().colours[0])
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="score", ylim=(-0.6, len(names) - 0.4))
    return ax


@drawing
def bias_variance(
    records: Any, x: npt.ArrayLike | None = None, ax: Axes | None = None, name: str = "", log: bool = False
) -> Axes:
    """Bias², variance and noise stacked up to the expected loss, for one or several learners.

    Parameters
    ----------
    records : BiasVariance or list of them
    x : sequence, default=None
        The parameter in which the learners differ.
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.
    name : str, default=""
        What x is called.
    log : bool, default=False
        Logarithmic loss axis.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from certifit.model_selection import bias_variance as decompose
    >>> X = np.arange(30.0)[:, None]
    >>> parts = [decompose(Ridge(a), X, np.sin(X[:, 0]), rounds=20) for a in (0.1, 10.0)]
    >>> ax = bias_variance(parts, [0.1, 10.0], name="alpha")
    >>> ax.get_ylabel()
    'expected squared loss'
    """
    records = records if isinstance(records, (list, tuple)) else [records]
    labels = list(range(1, len(records) + 1)) if x is None else list(np.asarray(x))
    _, ax = figure(ax)
    base = np.zeros(len(records))
    for part, colour, text in zip(
        ("noise", "bias2", "variance"),
        (palette().faint, palette().colours[0], palette().colours[1]),
        ("noise", "bias²", "variance"),
    ):
        values = np.array([getattr(r, part) for r in records])
        if np.any(values != 0):
            ax.bar(range(len(records)), values, bottom=base, color=colour, label=text, width=0.7)
        base = base + values
    ax.plot(range(len(records)), [r.total for r in records], "o", color=palette().ink, label="expected loss")
    if log:
        ax.set_yscale("log")
    ax.set_xticks(range(len(records)), [f"{v:g}" if isinstance(v, (int, float)) else str(v) for v in labels])
    ax.set(xlabel=name, ylabel=f"expected {records[0].loss.replace('_', '-')} loss")
    ax.legend()
    return ax


@drawing
def leakage(record: Any, ax: Axes | None = None) -> Axes:
    """Scores on permuted labels against chance: honest procedures lie on the diagonal.

    Parameters
    ----------
    record : Leakage
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from certifit.model_selection import leakage_check
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> ax = leakage(leakage_check(Ridge(), X, X[:, 0], rounds=4))
    >>> ax.get_xlabel()
    'chance'
    """
    _, ax = figure(ax, (4.4, 4.2))
    values = np.concatenate([record.permuted, record.chance])
    ends = [values.min(), values.max()]
    ax.plot(ends, ends, color=palette().faint, linewidth=0.8, zorder=0)
    ax.plot(record.chance, record.permuted, "o", color=palette().colours[1] if record.leaks else palette().colours[0])
    verdict = "skill where none can be: a leak" if record.leaks else "no more than chance: no leak found"
    ax.set(xlabel="chance", ylabel="score on permuted labels", title=verdict)
    return ax


@drawing
def bootstrap(record: Any, ax: Axes | None = None, level: float = 0.95) -> Axes:
    """Training, out-of-bag, .632 and .632+ error with their intervals.

    Parameters
    ----------
    record : Bootstrap
    ax : matplotlib Axes, default=None
        Where to draw; a fresh figure when None.
    level : float in (0, 1), default=0.95
        Of the intervals.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from certifit.model_selection import bootstrap as resample
    >>> X = np.arange(30.0)[:, None]
    >>> ax = bootstrap(resample(Ridge(), X, np.sin(X[:, 0]), rounds=20))
    >>> len(ax.get_yticklabels())
    4
    """
    _, ax = figure(ax, (5.6, 2.4))
    rows = [("out-of-bag", record.oob), (".632", record.err632), (".632+", record.err632plus)]
    ax.plot(record.training, 0, "o", color=palette().faint)
    for i, (_, value) in enumerate(rows, start=1):
        low, high = value.interval(level)
        ax.plot([low, high], [i, i], color=palette().colours[0], linewidth=1)
        ax.plot(float(value), i, "o", color=palette().colours[0])
    ax.set_yticks(range(4), ["training", *(name for name, _ in rows)])
    ax.axvline(record.no_information, color=palette().ink, linewidth=0.9, linestyle=":")
    ax.annotate("pairs at random ", (record.no_information, -0.1), ha="right", fontsize=9)
    ax.set(xlabel=f"{record.loss.replace('_', '-')} error", ylim=(-0.6, 3.6))
    return ax
