"""Pictures of the family pages: each function draws one, in the style and on the paper in force."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from certifit import plot


def _sheet(columns: int, size: tuple[float, float], rows: int = 1, **options: Any) -> tuple[Figure, Any]:
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def _two_clouds(n: int = 30, apart: float = 1.4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal((-apart, 0), 0.7, (n, 2)), rng.normal((apart, 0.4), 0.7, (n, 2))])
    return X, np.repeat([0, 1], n)


# learning as optimisation


def squeeze() -> Any:
    """Upper bounds from fits, lower bounds from multipliers, and the optimum between them."""
    from certifit.losses import Logistic

    rng = np.random.default_rng(1)
    x, lam = rng.normal(size=12), 0.3
    y = np.where(x + rng.normal(size=12) > 0, 1.0, -1.0)
    loss = Logistic()
    w = np.linspace(-1.0, 4.0, 200)
    primal = [np.mean(loss.value(v * x, y)) + lam / 2 * v * v for v in w]
    dual = []
    for v in w:
        u = loss.slope(v * x, y)
        dual.append(-np.mean(loss.conjugate(u, y)) - np.mean(u * x) ** 2 / (2 * lam))
    figure, ax = _sheet(1, (6.4, 3.6))
    ax.plot(w, primal, label="P(w): upper bound on the minimum")
    ax.plot(w, dual, label="D(u) with u the slopes at w: lower bound")
    ax.fill_between(w, dual, primal, color=plot.palette().faint, alpha=0.25, linewidth=0)
    best = int(np.argmin(primal))
    ax.plot(w[best], primal[best], "o", color=plot.palette().ink)
    ax.annotate(
        "the optimum, where they meet", (w[best], primal[best]), (w[best] + 0.5, 0.12),
        arrowprops={"arrowstyle": "->", "color": plot.palette().ink},
    )  # fmt: skip
    ax.set(xlabel="w", ylabel="value", ylim=(0, 2.2))
    ax.legend(loc="upper center")
    return figure


def losses() -> Any:
    """Losses of a score against the label's side."""
    from certifit.losses import get_loss

    m = np.linspace(-2.5, 2.5, 400)
    ones = np.ones_like(m)
    _, ax = plot.figure(None, (6.4, 3.8))
    ax.plot(m, (m <= 0).astype(float), color=plot.palette().ink, linewidth=2.2, label="0-1")
    for name in ("perceptron", "hinge", "squared_hinge", "logistic", "exponential"):
        ax.plot(m, get_loss(name).value(m, ones), label=name.replace("_", " "))
    ax.set(xlabel="yz: positive where the sign is right", ylabel="loss", ylim=(-0.1, 4.2))
    ax.legend()
    return ax


def penalties() -> Any:
    """The set where each penalty is at most one."""
    from certifit.regularizers import L1, ElasticMix, PNorm, SquaredL2

    grid = np.linspace(-1.6, 1.6, 241)
    A, B = np.meshgrid(grid, grid)
    figure, panels = _sheet(4, (9.0, 2.5), sharey=True)
    shown = {"l2: ‖w‖²": SquaredL2(), "l1: ‖w‖₁": L1(), "elastic mix": ElasticMix(0.5), "p-norm, p = 4": PNorm(4.0)}
    for ax, (name, penalty) in zip(panels, shown.items()):
        value = np.array([penalty.value(np.array([a, b])) for a, b in zip(A.ravel(), B.ravel())]).reshape(A.shape)
        ax.contourf(A, B, value, levels=[-1, 1], colors=["C0"], alpha=0.2)
        ax.contour(A, B, value, levels=[0.5, 1.0, 2.0], colors="C0", linewidths=[0.7, 1.6, 0.7])
        ax.axhline(0, color=plot.palette().faint, linewidth=0.7)
        ax.axvline(0, color=plot.palette().faint, linewidth=0.7)
        ax.set(title=name, aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1], xlabel="w₁")
    panels[0].set_ylabel("w₂")
    return figure


def descent() -> Any:
    """Gradient descent on a valley with three steps."""
    from certifit.solvers import gradient_descent

    H = np.diag([1.0, 12.0])
    start = np.array([-3.0, 1.0])
    grid = np.meshgrid(np.linspace(-3.6, 2.6, 160), np.linspace(-1.6, 1.6, 160))
    value = 0.5 * (grid[0] ** 2 + 12 * grid[1] ** 2)
    figure, panels = _sheet(3, (9.4, 2.9), sharey=True)
    for ax, (step, name) in zip(panels, ((0.02, "small: slow"), (1 / 12, "1/L: safe"), (0.16, "near 2/L: it swings"))):
        way = [start]
        gradient_descent(
            lambda t: 0.5 * float(t @ H @ t), lambda t, way=way: (way.append(np.array(t)), H @ t)[1],
            start, step=step, tol=1e-9, max_iter=40,
        )  # fmt: skip
        points = np.array(way)
        ax.contour(
            *grid, value, levels=np.array([0.1, 0.5, 1.5, 3, 6, 10]), colors=[plot.palette().faint], linewidths=0.8
        )
        ax.plot(*points.T, "o-", markersize=3, linewidth=1)
        ax.plot(0, 0, "*", color="C1", markersize=10)
        ax.set(title=f"step {step:.3g}: {name.split(': ')[1]}", xlabel="θ₁")
    panels[0].set_ylabel("θ₂")
    return figure


