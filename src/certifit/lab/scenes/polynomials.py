"""Lines and polynomials: degree, ridge and lasso, training and validation error."""

from __future__ import annotations

from typing import Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Answer, Curve, Formula, Frame, Layer, Lines, Marks, Panel, Proof, Series, tex, within
from certifit.lab._scene import Board, Choice, LabError, Preset, Probe, Scene, Shown, Slider, Switch

_PATH = 25  # strengths of a path


def solve(X: np.ndarray, y: np.ndarray, *, method: str, degree: int, strength: float, hold: bool) -> Any:
    """The fit, with what is needed to make any other of its path."""
    x, target = X[:, 0], X[:, 1]
    # Powers of t = (x - middle)/half lie between -1 and 1, whatever the units of x.
    middle, half = (x.max() + x.min()) / 2, max((x.max() - x.min()) / 2, 1e-300)
    kept = np.arange(len(x)) % 3 != 2 if hold else np.ones(len(x), dtype=bool)

    def powers(at: np.ndarray, up_to: int) -> np.ndarray:
        return np.asarray(((np.asarray(at, dtype=float) - middle) / half)[:, None] ** np.arange(1, up_to + 1))

    def fit(up_to: int, alpha: float) -> Any:
        models = {"ridge": cf.linear_model.Ridge, "lasso": cf.linear_model.Lasso}
        model = models[method](alpha) if method in models else cf.linear_model.LinearRegression()
        return model.fit(powers(x[kept], up_to), target[kept])

    return fit(degree, strength), fit, powers, kept, (float(middle), float(half))


def report(answer: Any, X: np.ndarray, y: np.ndarray, *, degree: int, **params: object) -> dict[str, object]:
    """Coefficients, errors, and the proved gap."""
    model, _, powers, kept, (middle, half) = answer
    errors = (X[:, 1] - model.predict(powers(X[:, 0], degree))) ** 2
    found = {"t": f"(x − {middle:.6g})/{half:.6g}", "constant": float(model.intercept_)}
    found |= {f"coefficient of t^{k + 1}": float(c) for k, c in enumerate(model.coef_)}
    found |= {"training error": float(np.mean(errors[kept]))}
    found |= {"validation error": float(np.mean(errors[~kept]))} if not kept.all() else {}
    return found | {"proved": bool(model.certificate_.holds)}


