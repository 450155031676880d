"""One picture per function of ``certifit.plot``, each drawn by the lines that its page shows."""

# Imports stand inside the functions, because a reader sees the body alone.
from __future__ import annotations

from typing import Any


def show_decision_regions() -> Any:
    """Regions of a classifier, stronger where it is surer."""
    from sklearn.datasets import load_iris

    from certifit import plot
    from certifit.naive_bayes import GaussianNB

    data = load_iris()
    X, y = data.data[:, 2:], data.target_names[data.target]
    return plot.decision_regions(GaussianNB().fit(X, y), X, y, names=("petal length", "petal width"))


def show_margins() -> Any:
    """Boundary, both margins, support vectors ringed."""
    import numpy as np

    from certifit import plot
    from certifit.svm import SVC

    rng = np.random.default_rng(7)
    X = np.vstack([rng.normal((-1, 0), 0.7, (25, 2)), rng.normal((1, 0.4), 0.7, (25, 2))])
    y = np.repeat(["no", "yes"], 25)
    return plot.margins(SVC(kernel="linear", C=1.0).fit(X, y), X, y)


def show_perceptron_steps() -> Any:
    """The lines a perceptron went through; older ones are fainter."""
    import numpy as np

    from certifit import plot
    from certifit.linear_model import Perceptron

    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal((-1.3, 0), 0.7, (15, 2)), rng.normal((1.3, 0.4), 0.7, (15, 2))])
    y = np.repeat([0, 1], 15)
    model = Perceptron(random_state=2, trace=True, tol=None).fit(X, y)
    return plot.perceptron_steps(model, X, y)


def show_perceptron_animation() -> Any:
    """The same, mistake by mistake; save() writes a GIF or a film."""
    import numpy as np

    from certifit import plot
    from certifit.linear_model import Perceptron

    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal((-1.3, 0), 0.7, (15, 2)), rng.normal((1.3, 0.4), 0.7, (15, 2))])
    y = np.repeat([0, 1], 15)
    model = Perceptron(random_state=2, trace=True, tol=None).fit(X, y)
    return plot.perceptron_animation(model, X, y)


def show_trace_animation() -> Any:
    """The proved gap of a fit, iteration by iteration."""
    from sklearn.datasets import load_breast_cancer

    from certifit import plot
    from certifit.linear_model import LogisticRegression

    X, y = load_breast_cancer(return_X_y=True)
    return plot.trace_animation(LogisticRegression(trace=True).fit(X, y))


def show_descent() -> Any:
    """Gradient descent on a narrow valley: a step that is nearly too large swings from side to side."""
    import numpy as np

    from certifit import plot
    from certifit.solvers import gradient_descent

    def valley(t):
        return float(t[0] ** 2 + 10.0 * t[1] ** 2)

    found = gradient_descent(
        valley, lambda t: np.array([2.0, 20.0]) * t, np.array([3.0, 1.0]), step=0.09, tol=1e-3, trace=True
    )
    return plot.descent(valley, found.trace)


def show_regularization_path() -> Any:
    """Coefficients against the strength of the penalty."""
    from sklearn.datasets import load_diabetes

    from certifit import linear_model, plot

    data = load_diabetes()
    X, y = data.data - data.data.mean(axis=0), data.target - data.target.mean()
    alphas, path, _ = linear_model.lasso_path(X, y, alphas=60)
    return plot.regularization_path(alphas, path, names=data.feature_names, chosen=0.1)


def show_tree() -> Any:
    """Questions in boxes, leaves in the colour of their answer, the way of one row in dark."""
    from sklearn.datasets import load_iris

    from certifit import plot
    from certifit.tree import DecisionTreeClassifier

    data = load_iris(as_frame=True)
    model = DecisionTreeClassifier(max_depth=3).fit(data.data, data.target_names[data.target])
    return plot.tree(model, highlight=data.data.iloc[[77]])


def show_shape() -> Any:
    """One column's part of an additive model: piecewise linear between quantiles."""
    from sklearn.datasets import load_diabetes
    from sklearn.pipeline import make_pipeline

    from certifit import plot
    from certifit.linear_model import Ridge
    from certifit.preprocessing import AdditiveBasis

    data = load_diabetes(as_frame=True, scaled=False)
    model = make_pipeline(AdditiveBasis(n_steps=8), Ridge(3.0)).fit(data.data, data.target)
    return plot.shape(model, "bmi")