def least_squares() -> Any:
    """A line, its residuals, and the squares whose sum it makes least."""
    from matplotlib.patches import Rectangle

    from certifit.linear_model import LinearRegression

    rng = np.random.default_rng(4)
    x = np.sort(rng.uniform(0, 5, 9))
    y = 0.6 * x + 0.7 + 0.55 * rng.normal(size=9)
    model = LinearRegression().fit(x[:, None], y)
    fitted = model.predict(x[:, None])
    _, ax = plot.figure(None, (5.6, 4.0))
    ax.plot(
        [0, 5.3],
        model.predict([[0.0], [5.3]]),
        color="C0",
        label=f"y = {model.coef_[0]:.2f} x + {model.intercept_:.2f}",
    )
    for a, b, f in zip(x, y, fitted):
        side = abs(b - f)
        ax.plot([a, a], [f, b], color="C1", linewidth=1)
        ax.add_patch(Rectangle((a, min(b, f)), side, side, facecolor="C1", alpha=0.18, linewidth=0))
    ax.plot(x, y, "o", color=plot.palette().ink)
    ax.set(xlabel="x", ylabel="y", aspect="equal", title="the sum of the shaded areas is least")
    ax.legend(loc="upper left")
    return ax


def conditioning() -> Any:
    """Digits of the coefficients, proved and lost, as powers of x become alike."""
    from certifit.linear_model import LinearRegression

    x = np.arange(21.0)
    degrees = range(1, 11)
    proved, plain, condition = [], [], []
    for degree in degrees:
        X = np.column_stack([x**k for k in range(1, degree + 1)])
        y = 1 + X.sum(axis=1)
        proved.append(max(0.0, LinearRegression().fit(X, y).certificate_.digits))
        W = np.column_stack([np.ones(21), X])
        theta = np.linalg.solve(W.T @ W, W.T @ y)
        plain.append(max(0.0, -np.log10(max(np.abs(theta - 1).max(), 1e-17))))
        condition.append(np.log10(np.linalg.cond(W / np.linalg.norm(W, axis=0))))
    figure, ax = _sheet(1, (6.2, 3.6))
    ax.plot(degrees, proved, "o-", label="digits proved by the certificate")
    ax.plot(degrees, np.minimum(plain, 16), "s--", label="correct digits of (WᵀW)⁻¹Wᵀy, the plain formula")
    ax.plot(degrees, condition, color=plot.palette().faint, label="log₁₀ of the condition number")
    ax.set(xlabel="degree of the polynomial", ylabel="digits", ylim=(-0.5, 17), xticks=list(degrees))
    ax.legend(loc="upper right", bbox_to_anchor=(1.0, 0.9))
    return figure


def ridge_path() -> Any:
    """Coefficients of two nearly equal columns under ridge."""
    from certifit.linear_model import Ridge

    rng = np.random.default_rng(2)
    a = rng.normal(size=40)
    X = np.column_stack([a, a + 0.05 * rng.normal(size=40), rng.normal(size=40)])
    y = a + 0.5 * X[:, 2] + 0.3 * rng.normal(size=40)
    alphas = np.logspace(-4, 4, 60)
    path = [Ridge(s).fit(X, y).coef_ for s in alphas]
    return plot.regularization_path(alphas, path, names=["x₁", "x₂ ≈ x₁", "x₃"])


def lasso_corner() -> Any:
    """Why the lasso sets coefficients to zero and ridge does not: the ball meets the level lines."""
    grid = np.meshgrid(np.linspace(-1.2, 2.6, 300), np.linspace(-1.2, 2.2, 300))
    centre, H = np.array([1.8, 0.6]), np.array([[1.0, -0.3], [-0.3, 1.2]])
    D = np.stack(grid, axis=-1) - centre
    value = np.einsum("...i,ij,...j->...", D, H, D)
    figure, panels = _sheet(2, (7.6, 3.5), sharey=True)
    balls = {
        "ridge: the ball is round": np.hypot(*grid),
        "lasso: the ball has corners": np.abs(grid[0]) + np.abs(grid[1]),
    }
    for ax, (name, size) in zip(panels, balls.items()):
        inside = np.where(size <= 1.0, value, np.inf)
        best = np.unravel_index(np.argmin(inside), inside.shape)
        ax.contourf(*grid, size, levels=[-1, 1], colors=["C0"], alpha=0.2)
        ax.contour(*grid, size, levels=[1], colors="C0")
        levels = inside[best] * np.array([0.15, 0.45, 1.0, 1.6])
        ax.contour(*grid, value, levels=levels, colors="C1", linewidths=0.9)
        ax.plot(*centre, "*", color="C1", markersize=9)
        ax.plot(grid[0][best], grid[1][best], "o", color=plot.palette().ink, markersize=7)
        ax.axhline(0, color=plot.palette().faint, linewidth=0.7, zorder=0)
        ax.axvline(0, color=plot.palette().faint, linewidth=0.7, zorder=0)
        ax.set(title=name, xlabel="w₁", aspect="equal")
    panels[0].set_ylabel("w₂")
    return figure