class Polynomials(Scene):
    """Steps are degrees, or strengths from strong to weak."""

    title = "Lines and polynomials"
    order = 4
    page = "families/least_squares"
    about = (
        "Least squares chooses the polynomial whose squared vertical distances from the points add up to the "
        "least. A higher degree always fits the training points better, and new points often worse: every third "
        "point can be held out to see this. Ridge shrinks all coefficients, lasso sets some to exactly zero; "
        "stepping goes from a strong penalty to the chosen one. The polynomial is written in t, which runs from "
        "−1 to 1 over the points."
    )
    labels = ("point",)
    controls = (
        Choice("method", "method", ("least squares", "ridge", "lasso")),
        Slider("degree", "degree", 1, 12, 3, step=1),
        Slider("strength", "strength", 1e-5, 10, 0.01, log=True, when=("method", ("ridge", "lasso"))),
        Switch("hold", "hold out every third point", True),
    )
    presets = (
        Preset("a wave", _presets.wave(30, 0.25, 2), {"degree": 5}, view=(-4, 4, -2.5, 2.5)),
        Preset("a line", _presets.trend(24, 0.35, 4), {"degree": 1}, view=(-3, 3, -3, 3)),
        Preset("too many powers", _presets.wave(14, 0.3, 5), {"degree": 12}, view=(-4, 4, -2.5, 2.5)),
        Preset(
            "lasso on twelve powers",
            _presets.wave(40, 0.2, 8),
            {"method": "lasso", "degree": 12, "strength": 0.001},
            view=(-4, 4, -2.5, 2.5),
        ),
    )

    def check(self, board: Board) -> None:
        """A fit needs points at different places."""
        if len(np.unique(board.X[:, 0])) < 4:
            raise LabError("Draw at least four points at different places.")

    def steps(self, shown: Shown) -> int:
        """Degrees, or strengths."""
        return int(shown["degree"]) if shown["method"] == "least squares" else _PATH

    def _at(self, shown: Shown, step: int) -> tuple[int, float]:
        """Degree and strength of a step."""
        if shown["method"] == "least squares":
            return step + 1, 0.0
        return shown["degree"], float(np.geomspace(max(100.0, shown["strength"]), shown["strength"], _PATH)[step])

    def frame(self, shown: Shown, step: int) -> Frame:
        """One fit of the path."""
        board, (final, fit, powers, kept, scale) = shown.board, shown.answer
        degree, strength = self._at(shown, step)
        last = step == self.steps(shown) - 1
        model = final if last else fit(degree, strength)
        xs = np.linspace(board.view[0], board.view[1], 240)
        guess = model.predict(powers(board.X[:, 0], degree))
        residuals = [np.array([[x, y], [x, g]]) for (x, y), g in zip(board.X, guess)]
        layers: list[Layer] = [
            Lines([r for r, k in zip(residuals, kept) if k], "muted", 1, name="residuals"),
            Lines([r for r, k in zip(residuals, kept) if not k], "accent", 1, dash=True, name="held out"),
            Lines([np.column_stack([xs, model.predict(powers(xs, degree))])], "ink", 2.5, name=f"degree {degree}"),
            Marks(np.flatnonzero(~kept), "hollow"),
        ]
        errors = (board.X[:, 1] - guess) ** 2
        words = (
            f"degree {degree}"
            if shown["method"] == "least squares"
            else f"{shown['method']} of strength {strength:.3g}"
        )
        caption = f"The fit of {words}: mean squared error {errors[kept].mean():.4g} on the training points"
        caption += f", {errors[~kept].mean():.4g} on those held out." if not kept.all() else "."
        panels: list[Panel] = [_formula(model, scale)]
        if not board.quick:
            panels += [*self._paths(shown, step), Proof.of(model.certificate_)]
        stop = ""
        if last and not board.quick and model.certificate_.holds:
            gap = within(float(model.certificate_.figures["relative_gap"]))
            stop = f"Proved within {gap} (relative) of the least error: nothing further can be gained."
        answers = [Answer(f"{g:.4g}", None, f"residual {y - g:+.3g}") for (_, y), g in zip(board.X, guess)]
        return Frame(layers, panels, caption, stop, answers)

    def _paths(self, shown: Shown, step: int) -> list[Panel]:
        """Errors and coefficients of every step."""
        board, (_, fit, powers, kept, _) = shown.board, shown.answer
        fits = [(self._at(shown, k), fit(*self._at(shown, k))) for k in range(self.steps(shown))]
        by_degree = shown["method"] == "least squares"
        xs = np.array([d if by_degree else -np.log10(s) for (d, s), _ in fits])
        errors = np.array([(board.X[:, 1] - m.predict(powers(board.X[:, 0], d))) ** 2 for (d, _), m in fits])
        name = "degree" if by_degree else "−log₁₀ strength"
        series = [Series("training", xs, errors[:, kept].mean(axis=1), "class0", dots=by_degree)]
        if not kept.all():
            series.append(Series("validation", xs, errors[:, ~kept].mean(axis=1), "accent", dots=by_degree))
        panels: list[Panel] = [Curve("mean squared error", series, name, "error", log=True, at=float(xs[step]))]
        if not by_degree:
            coefs = np.array([m.coef_ for _, m in fits])
            lines = [Series(f"t^{j + 1}", xs, coefs[:, j], f"class{j % 8}") for j in range(coefs.shape[1])]
            panels.append(Curve("the whole path", lines, name, "coefficient", at=float(xs[step])))
        return panels

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe:
        """The curve's value here."""
        final, fit, powers, _, _ = shown.answer
        degree, strength = self._at(shown, step)
        model = final if step == self.steps(shown) - 1 else fit(degree, strength)
        return Probe([f"the curve here: {float(model.predict(powers([x], degree))[0]):.4g}"])


def _formula(model: Any, scale: tuple[float, float]) -> Formula:
    """The polynomial with its numbers."""
    terms = [tex(float(model.intercept_))]
    terms += [
        ("+" if c > 0 else "") + tex(c) + "\\,t" + (f"^{{{k + 1}}}" if k else "")
        for k, c in enumerate(model.coef_)
        if c != 0
    ]
    lines = [" ".join(terms[i : i + 3]) for i in range(0, len(terms), 3)]
    return Formula("the polynomial", [r"h(x) = " + lines[0], *lines[1:], rf"t = (x - {scale[0]:.3g})/{scale[1]:.3g}"])
