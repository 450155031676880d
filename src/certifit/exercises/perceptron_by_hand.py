"""The perceptron on a few points."""

import numpy as np

from certifit._types import Array
from certifit.exercises._base import Answer, Verdict, exercise, same


def _run(X: Array, y: Array, strict: bool = False, offset: bool = True) -> tuple[Array, float, list[int]]:
    wrong: list[int] = []
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(200):
        before = len(wrong)
        for i, (x, label) in enumerate(zip(X, y)):
            score = label * (w @ x + b)
            if score < 0 or (score == 0 and not strict):
                w, b = w + label * x, b + label if offset else 0.0
                wrong.append(i)
        if len(wrong) == before:
            break
    return w, b, wrong


@exercise("perceptron-by-hand", "linear classifiers")
def perceptron_by_hand(rng: np.random.Generator) -> dict[str, object]:
    """The perceptron by hand.

    Start at w = 0, b = 0 and go through the rows in order, again and again, until no row is wrong. A row is wrong when
    y(w·x + b) ≤ 0; then w becomes w + yx and b becomes b + y. Which rows were wrong, in order, and where does it end?
    """
    direction = rng.choice([-1.0, 1.0], size=2)
    X = rng.integers(-4, 5, size=(6, 2)).astype(float)
    y = np.where(X @ direction + 0.5 > 0, 1, -1)
    if abs(y.sum()) == 6:
        X[0], y[0] = -X[0] - 2 * direction * y[0], -y[0]
    w, b, wrong = _run(X, y)
    slips = {
        "A score of zero counts as a mistake: y(w·x + b) ≤ 0.": _run(X, y, strict=True),
        "Did you forget to move the offset b?": _run(X, y, offset=False),
    }

    def mark(answer: Answer) -> Verdict:
        if same(answer["w"], w) and same(answer["b"], b) and same(answer["mistakes"], wrong):
            return Verdict(True, f"{len(wrong)} mistakes, and it stops at w = {w.tolist()}, b = {b:g}.")
        for question, (v, c, _) in slips.items():
            if same(answer["w"], v) and same(answer["b"], c):
                return Verdict(False, "It does not end there.", question)
        return Verdict(False, "It does not end there, or takes other steps on the way.")

    asks = {
        "w": "two numbers",
        "b": "a number",
        "mistakes": "row numbers, counted from 0, in the order of the mistakes",
    }
    return {"data": {"X": X, "y": y}, "asks": asks, "mark": mark, "hint": "Write down w and b after every mistake."}