def lasso_path() -> Any:
    """The diabetes path, with the strength that cross-validation chose."""
    from sklearn.datasets import load_diabetes

    from certifit import linear_model
    from certifit.model_selection import Search

    data = load_diabetes()
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    y = data.target - data.target.mean()
    alphas, path, _ = linear_model.lasso_path(X, y, alphas=80, eps=1e-3)
    search = Search(linear_model.Lasso(), {"alpha": alphas}, cv=10, rule="one_se").fit(X, y)
    return plot.regularization_path(alphas, path, names=data.feature_names, chosen=search.best_params_["alpha"])


# linear classifiers


def perceptron_steps() -> Any:
    """All lines a perceptron went through, and one of its steps."""
    X, y, model = _perceptron()
    figure, panels = _sheet(2, (8.6, 3.6), sharey=True)
    plot.perceptron_steps(model, X, y, ax=panels[0], step=3)
    plot.perceptron_steps(model, X, y, ax=panels[1])
    return figure


def perceptron_film() -> Any:
    """The steps one by one."""
    X, y, model = _perceptron()
    return plot.perceptron_animation(model, X, y)


def _perceptron() -> tuple[Any, Any, Any]:
    from certifit.linear_model import Perceptron

    X, y = _two_clouds(15, 1.3, seed=3)
    order = np.random.default_rng(2).permutation(len(y))
    X, y = X[order], y[order]
    return X, y, Perceptron(shuffle=False, trace=True, tol=None).fit(X, y)


def separability() -> Any:
    """The three verdicts, with their proofs drawn in."""
    from scipy.spatial import ConvexHull

    from certifit import separability as ask

    rng = np.random.default_rng(3)
    cloud = rng.normal(size=(12, 2)) * [0.5, 0.7]
    other = rng.normal(size=(12, 2)) * [0.5, 0.7]
    touching = (
        np.array([[-1.0, 0.0], [-0.6, 1.0], [0.0, -0.4], [0.0, 0.9], [-1.2, -0.9]]),
        np.array([[0.0, 0.2], [0.9, -0.6], [1.1, 0.8], [0.7, 0.1], [0.5, 1.1]]),
    )
    far, near = np.array([1.5, 0.0]), np.array([0.45, 0.0])
    cases = [(cloud - far, other + far), touching, (cloud - near, other + near)]
    figure, panels = _sheet(3, (10.0, 3.2))
    for ax, (A, B) in zip(panels, cases):
        X, y = np.vstack([A, B]), np.repeat([0, 1], [len(A), len(B)])
        answer = ask(X, y, rigor="exact")
        for k, points in enumerate((A, B)):
            hull = points[ConvexHull(points).vertices]
            ax.fill(*hull.T, color=f"C{k}", alpha=0.15, linewidth=0)
            ax.plot(*points.T, "os"[k], color=f"C{k}")
        if answer.verdict == "overlapping":
            rows = np.flatnonzero(answer.multipliers)
            mu = answer.multipliers[rows[y[rows] == 0]]
            ax.plot(*X[rows].T, "o", markersize=11, markerfacecolor="none", markeredgecolor=plot.palette().ink)
            ax.plot(*(mu @ X[rows[y[rows] == 0]] / mu.sum()), "*", color=plot.palette().ink, markersize=12)
        else:
            xlim, ylim = ax.get_xlim(), ax.get_ylim()
            w, b = np.asarray(answer.w), float(answer.b)
            t = np.linspace(*ylim, 2)
            ax.plot(-(w[1] * t + b) / w[0], t, color=plot.palette().ink)
            ax.set(xlim=xlim, ylim=ylim)
        ax.set(title=answer.verdict, xticks=[], yticks=[])
    return figure


def sigmoid() -> Any:
    """Probability of passing against hours of study, with the threshold."""
    from certifit.linear_model import LogisticRegression

    hours = np.array(
        [0.5, 0.75, 1, 1.25, 1.5, 1.75, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 4, 4.25, 4.5, 4.75, 5, 5.5]
    )
    passed = np.array([0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1])
    model = LogisticRegression(C=np.inf).fit(hours[:, None], passed)
    grid = np.linspace(0, 6, 200)
    _, ax = plot.figure(None, (6.0, 3.6))
    ax.plot(grid, model.predict_proba(grid[:, None])[:, 1], label="P(pass | hours)")
    ax.axhline(0.5, color=plot.palette().faint, linewidth=0.8)
    border = -model.intercept_[0] / model.coef_[0, 0]
    ax.axvline(
        border, color=plot.palette().ink, linewidth=0.9, linestyle=":", label=f"log-odds 0 at {border:.2f} hours"
    )
    for c, marker in ((0, "o"), (1, "s")):
        ax.plot(hours[passed == c], passed[passed == c], marker, color=f"C{c}", markersize=6)
    ax.set(xlabel="hours", ylabel="probability", yticks=[0, 0.25, 0.5, 0.75, 1])
    ax.legend(loc="center right")
    return ax