def show_kernel_matrix() -> Any:
    """A Gram matrix with its rows sorted by class."""
    from sklearn.datasets import load_iris

    from certifit import kernels, plot

    data = load_iris()
    return plot.kernel_matrix(kernels.RBF(gamma=0.5), data.data, data.target_names[data.target])


def show_posterior() -> Any:
    """Beliefs about finitely many hypotheses, outcome by outcome."""
    from certifit import plot
    from certifit.bayes import HypothesisSpace

    lime = {"all cherry": 0.0, "mostly cherry": 0.25, "half": 0.5, "mostly lime": 0.75, "all lime": 1.0}
    bag = HypothesisSpace(
        dict(zip(lime, (0.1, 0.2, 0.4, 0.2, 0.1))),
        {name: {"cherry": 1 - p, "lime": p} for name, p in lime.items()},
    )
    return plot.posterior(bag, ["lime"] * 10)


def show_residuals() -> Any:
    """Deviance residuals of a GLM against its means."""
    import numpy as np

    from certifit import plot
    from certifit.glm import GLM

    rng = np.random.default_rng(1)
    X = rng.uniform(0, 3, (120, 1))
    y = rng.poisson(np.exp(X[:, 0]))
    return plot.residuals(GLM("poisson").fit(X, y), X, y)


def show_trace() -> Any:
    """The gap of each iteration: a fit with trace=True."""
    import numpy as np

    from certifit import plot
    from certifit.linear_model import LinearModel

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, 1, -1)
    ax = None
    for solver in ("gradient_descent", "proximal", "newton"):
        model = LinearModel("logistic", "l2", lam=0.01, solver=solver, tol=1e-9, trace=True).fit(X, y)
        ax = plot.trace(model, ax=ax, label=solver)
    return ax.set_xscale("log") or ax


def show_confusion() -> Any:
    """Counts and the share of each true class."""
    from sklearn.datasets import load_wine

    from certifit import metrics, plot
    from certifit.model_selection import cross_validate
    from certifit.naive_bayes import GaussianNB

    X, y = load_wine(return_X_y=True)
    return plot.confusion(metrics.confusion(y, cross_validate(GaussianNB(), X[:, :4], y).predictions))


def show_roc() -> Any:
    """The curve, its simultaneous band, the area with its interval."""
    import numpy as np

    from certifit import metrics, plot

    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    return plot.roc(metrics.roc(y, 1.3 * y + rng.normal(size=200)))


def show_precision_recall() -> Any:
    """Precision against recall."""
    import numpy as np

    from certifit import metrics, plot

    rng = np.random.default_rng(0)
    y = np.arange(200) % 5 == 0
    return plot.precision_recall(metrics.precision_recall(y, 1.5 * y + rng.normal(size=200)))


def show_calibration() -> Any:
    """Do seventy per cent of the rows with probability 0.7 come true?"""
    import numpy as np

    from certifit import metrics, plot

    rng = np.random.default_rng(0)
    probability = rng.uniform(size=400)
    y = rng.uniform(size=400) < probability**1.5
    return plot.calibration(metrics.calibration(y, probability, bins=8))


def show_cross_validation() -> Any:
    """Fold by fold, with the interval of the mean that knows folds overlap."""
    from sklearn.datasets import load_diabetes

    from certifit import plot
    from certifit.linear_model import Ridge
    from certifit.model_selection import cross_validate

    X, y = load_diabetes(return_X_y=True)
    return plot.cross_validation(cross_validate(Ridge(0.1), X, y, cv=10))


def show_search() -> Any:
    """Score along a grid, one standard error, the choice."""
    import numpy as np
    from sklearn.datasets import load_diabetes

    from certifit import plot
    from certifit.linear_model import Ridge
    from certifit.model_selection import Search

    X, y = load_diabetes(return_X_y=True)
    return plot.search(Search(Ridge(), {"alpha": np.logspace(-3, 1, 30)}, cv=10, rule="one_se").fit(X, y))


def show_learning_curve() -> Any:
    """What more rows would bring: curve() of a learning_curve."""
    from sklearn.datasets import load_diabetes

    from certifit import plot
    from certifit.linear_model import LinearRegression
    from certifit.model_selection import learning_curve

    X, y = load_diabetes(return_X_y=True)
    return plot.curve(learning_curve(LinearRegression(), X, y, train_sizes=[30, 60, 120, 240, 350]))


