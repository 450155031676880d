"""Any classifier on your own table: two columns, the regions, the proof."""

from __future__ import annotations

from typing import Any

import numpy as np

import certifit as cf
from certifit.lab import _presets
from certifit.lab._frame import Frame, Layer, Marks, Panel, Proof, Raster
from certifit.lab._scene import Board, Choice, LabError, Preset, Probe, Scene, Shown, Slider, labelled


def solve(X: np.ndarray, y: np.ndarray, *, model: str, C: float, k: int, depth: int) -> Any:
    """The chosen classifier, fitted to the two columns as they are."""
    makers: dict[str, Any] = {
        "logistic regression": lambda: cf.linear_model.LogisticRegression(C=C),
        "linear SVM": lambda: cf.svm.LinearSVC(C=C),
        "kernel SVM": lambda: cf.svm.SVC(C=C),
        "nearest neighbours": lambda: cf.neighbors.KNeighborsClassifier(min(k, len(X))),
        "decision tree": lambda: cf.tree.DecisionTreeClassifier(max_depth=depth),
        "naive Bayes": lambda: cf.naive_bayes.GaussianNB(),
        "perceptron": lambda: cf.linear_model.Perceptron(max_iter=100),
        "network": lambda: cf.neural.MLPClassifier((8,), "tanh", alpha=0.1, max_iter=60, random_state=0),
    }
    return makers[model]().fit(X, y)


def report(answer: Any, X: np.ndarray, y: np.ndarray, **params: object) -> dict[str, object]:
    """Accuracy with its interval, and whether the fit is proved."""
    right = cf.metrics.confusion(y, answer.predict(X)).accuracy
    return {
        "training accuracy": float(right),
        "its interval": str(right.interval(0.95)),
        "proved": bool(answer.certificate_.holds),
    }


class AnyModel(Scene):
    """Steps: the points, the fit."""

    title = "Your table, any model"
    order = 17
    page = "families/study"
    about = (
        "Load a table, choose two of its columns or its first two principal components, and a column of classes; "
        "then try any classifier on it. Nothing is rescaled behind your back: the axes have the units of the "
        "columns, and models that care about units show it. The figures are those on the training points, which "
        "are optimistic; certifit study compares models on held-out rows, with all columns. The claim below is the "
        "certificate of this fit."
    )
    labels = ("A", "B", "C")
    many = True
    controls = (
        Choice(
            "model",
            "model",
            (
                "logistic regression",
                "linear SVM",
                "kernel SVM",
                "nearest neighbours",
                "decision tree",
                "naive Bayes",
                "perceptron",
                "network",
            ),
        ),
        Slider(
            "C", "C", 0.001, 1000, 1.0, log=True, when=("model", ("logistic regression", "linear SVM", "kernel SVM"))
        ),
        Slider("k", "neighbours", 1, 25, 5, step=1, when=("model", ("nearest neighbours",))),
        Slider("depth", "depth at most", 1, 12, 3, step=1, when=("model", ("decision tree",))),
    )
    presets = (
        Preset(
            "iris flowers",
            _presets.iris(),
            axes=("petal length (cm)", "petal width (cm)"),
            classes=("setosa", "versicolor", "virginica"),
            view=(0, 8, -0.2, 3),
        ),
        Preset("moons", _presets.moons(40, 0.2, 2), {"model": "kernel SVM"}, view=(-2, 3, -1.5, 2.25)),
    )

    def check(self, board: Board) -> None:
        """Classes to tell apart."""
        if len(np.unique(board.y)) < 2:
            raise LabError("Draw or load points of at least two classes.")

    def steps(self, shown: Shown) -> int:
        """The points, the fit."""
        return 2

    def frame(self, shown: Shown, step: int) -> Frame:
        """The regions and the proof."""
        board, model = shown.board, shown.answer
        if step == 0:
            return Frame([], [board.counts()], f"The points: {board.axes[0]} and {board.axes[1]}, in their own units.")
        G, shape = board.grid(100, 40)
        predicted = model.predict(board.X)
        wrong = np.flatnonzero(predicted != board.y)
        layers: list[Layer] = [Raster(model.predict(G).reshape(shape), strength=0.24), Marks(wrong, "ring", "bad")]
        name = shown["model"][0].upper() + shown["model"][1:]
        caption = f"{name}: {len(wrong)} of {len(board.y)} points get another label than their own (circled)."
        panels: list[Panel] = [board.counts(), Proof.later() if board.quick else Proof.of(model.certificate_)]
        sure = model.certain(board.X) if hasattr(model, "certain") and not board.quick else None
        proved = not board.quick and bool(model.certificate_.holds)
        return Frame(
            layers, panels, caption, "Proved: see the certificate." if proved else "", labelled(board, predicted, sure)
        )

    def probe(self, shown: Shown, step: int, x: float, y: float) -> Probe | None:
        """The predicted class."""
        return (
            Probe([f"predicted {shown.board.label(int(shown.answer.predict(np.array([[x, y]]))[0]))}"])
            if step
            else None
        )