def softmax_regions() -> Any:
    """Softmax on iris, two columns."""
    from sklearn.datasets import load_iris

    from certifit.linear_model import LogisticRegression

    data = load_iris()
    X, y = data.data[:, 2:], data.target_names[data.target]
    return plot.decision_regions(
        LogisticRegression(C=10).fit(X, y), X, y, names=("petal length (cm)", "petal width (cm)")
    )


def polynomial_fits() -> Any:
    """Degrees 1, 3 and 12 on the same fourteen points."""
    from sklearn.pipeline import make_pipeline

    from certifit.linear_model import LinearRegression
    from certifit.preprocessing import PolynomialBasis

    rng = np.random.default_rng(6)
    x = np.sort(rng.uniform(-1, 1, 14))[:, None]
    y = np.sin(3 * x[:, 0]) + 0.25 * rng.normal(size=14)
    grid = np.linspace(-1, 1, 300)[:, None]
    figure, panels = _sheet(3, (9.4, 2.9), sharey=True)
    for ax, degree in zip(panels, (1, 3, 12)):
        model = make_pipeline(PolynomialBasis(degree, include_one=False), LinearRegression()).fit(x, y)
        ax.plot(grid, np.sin(3 * grid), color=plot.palette().faint, label="truth")
        ax.plot(grid, model.predict(grid), label="fit")
        ax.plot(x, y, "o", color=plot.palette().ink)
        ax.set(title=f"degree {degree}", xlabel="x", ylim=(-2.2, 2.2))
    panels[0].set_ylabel("y")
    panels[0].legend(loc="lower right")
    return figure


# margins and kernels


def soft_margins() -> Any:
    """A strict and a tolerant machine, and a curved one."""
    from certifit.svm import SVC

    X, y = _two_clouds(25, 1.0, seed=7)
    figure, panels = _sheet(3, (10.6, 3.4), sharey=True)
    for ax, (name, model) in zip(
        panels,
        {
            "C = 100: strict": SVC(kernel="linear", C=100.0),
            "C = 0.05: tolerant": SVC(kernel="linear", C=0.05),
            "Gaussian kernel, C = 1": SVC(kernel="rbf", C=1.0),
        }.items(),
    ):
        plot.margins(model.fit(X, y), X, y, ax=ax)
        ax.set_title(f"{name}\n{len(model.support_)} support vectors")
        ax.get_legend().remove()
    return figure


def kernel_matrices() -> Any:
    """Gram matrices on two clouds, and one that is not Mercer."""
    from certifit import kernels

    X, y = _two_clouds(12, 1.2, seed=1)
    shown = {
        "linear": kernels.Linear(),
        "Gaussian": kernels.Gaussian(sigma=1.0),
        "minus the distance": kernels.Function(lambda A, B: -np.sqrt(((A[:, None] - B[None]) ** 2).sum(axis=2))),
    }
    figure, panels = _sheet(3, (10.4, 3.2))
    for ax, (name, kernel) in zip(panels, shown.items()):
        plot.kernel_matrix(kernel, X, y, ax=ax)
        ax.set_title(f"{name}\n{ax.get_title(loc='left')}")
    return figure


def kernel_regression() -> Any:
    """Kernel ridge with three widths."""
    from certifit import kernels
    from certifit.kernel_ridge import KernelRidge

    rng = np.random.default_rng(8)
    x = np.sort(rng.uniform(0, 6, 40))[:, None]
    y = np.sin(1.5 * x[:, 0]) + 0.25 * rng.normal(size=40)
    grid = np.linspace(0, 6, 300)[:, None]
    _, ax = plot.figure(None, (6.4, 3.6))
    ax.plot(x, y, "o", color=plot.palette().ink)
    for sigma, line in ((0.08, ":"), (0.6, "-"), (4.0, "--")):
        model = KernelRidge(alpha=0.1, kernel=kernels.Gaussian(sigma=sigma)).fit(x, y)
        ax.plot(grid, model.predict(grid), line, label=f"σ = {sigma:g}")
    ax.set(xlabel="x", ylabel="y")
    ax.legend()
    return ax


# trees and neighbours


def iris_tree() -> Any:
    """A small tree for iris, with the way of one flower."""
    from sklearn.datasets import load_iris

    from certifit.tree import DecisionTreeClassifier

    data = load_iris(as_frame=True)
    names = data.target_names[data.target]
    model = DecisionTreeClassifier(criterion="entropy", max_depth=3).fit(data.data, names)
    return plot.tree(model, highlight=data.data.iloc[[100]])