def show_validation_curve() -> Any:
    """Too simple on the left, too clever on the right: curve() of a validation_curve."""
    from sklearn.datasets import load_breast_cancer

    from certifit import plot
    from certifit.model_selection import validation_curve
    from certifit.tree import DecisionTreeClassifier

    X, y = load_breast_cancer(return_X_y=True)
    return plot.curve(
        validation_curve(DecisionTreeClassifier(), X, y, param_name="max_depth", param_range=[1, 2, 3, 4, 6, 8])
    )


def show_comparison() -> Any:
    """Several models on the same folds."""
    from sklearn.datasets import load_wine

    from certifit import plot
    from certifit.linear_model import LogisticRegression
    from certifit.model_selection import compare
    from certifit.naive_bayes import GaussianNB
    from certifit.tree import DecisionTreeClassifier

    X, y = load_wine(return_X_y=True)
    models = {"logistic": LogisticRegression(), "naive Bayes": GaussianNB(), "tree": DecisionTreeClassifier()}
    return plot.comparison(compare(models, X, y, cv=10))


def show_bias_variance() -> Any:
    """Bias², variance and noise, adding up to the expected loss."""
    import numpy as np

    from certifit import plot
    from certifit.model_selection import bias_variance
    from certifit.tree import DecisionTreeRegressor

    def draw(rng):
        x = rng.uniform(-1, 1, size=(60, 1))
        return x, np.sin(4 * x[:, 0]) + 0.4 * rng.normal(size=60)

    points = np.linspace(-1, 1, 61)[:, None]
    truth = (np.sin(4 * points[:, 0]), 0.16)
    depths = [1, 2, 3, 4, 6, 8]
    parts = [
        bias_variance(DecisionTreeRegressor(max_depth=d), points, draw=draw, truth=truth, rounds=60) for d in depths
    ]
    return plot.bias_variance(parts, depths, name="depth of the tree")


def show_bootstrap() -> Any:
    """Out-of-bag errors, round by round."""
    from sklearn.datasets import load_wine

    from certifit import plot
    from certifit.model_selection import bootstrap
    from certifit.naive_bayes import GaussianNB

    X, y = load_wine(return_X_y=True)
    return plot.bootstrap(bootstrap(GaussianNB(), X[:, :2], y, rounds=60))


def show_leakage() -> Any:
    """Skill on permuted labels gives a leak away."""
    import numpy as np
    from sklearn.neighbors import KNeighborsClassifier

    from certifit import plot
    from certifit.model_selection import leakage_check

    rng = np.random.default_rng(0)
    noise, coin = rng.normal(size=(50, 1000)), np.arange(50) % 2

    def choose(X, y):
        return X[:, np.argsort(-np.abs((X - X.mean(0)).T @ (y - y.mean())))[:20]]

    return plot.leakage(leakage_check(KNeighborsClassifier(3), noise, coin, prepare=choose, rounds=8))


def show_clusters() -> Any:
    """Rows, centres, and which centre is nearest where."""
    import numpy as np

    from certifit import plot
    from certifit.cluster import KMeans

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 0.7, size=(40, 2)) for m in [(0, 0), (3, 0.5), (1, 3)]])
    return plot.clusters(KMeans(3, random_state=0).fit(X), X)


def show_number_of_clusters() -> Any:
    """How many clusters? Three measures, each with its interval."""
    import numpy as np

    from certifit import plot
    from certifit.cluster import choose_k

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 0.7, size=(40, 2)) for m in [(0, 0), (3, 0.5), (1, 3)]])
    return plot.number_of_clusters(choose_k(X, range(1, 7), random_state=0))


def show_grid_values() -> Any:
    """Values as shades, actions as arrows."""
    from certifit import plot
    from certifit.reinforcement import grid_world, value_iteration

    world = grid_world(["...+", ".#.-", "...."], noise=0.1, living_reward=-0.04, discount=0.99)
    return plot.grid_values(value_iteration(world))


def first_regions() -> Any:
    """The regions that the first page draws."""
    from sklearn.datasets import load_diabetes

    from certifit import plot
    from certifit.tree import DecisionTreeClassifier

    X, y = load_diabetes(return_X_y=True)
    points, label = X[:, [2, 8]], y > 140
    tree = DecisionTreeClassifier(max_depth=3).fit(points, label)
    return plot.decision_regions(tree, points, label, names=("body mass index", "triglycerides"))
