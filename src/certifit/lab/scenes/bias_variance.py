"""Bias and variance: many training sets, drawn one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Areas, Curve, Formula, Frame, Layer, Lines, Panel, Proof, Series, Table, band
from certifit.lab._scene import Board, LabError, Preset, Probe, Scene, Shown, Slider


def solve(X: np.ndarray, y: np.ndarray | None, *, degree: int, size: int, noise: float, sets: int, seed: int) -> Any:
    """Polynomials fitted to many training sets around the curve through the points, and what takes them apart."""
    order = np.argsort(X[:, 0], kind="stable")
    knots, heights = X[order, 0], X[order, 1]
    middle, half = (knots[0] + knots[-1]) / 2, (knots[-1] - knots[0]) / 2

    def truth(t: np.ndarray) -> np.ndarray:  # t runs from -1 to 1 over the points
        return np.asarray(np.interp(middle + half * np.asarray(t), knots, heights))

    def powers(t: np.ndarray) -> np.ndarray:
        return np.asarray(t)[:, None] ** np.arange(degree + 1)

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        t = rng.uniform(-1, 1, size=size)
        return t, truth(t) + noise * rng.normal(size=size)

    rng = np.random.default_rng(seed)
    training = [draw(rng) for _ in range(sets)]
    learner = cf.linear_model.LinearRegression(fit_intercept=False)
    fits = [cf.linear_model.LinearRegression(fit_intercept=False).fit(powers(t), v) for t, v in training]

    done: list[Any] = []

    def parts() -> Any:
        grid, queue = np.linspace(-0.95, 0.95, 39), iter(training)

        def again(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
            t, v = next(queue)
            return powers(t), v

        if not done:
            found = cf.model_selection.bias_variance(
                learner, powers(grid), draw=again, truth=(truth(grid), noise**2), rounds=sets, n_jobs=1
            )
            done.append(found)
        return done[0]

    return fits, training, powers, truth, (float(middle), float(half)), parts


def report(answer: Any, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """The parts, and that they add up."""
    parts = answer[-1]()
    added = parts.bias2 + parts.variance + parts.noise
    return {
        "bias²": float(parts.bias2),
        "variance": float(parts.variance),
        "noise": float(parts.noise),
        "expected error": float(parts.total),
        "parts add up": bool(abs(added - parts.total) <= 1e-9 * max(1.0, parts.total)),
    }


class BiasVariance(Scene):
    """Steps are training sets."""

    title = "Bias and variance"
    order = 12
    page = "families/model_selection"
    about = (
        "Your points are the truth: the line through them is what a learner should find, and training sets are "
        "drawn around it with noise. A learner that is too rigid misses the truth on average (bias); one that is "
        "too flexible follows every training set (variance). The expected error at new points is bias² plus variance "
        "plus noise, to the last digit. Step to draw one training set after the other; the band shows the middle "
        "of all fits so far."
    )
    labels = ("truth",)
    controls = (
        Slider("degree", "degree", 0, 9, 3, step=1),
        Slider("size", "points in a set", 5, 100, 20, step=1),
        Slider("noise", "noise", 0.0, 1.0, 0.3, step=0.02),
        Slider("sets", "training sets", 2, 60, 15, step=1),
        Slider("seed", "seed", 0, 20, 0, step=1),
    )
    presets = (
        Preset("a wave", _presets.curve(9), view=(-4, 4, -2.5, 2.5)),
        Preset("too stiff", _presets.curve(9), {"degree": 1}, view=(-4, 4, -2.5, 2.5)),
        Preset("too free", _presets.curve(9), {"degree": 9, "size": 15}, view=(-4, 4, -2.5, 2.5)),
    )

    def check(self, board: Board) -> None:
        """The truth is a line through points."""
        if len(np.unique(board.X[:, 0])) < 2:
            raise LabError("Draw at least two points at different places: the line through them is the truth.")

    def hurried(self, params: dict[str, Any]) -> dict[str, Any]:
        """While a point is dragged, four training sets at most."""
        return {**params, "sets": min(params["sets"], 4)}

    def steps(self, shown: Shown) -> int:
        """One for each training set."""
        return len(shown.answer[1])

    def frame(self, shown: Shown, step: int) -> Frame:
        """The fits of the training sets so far."""
        board, (models, training, powers, truth, (middle, half), take_apart) = shown.board, shown.answer
        ts = np.linspace(-1, 1, 81)
        xs = middle + half * ts
        fits = np.array([model.predict(powers(ts)) for model in models[: step + 1]])
        mean, spread = fits.mean(axis=0), fits.std(axis=0)
        t, values = training[step]
        layers: list[Layer] = [
            Areas([band(xs, mean, 2 * spread)], "class0", 0.13),
            Lines([np.column_stack([xs, f]) for f in fits[-12:-1]], "class5", 1, name="earlier fits"),
            Lines([np.column_stack([xs, fits[-1]])], "class0", 2, name="this fit"),
            Lines([np.column_stack([xs, mean])], "accent", 2.5, dash=True, name="mean of the fits"),
            Lines([np.column_stack([xs, truth(ts)])], "ink", 2.5, name="truth"),
            _crosses(board, middle + half * t, values),
        ]
        caption = (
            f"Training set {step + 1} of {len(training)}: {len(values)} noisy points (crosses) and the fit to them."
        )
        if board.quick:
            return Frame(layers, [Proof.later()], caption)
        panels: list[Panel] = [_running(shown, step)]
        stop = ""
        if step == len(training) - 1:
            parts = take_apart()
            panels.insert(0, _sum(parts))
            adds = abs(parts.bias2 + parts.variance + parts.noise - parts.total) <= 1e-9 * max(1, parts.total)
            panels += [_by_degree(shown), Proof.of(models[-1].certificate_)]
            stop = (
                "All training sets are drawn; the parts, computed apart from the total, add up to it." if adds else ""
            )
        return Frame(layers, panels, caption, stop)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe | None:
        """Truth and mean at this x."""
        models, _, powers, truth, (middle, half), _ = shown.answer
        t = [(x - middle) / half]
        if abs(t[0]) > 1:
            return None
        fits = np.array([model.predict(powers(t))[0] for model in models[: step + 1]])
        return Probe([f"truth {float(truth(t)[0]):.4g}", f"fits {fits.mean():.4g} ± {fits.std():.3g}"])


def _crosses(board: Board, xs: np.ndarray, ys: np.ndarray) -> Lines:
    """Small crosses, as lines, so that drawn points stay on top."""
    a, b = 0.008 * board.width, 0.008 * (board.view[3] - board.view[2]) * 4 / 3
    marks = [np.array([[x - a, y - b], [x + a, y + b]]) for x, y in zip(xs, ys)]
    marks += [np.array([[x - a, y + b], [x + a, y - b]]) for x, y in zip(xs, ys)]
    return Lines(marks, "class1", 1.5)


def _sum(parts: Any) -> Formula:
    return Formula(
        "the parts add up",
        [
            r"E(y - f)^2 = \text{bias}^2 + \text{variance} + \text{noise}",
            rf"{parts.total:.4g} = {parts.bias2:.4g} + {parts.variance:.4g} + {parts.noise:.4g}",
        ],
    )


def _running(shown: Shown, step: int) -> Curve:
    """Bias² and variance as training sets come in."""
    t = np.arange(1, len(shown.answer[0]) + 1)
    bias, variance = zip(*(_parts(shown.answer, int(k)) for k in t))
    series = [Series("bias²", t, bias, "class1"), Series("variance", t, variance, "class0")]
    return Curve("as training sets come in", series, "training sets", "", at=step + 1)


def _by_degree(shown: Shown) -> Table:
    """The same for every degree, with few training sets."""
    sets, rows = min(6, shown["sets"]), []
    for degree in range(10):
        bias, variance = _parts(solve(shown.board.X, None, **{**shown.params, "degree": degree, "sets": sets}), sets)
        rows.append([degree, f"{bias:.4f}", f"{variance:.4f}", f"{bias + variance + shown['noise'] ** 2:.4f}"])
    return Table(f"by degree ({sets} sets)", ["degree", "bias²", "variance", "error"], rows, shown["degree"])


def _parts(answer: Any, sets: int) -> tuple[float, float]:
    """Bias² and variance of the first fits."""
    models, _, powers, truth, _, _ = answer
    grid = np.linspace(-0.95, 0.95, 39)
    fits = np.array([model.predict(powers(grid)) for model in models[:sets]])
    return float(np.mean((fits.mean(axis=0) - truth(grid)) ** 2)), float(np.mean(fits.var(axis=0)))