def tree_regions() -> Any:
    """The same table cut into boxes: shallow, deep, and pruned by cross-validation."""
    from certifit.tree import DecisionTreeClassifier

    rng = np.random.default_rng(9)
    X = rng.uniform(-1, 1, (160, 2))
    y = ((X[:, 0] ** 2 + X[:, 1] ** 2 < 0.5) ^ (rng.uniform(size=160) < 0.12)).astype(int)
    figure, panels = _sheet(3, (10.2, 3.2), sharey=True)
    models = {
        "depth 2": DecisionTreeClassifier(max_depth=2),
        "grown until pure": DecisionTreeClassifier(),
        "pruned by cross-validation": DecisionTreeClassifier(pruning="cv"),
    }
    for ax, (name, model) in zip(panels, models.items()):
        plot.decision_regions(model.fit(X, y), X, y, ax=ax)
        ax.set_title(f"{name}: {model.get_n_leaves()} leaves")
        ax.get_legend().remove()
    return figure


def neighbours() -> Any:
    """Regions of 1 and of 15 neighbours, and kernel regression."""
    from certifit.neighbors import KNeighborsClassifier, KNeighborsRegressor

    X, y = _two_clouds(45, 0.8, seed=3)
    figure, panels = _sheet(3, (10.4, 3.3))
    for ax, k in zip(panels, (1, 15)):
        plot.decision_regions(KNeighborsClassifier(k).fit(X, y), X, y, ax=ax)
        ax.set_title(f"k = {k}")
        ax.get_legend().remove()
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 1, 50))[:, None]
    v = np.sin(6 * t[:, 0]) + 0.2 * rng.normal(size=50)
    grid = np.linspace(0, 1, 400)[:, None]
    panels[2].plot(t, v, "o", color=plot.palette().ink)
    panels[2].plot(grid, KNeighborsRegressor(5).fit(t, v).predict(grid), label="mean of 5")
    smooth = KNeighborsRegressor(None, weights="gaussian", bandwidth=0.05).fit(t, v)
    panels[2].plot(grid, smooth.predict(grid), label="all rows, gaussian weights")
    panels[2].set(title="values", xlabel="x")
    panels[2].legend()
    return figure


# probability


def beliefs() -> Any:
    """A belief about a coin, and a Bayesian curve with its predictive band."""
    from certifit.bayes import BayesianLinearRegression, Powers
    from certifit.bayes.conjugate import BetaBernoulli

    figure, panels = _sheet(2, (9.6, 3.6))
    tosses = np.array([1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1])
    grid = np.linspace(0, 1, 400)
    for n in (0, 2, 6, 16):
        belief = BetaBernoulli(2, 2).update(tosses[:n]) if n else BetaBernoulli(2, 2)
        panels[0].plot(grid, belief.distribution.pdf(grid), label=f"{n} tosses")
    panels[0].set(xlabel="probability of heads", ylabel="density", title="the posterior narrows")
    panels[0].legend(loc="upper left")
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-1, -0.2, 15), rng.uniform(0.5, 1, 10)])[:, None]
    y = x[:, 0] ** 3 - x[:, 0] + 0.05 * rng.normal(size=25)
    plot.posterior(BayesianLinearRegression(basis=Powers(5)).fit(x, y), x, y, ax=panels[1])
    panels[1].set_title("uncertain where there are no data")
    return figure


def bayes_optimal() -> Any:
    """Two known classes and the error that nobody avoids."""
    from scipy.stats import norm

    from certifit.bayes import BayesOptimal

    best = BayesOptimal({"a": 0.5, "b": 0.5}, {"a": norm(-1), "b": norm(1)})
    x = np.linspace(-4.5, 4.5, 400)
    a, b = 0.5 * norm(-1).pdf(x), 0.5 * norm(1).pdf(x)
    _, ax = plot.figure(None, (6.0, 3.3))
    ax.plot(x, a, label="P(a) p(x | a)")
    ax.plot(x, b, label="P(b) p(x | b)")
    error = best.error(support=(-10, 10))
    ax.fill_between(
        x, np.minimum(a, b), color=plot.palette().ink, alpha=0.25, linewidth=0, label=f"unavoidable: {error:.3f}"
    )
    ax.set(xlabel="x", ylabel="density", ylim=(0, 0.27))
    ax.legend()
    return ax


def naive_bayes() -> Any:
    """Axis-parallel bells, and the quadratic boundary between them."""
    from certifit.naive_bayes import GaussianNB

    rng = np.random.default_rng(10)
    X = np.vstack([rng.normal((0, 0), (1.0, 0.4), (60, 2)), rng.normal((1.6, 1.3), (0.5, 0.9), (60, 2))])
    y = np.repeat(["calm", "wild"], 60)
    model = GaussianNB().fit(X, y)
    ax = plot.decision_regions(model, X, y)
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    A, B = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
    xlim, ylim = ax.get_xlim(), ax.get_ylim()
    for k in range(2):
        r = (A - model.theta_[k, 0]) ** 2 / model.var_[k, 0] + (B - model.theta_[k, 1]) ** 2 / model.var_[k, 1]
        ax.contour(A, B, r, levels=[1, 4], colors=f"C{k}", linewidths=0.9, linestyles="--")
    ax.set(xlim=xlim, ylim=ylim)
    return ax


