"""A separating line, or a proof that there is none."""

import numpy as np

from certifit.exercises._base import Answer, Verdict, exercise


@exercise("separating-line", "linear classifiers")
def separating_line(rng: np.random.Generator) -> dict[str, object]:
    """Separate, or prove that nobody can.

    Either give w and b with y(w·x + b) > 0 for all rows, and leave the weights empty; or give one weight for every
    row (none negative, those of each class adding up to one) such that the weighted averages of the two classes are
    the same point. Then no line separates them.
    """
    X, y = rng.integers(-4, 5, size=(6, 2)).astype(float), np.array([1, 1, 1, -1, -1, -1])
    if rng.random() < 0.5:
        X[:, 0] = np.where(y > 0, np.abs(X[:, 0]) + 1, -np.abs(X[:, 0]))
    else:
        X[5] = 0.5 * X[0] + 0.25 * X[1] + 0.25 * X[2]

    def mark(answer: Answer) -> Verdict:
        weights = np.asarray(answer["weights"], dtype=float)
        if weights.size == 0:
            score = y * (X @ np.asarray(answer["w"], dtype=float) + float(answer["b"]))
            if np.all(score > 0):
                return Verdict(True, "The line separates the classes.")
            return Verdict(False, f"Row {int(np.argmin(score))} is not on its side: y(w·x + b) = {score.min():g}.")
        if weights.shape != y.shape or np.any(weights < 0):
            return Verdict(False, "There is one weight for every row, and none is negative.")
        sums = [float(weights[y == s].sum()) for s in (1, -1)]
        apart = float(np.abs(weights * y @ X).max())
        if max(abs(s - 1) for s in sums) < 1e-6 and apart < 1e-6 * (1 + float(np.abs(X).max())):
            return Verdict(True, "The same point lies in both convex hulls: no line separates the classes.")
        return Verdict(
            False, f"The weights add up to {sums[0]:g} and {sums[1]:g}, and the averages differ by {apart:g}."
        )

    asks = {"w": "two numbers, or empty", "b": "a number", "weights": "six numbers, or empty"}
    return {"data": {"X": X, "y": y}, "asks": asks, "mark": mark, "hint": "Draw the points."}
