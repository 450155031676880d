"""A Bayesian line: the belief after each point."""

from __future__ import annotations

from typing import Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Answer, Areas, Curve, Formula, Frame, Layer, Lines, Marks, Panel, Proof, Series, band
from certifit.lab._scene import Board, LabError, Preset, Probe, Scene, Shown, Slider

_DRAWN = 7  # lines drawn at random from the belief


def solve(X: np.ndarray, y: np.ndarray, *, degree: int, noise: float, width: float) -> Any:
    """The belief about the weights after the first k points, as a function of k, and the one after all."""

    def after(k: int) -> Any:
        basis = cf.bayes.Powers(degree, constant=True)
        model = cf.bayes.BayesianLinearRegression(
            basis=basis, fit_intercept=False, noise_precision=noise**-2, weight_precision=width**-2
        )
        return model.fit(X[:k, :1], X[:k, 1])

    return after(len(X)), after


def report(answer: Any, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """Means and deviations of the weights, the evidence and the proofs."""
    model, _ = answer
    deviations = np.sqrt(np.diag(model.sigma_))
    found: dict[str, Any] = {f"mean of w{k}": float(w) for k, w in enumerate(model.coef_)}
    found |= {f"deviation of w{k}": float(d) for k, d in enumerate(deviations)}
    return found | {"log evidence": float(model.log_evidence_), "proved": all(c.holds for c in model.certificates_)}


class BayesianLine(Scene):
    """Steps are points, in the order in which they were drawn."""

    title = "Bayesian line"
    order = 10
    page = "families/bayes"
    about = (
        "Before any point, every line near zero is believed in; each point makes lines that miss it less "
        "credible. The posterior of the weights stays normal, and the band shows where the next point is expected "
        "with 95 % probability. The band widens where there are no points, which no least-squares fit shows. The "
        "mean is the ridge solution; that, and that the covariance is right, is proved."
    )
    labels = ("point",)
    controls = (
        Slider("degree", "degree", 1, 6, 1, step=1),
        Slider("noise", "noise of a point", 0.05, 2, 0.4, log=True),
        Slider("width", "width of the prior", 0.1, 10, 1.5, log=True),
    )
    presets = (
        Preset("a line", _presets.trend(14, 0.4, 4), view=(-3, 3, -3, 3)),
        Preset("a wave", _presets.wave(16, 0.2, 2), {"degree": 5, "noise": 0.25, "width": 1}),
        Preset("two points", [[-1.0, -1.0, 0.0], [1.0, 0.5, 0.0]], view=(-3, 3, -3, 3)),
    )

    def check(self, board: Board) -> None:
        """A belief changes with the first point."""
        if not len(board.X):
            raise LabError("Draw at least one point.")
        if np.max(np.abs(board.X[:, 0])) > 1e6:
            raise LabError(
                "The powers of such large numbers dominate everything else: choose a column of smaller numbers."
            )

    def steps(self, shown: Shown) -> int:
        """No point, then one more each."""
        return len(shown.board.X) + 1

    def frame(self, shown: Shown, step: int) -> Frame:
        """The belief after this many points."""
        board, model = shown.board, shown.answer[0]
        xs = np.linspace(board.view[0], board.view[1], 121)
        mean, std, draws = _belief(shown, step, xs)
        layers: list[Layer] = [
            Areas([band(xs, mean, 1.96 * std)], "class0", 0.15),
            Lines([np.column_stack([xs, d]) for d in draws], "class5", 1, name="lines drawn from the belief"),
            Lines([np.column_stack([xs, mean])], "ink", 2.5, name="mean"),
            Marks(np.arange(step, len(board.X)), "faint"),
        ]
        if 0 < step <= len(board.X):
            layers.append(Marks([step - 1], "ring", "accent"))
        caption = (
            "The prior: lines near zero, and a wide band." if not step else f"After {step} of {len(board.X)} points."
        )
        last = step == len(board.X)
        panels: list[Panel] = [_weights(shown, step)]
        stop, answers = "", ()
        if not board.quick:
            panels.append(_sharper(shown, step))
        if last and not board.quick:
            panels += [Proof.of(c) for c in model.certificates_]
            stop = "Proved: this is the belief after all points." if all(c.holds for c in model.certificates_) else ""
            guess = np.asarray(model.predict(board.X[:, :1]))
            answers = [Answer(f"{g:.4g}", None, f"residual {v - g:+.3g}") for g, v in zip(guess, board.X[:, 1])]
        return Frame(layers, panels, caption, stop, answers)

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """What is expected at this x."""
        mean, std, _ = _belief(shown, step, np.array([x]))
        return Probe([f"expected here: {mean[0]:.4g} ± {1.96 * std[0]:.3g} (95 %)"])


def _model(shown: Shown, step: int) -> Any:
    model, after = shown.answer
    return model if step == len(shown.board.X) else after(step)


def _moments(shown: Shown, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the weights; before any point, the prior's."""
    if step == 0:
        size = shown["degree"] + 1
        return np.zeros(size), shown["width"] ** 2 * np.eye(size)
    model = _model(shown, step)
    return np.asarray(model.coef_), np.asarray(model.sigma_)


def _belief(shown: Shown, step: int, xs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictive mean and deviation, and some lines drawn from the belief."""
    mean, covariance = _moments(shown, step)
    basis = np.asarray(cf.bayes.Powers(shown["degree"], constant=True)(xs[:, None]))
    spread = np.sqrt(np.einsum("ij,jk,ik->i", basis, covariance, basis) + shown["noise"] ** 2)
    draws = np.random.default_rng(0).multivariate_normal(mean, covariance, size=_DRAWN, method="eigh")
    return basis @ mean, spread, draws @ basis.T


def _weights(shown: Shown, step: int) -> Formula:
    mean, covariance = _moments(shown, step)
    lines = [rf"w_{{{k}}} = {m:.3g} \pm {s:.2g}" for k, (m, s) in enumerate(zip(mean, np.sqrt(np.diag(covariance))))]
    return Formula("the belief about the weights", lines)


def _sharper(shown: Shown, step: int) -> Curve:
    """The deviation of every weight, point by point."""
    points = np.unique(np.linspace(0, len(shown.board.X), min(len(shown.board.X), 30) + 1).astype(int))
    deviations = np.array([np.sqrt(np.diag(_moments(shown, int(k))[1])) for k in points])
    series = [Series(f"w{k}", points, deviations[:, k], f"class{k % 8}") for k in range(deviations.shape[1])]
    return Curve("sharper with every point", series, "points", "deviation", at=step)