def poisson_fit() -> Any:
    """Counts with their mean and 95 % range, and the residuals that check the family."""
    from scipy.stats import poisson

    from certifit.glm import GLM

    rng = np.random.default_rng(11)
    x = np.sort(rng.uniform(0, 4, 90))[:, None]
    y = rng.poisson(np.exp(0.3 + 0.6 * x[:, 0])).astype(float)
    model = GLM("poisson").fit(x, y)
    grid = np.linspace(0, 4, 200)[:, None]
    mean = model.predict(grid)
    figure, (left, right) = _sheet(2, (9.4, 3.5))
    left.fill_between(
        grid[:, 0], poisson.ppf(0.025, mean), poisson.ppf(0.975, mean), alpha=0.15, linewidth=0, label="95 % of counts"
    )
    left.plot(grid, mean, label="mean: exp(w·x + b)")
    left.plot(x, y, "o", color=plot.palette().ink, alpha=0.7)
    left.set(xlabel="x", ylabel="count", title="the spread grows with the mean")
    left.legend()
    plot.residuals(model, x, y, ax=right)
    right.set_title("no bend, even spread: the family fits")
    return figure


# unsupervised and evaluation


def components() -> Any:
    """The two components of a cloud, and digits from a few numbers."""
    from sklearn.datasets import load_digits

    from certifit.decomposition import PCA

    rng = np.random.default_rng(12)
    X = rng.normal(size=(150, 2)) @ np.array([[1.6, 0.9], [0.0, 0.45]]) + [2, 1]
    model = PCA(2).fit(X)
    figure = Figure(figsize=(9.8, 3.5), layout="constrained")
    grid = figure.add_gridspec(1, 6)
    ax = figure.add_subplot(grid[0, :3])
    one = PCA(1).fit(X)
    back = one.inverse_transform(one.transform(X))
    for a, b in zip(X, back):
        ax.plot(*np.array([a, b]).T, color=plot.palette().faint, linewidth=0.7, zorder=0)
    ax.plot(*X.T, "o", color="C0", alpha=0.7)
    for length, direction in zip(2 * np.sqrt(model.explained_variance_), model.components_):
        ax.annotate(
            "", model.mean_ + length * direction, model.mean_, arrowprops={"arrowstyle": "->", "color": "C1", "lw": 2}
        )
    ax.set(aspect="equal", xlabel="x₁", ylabel="x₂", title="grey: what one component loses")
    digits = load_digits().data
    for place, n in enumerate((2, 10, 64)):
        cell = figure.add_subplot(grid[0, 3 + place])
        reduced = PCA(n).fit(digits)
        cell.imshow(reduced.inverse_transform(reduced.transform(digits[3:4])).reshape(8, 8), cmap="Greys")
        cell.set(xticks=[], yticks=[], title=f"{n} of 64")
        cell.spines[:].set_visible(False)
    return figure


def judging() -> Any:
    """Confusion, ROC with its band, calibration."""
    from certifit import metrics

    rng = np.random.default_rng(13)
    y = np.arange(240) % 2
    score = 1.3 * y + rng.normal(size=240)
    probability = 1 / (1 + np.exp(-(1.3 * score - 0.85)))
    figure, panels = _sheet(3, (11.0, 3.5))
    plot.confusion(metrics.confusion(y, (probability > 0.5).astype(int)), ax=panels[0])
    plot.roc(metrics.roc(y, score), ax=panels[1])
    plot.calibration(metrics.calibration(y, probability, bins=6), ax=panels[2])
    panels[2].set_title("calibration")
    return figure


def choosing() -> Any:
    """A validation curve, a learning curve, a search with the one-standard-error rule, a comparison."""
    from sklearn.datasets import load_diabetes

    from certifit.linear_model import Lasso, LinearRegression, Ridge
    from certifit.model_selection import Search, compare, learning_curve, validation_curve
    from certifit.tree import DecisionTreeRegressor

    X, y = load_diabetes(return_X_y=True)
    figure, panels = _sheet(2, (9.6, 6.6), rows=2)
    tree = DecisionTreeRegressor(random_state=0)
    plot.curve(validation_curve(tree, X, y, param_name="max_depth", param_range=list(range(1, 9))), ax=panels[0, 0])
    panels[0, 0].set_title("validation curve of a tree")
    plot.curve(learning_curve(Ridge(0.1), X, y, train_sizes=[40, 80, 150, 250, 350]), ax=panels[0, 1])
    panels[0, 1].set_title("learning curve of ridge")
    plot.search(Search(Ridge(), {"alpha": np.logspace(-3, 1, 25)}, cv=10, rule="one_se").fit(X, y), ax=panels[1, 0])
    models = {
        "line": LinearRegression(),
        "ridge": Ridge(0.1),
        "lasso": Lasso(0.1),
        "tree": DecisionTreeRegressor(max_depth=4),
    }
    plot.comparison(compare(models, X, y, cv=10), ax=panels[1, 1])
    panels[1, 1].set_title("paired on the same folds")
    return figure


def clustering() -> Any:
    """What Lloyd's iterations leave and single moves find, and the squeeze between cost and bound."""
    from certifit.cluster import KMeans

    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(m, 0.8, size=(30, 2)) for m in [(0, 0), (3, 0.5), (1, 3)]])
    model = KMeans(3, random_state=0).fit(X)
    figure, panels = _sheet(2, (9.6, 3.8))
    plot.clusters(model, X, ax=panels[0])
    panels[0].set_title("three clusters, and their borders")
    counts = range(1, 9)
    fits = [KMeans(k, n_init=10, random_state=0).fit(X) for k in counts]
    proofs = [m.bound(time_budget=4) for m in fits]
    panels[1].plot(counts, [p.value for p in proofs], "o-", label="cost of the clustering found")
    panels[1].plot(counts, [p.bound for p in proofs], "s--", label="no clustering costs less")
    panels[1].set(xlabel="clusters", ylabel="Φ", yscale="log")
    panels[1].legend()
    panels[1].set_title("found, and proved")
    return figure


def densities() -> Any:
    """A kernel estimate between its bounds at a rough tolerance, a histogram, and the bandwidth by leaving one out."""
    from certifit.density import Histogram, KernelDensity, choose_bandwidth

    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-1.5, 0.5, 120), rng.normal(1.0, 0.8, 180)])[:, None]
    grid = np.linspace(-4, 4, 400)[:, None]
    figure, panels = _sheet(2, (9.6, 3.6))
    choice = choose_bandwidth(x)
    heights = np.exp(Histogram(bins=25).fit(x).score_samples(grid))
    panels[0].fill_between(grid[:, 0], heights, step="mid", color=plot.palette().faint, alpha=0.4, label="histogram")
    low, high = KernelDensity(bandwidth=choice.best, rtol=0.3, leaf_size=8).fit(x).bounds(grid)
    panels[0].fill_between(grid[:, 0], low, high, color="C1", alpha=0.5, label="bounds at a rough tolerance")
    panels[0].plot(grid[:, 0], np.exp(KernelDensity(bandwidth=choice.best).fit(x).score_samples(grid)), label="f")
    panels[0].set(xlabel="x", ylabel="density")
    panels[0].legend()
    panels[1].plot(choice.bandwidths, choice.log_likelihood, "o-")
    panels[1].axvline(choice.best, color=plot.palette().ink, linestyle=":")
    panels[1].set(xscale="log", xlabel="bandwidth", ylabel="leave-one-out log likelihood")
    return figure


def decisions() -> Any:
    """The book's world of 4 × 3 squares, and bounds closing in on the value of one square."""
    from certifit.reinforcement import grid_world, value_iteration

    world = grid_world(["...+", ".#.-", "...."], noise=0.1, living_reward=-0.04, discount=0.99)
    figure, panels = _sheet(2, (9.6, 3.6))
    plot.grid_values(value_iteration(world), ax=panels[0])
    panels[0].set_title("values and policy")
    for method in ("jacobi", "gauss_seidel", "auto"):
        rows = value_iteration(world, method=method, trace=True).trace
        label = {"auto": "modified policy iteration"}.get(method, method)
        panels[1].semilogy(rows["iteration"], np.maximum(rows["gap"], 1e-12), label=label)
    panels[1].set(xlabel="evaluation of the bounds", ylabel="upper − lower")
    panels[1].legend()
    panels[1].set_title("convergence of the bounds")
    return figure


# the package


def floors() -> Any:
    """The seven floors with their folders, and a line for every import from one to another."""
    from _site import floors as package

    paper = plot.palette()
    plan, below = package.contract(), package.imports()
    plan.pop("basics")
    plan = {floor: [r for r in rooms if r in below and not r.startswith("__")] for floor, rooms in plan.items()}
    figure, ax = _sheet(1, (9.6, 6.6))
    place: dict[str, tuple[float, float]] = {}
    for level, (floor, rooms) in enumerate(plan.items()):
        y = float(-level)
        ax.axhspan(y - 0.36, y + 0.36, color=paper.faint, alpha=0.13, linewidth=0)
        ax.text(-0.2, y + 0.1, floor, fontsize=12, fontweight="bold", va="center", ha="right")
        ax.text(-0.2, y - 0.17, package.ABOUT[floor], fontsize=7, va="center", ha="right", alpha=0.75)
        widths = np.array([0.085 * len(r) + 0.2 for r in rooms])
        gap = (10.0 - widths.sum()) / (len(rooms) + 1)
        middles = np.cumsum(widths) - widths / 2 + gap * np.arange(1, len(rooms) + 1)
        place |= {room: (float(x), y) for room, x in zip(rooms, middles)}
    for room, (x, y) in place.items():
        ax.text(
            x, y, room, fontsize=7.5, ha="center", va="center", zorder=3,
            bbox={"boxstyle": "round,pad=0.3", "facecolor": paper.paper, "edgecolor": paper.ink, "linewidth": 0.8},
        )  # fmt: skip
        for target in sorted(below[room] & set(place)):
            u, v = place[target]
            bend = 0.0 if v < y else (-0.2 if u > x else 0.2)  # folders of one floor that know each other
            ax.annotate(
                "", (u, v + 0.16), (x, y - 0.16 if v < y else y + 0.16), zorder=1,
                arrowprops={
                    "arrowstyle": "-|>", "mutation_scale": 5, "linewidth": 0.5, "alpha": 0.45,
                    "color": paper.ink, "connectionstyle": f"arc3,rad={bend}",
                },
            )  # fmt: skip
    ax.set(xlim=(-3.4, 10.1), ylim=(-len(plan) + 0.5, 0.5))
    ax.axis("off")
    return figure


# few labels


def two_labels() -> Any:
    """Two half moons with one label each, coloured by the score that spreads from the labels."""
    from certifit.semi_supervised import LabelPropagation

    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 60)
    moon = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.vstack([moon, [1.0, 0.4] - moon]) + 0.05 * rng.normal(size=(120, 2))
    y = np.full(120, -1)
    y[[0, 60]] = 0, 1
    model = LabelPropagation(kernel="knn", n_neighbors=10).fit(X, y)
    figure, ax = _sheet(1, (6.0, 3.4))
    shown = ax.scatter(*X.T, c=model.label_distributions_[:, 1], cmap="coolwarm", vmin=0, vmax=1, s=22)
    ax.scatter(*X[[0, 60]].T, s=150, facecolors="none", edgecolors=plot.palette().ink)
    figure.colorbar(shown, ax=ax, label="score of class 1")
    ax.set(xlabel="x₁", ylabel="x₂", aspect="equal")
    return figure


# networks


def certified_boxes() -> Any:
    """Rows of a checkerboard, the regions of a network, and the square around each row that keeps its label."""
    from matplotlib.patches import Rectangle

    from certifit.neural import MLPClassifier

    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = MLPClassifier((8,), activation="tanh", alpha=0.1, random_state=0, max_iter=1000).fit(X, y)
    figure, ax = _sheet(1, (5.2, 4.6))
    plot.decision_regions(model, X, y, ax=ax)
    for (a, b), r in zip(X, model.certified_radius(X)):
        ax.add_patch(Rectangle((a - r, b - r), 2 * r, 2 * r, fill=False, edgecolor=plot.palette().ink, linewidth=0.6))
    return figure


def which_model() -> Any:
    """A chart from the kind of target to a first model."""
    figure, ax = _sheet(1, (9.6, 5.2))
    ink, faint = plot.palette().ink, plot.palette().faint
    ax.set(xlim=(0, 12), ylim=(0, 7.2))
    ax.axis("off")

    def box(x: float, y: float, words: str, colour: str, bold: bool = False) -> None:
        ax.text(
            x, y, words, ha="center", va="center", fontsize=9, color=ink, weight="bold" if bold else "normal",
            bbox={"boxstyle": "round,pad=0.45", "facecolor": ax.get_facecolor(), "edgecolor": colour}, zorder=4,
        )  # fmt: skip

    def first_then(x: float, model: str, others: Any) -> None:
        box(x, 4.9, model, "C1", bold=True)
        for k, (when, other) in enumerate(others):
            ax.text(x, 4.15 - 1.35 * k, when, fontsize=8, color=ink, ha="center", style="italic")
            box(x, 3.6 - 1.35 * k, other, "C2")

    def arrow(start: tuple[float, float], end: tuple[float, float], words: str = "") -> None:
        ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": faint, "shrinkA": 14, "shrinkB": 16})
        if words:
            ax.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, words, fontsize=8, color=ink, ha="center",
                    bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1})  # fmt: skip

    top, tree = (6.0, 6.7), ("thresholds, categories", "decision tree")
    chart = {
        1.5: ("a number", "Ridge", (("few columns matter", "Lasso"), ("nonlinear, few rows", "KernelRidge"), tree)),
        4.5: ("a class", "LogisticRegression",
              (("nonlinear, few rows", "SVC"), tree, ("text, very many rows", "naive Bayes"))),
        7.5: ("a count or\nan amount", 'GLM("poisson")', (("positive amounts", 'GLM("gamma")'), tree)),
        10.5: ("there is none", "KMeans",
               (("how common is a row?", "KernelDensity"), ("too many columns", "PCA"),
                ("a few rows have labels", "LabelSpreading"))),
    }  # fmt: skip
    box(*top, "What is the target?", "C0", bold=True)
    for x, (kind, model, others) in chart.items():
        arrow(top, (x, 4.9), kind)
        first_then(x, model, others)
    return figure
