"""The site's sources: every public name is described, every row of the plan is two clicks from the index."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import certifit

DOCS = Path(__file__).parent.parent / "docs"
GENERATED = {"gallery", "reference"}

# What the library promises, and words that tell a reader that a page is about it.
ROWS = {
    "losses": "losses.md: hinge exponential Asymmetric Softmax",
    "regularizers": "losses.md: SquaredL2 PNorm ElasticMix",
    "any pairing": "lasso.md: LinearModel regularizer",
    "gradient descent": "losses.md: gradient_descent diverges",
    "stochastic gradient descent": "lasso.md: sgd",
    "closed forms, ridge": "least_squares.md: Cholesky Ridge",
    "ill-conditioning": "least_squares.md: condition",
    "lasso and its path": "lasso.md: Lasso ElasticNet path",
    "polynomial regression": "features.md: PolynomialBasis",
    "random linear classifier": "perceptron.md: RandomLinearClassifier",
    "perceptrons": "perceptron.md: Perceptron VotedPerceptron AveragedPerceptron",
    "kernel perceptron": "svm.md: KernelPerceptron",
    "separability": "separability.md: separable touching overlapping",
    "margins": "separability.md: functional geometric",
    "mistake bound": "perceptron.md: bound never",
    "padding": "features.md: PadOnes",
    "logistic regression": "logistic.md: NoOptimumError likelihood",
    "encodings": "features.md: Thermometer OneHot Factored Standardizer ColumnTransforms",
    "feature choice": "features.md: CorrelationFilter",
    "hard margin": "svm.md: HardMarginSVC",
    "soft margin": "svm.md: SVC LinearSVC SMO PegasosSVC KKT|cases",
    "kernels": "kernels.md: Polynomial Gaussian FeatureMap",
    "Mercer": "kernels.md: mercer",
    "kernel ridge": "svm.md: KernelRidge lms",
    "trees": "trees.md: entropy prun missing export_text plot_tree explain",
    "neighbours": "neighbors.md: KNeighborsClassifier EditedNeighbors|edit CondensedNeighbors|condens",
    "hypotheses": "bayes.md: HypothesisSpace",
    "conjugate priors": "bayes.md: conjugate",
    "Bayesian regression": "bayes.md: BayesianLinearRegression",
    "Bayes-optimal": "bayes.md: BayesOptimal fit_density",
    "naive Bayes": "naive_bayes.md: Bernoulli Categorical Multinomial Gaussian MixedNB",
    "exponential family": "glm.md: ExponentialFamily GLM",
    "PCA": "pca.md: PCA reconstruction",
    "confusion and ROC": "evaluation.md: precision recall ROC interval",
    "cross-validation": "model_selection.md: cross_validate bootstrap leave",
    "bias and variance": "model_selection.md: bias_variance",
    "search and comparison": "model_selection.md: Search nested compare",
    "curves": "model_selection.md: learning_curve|learning validation_curve|validation",
    "study": "study.md: certifit report verify",
    "certify": "../start.md: certify",
    "ONNX": "export.md: to_onnx",
    "pictures": "plot.md: decision_regions perceptron_animation regularization_path",
}  # fmt: skip


def links(page: Path) -> set[Path]:
    found = re.findall(r"\]\(([^)#]+\.(?:md|rst))", page.read_text())
    return {(page.parent / target).resolve() for target in found}


@pytest.fixture(scope="module")
def near():
    """Pages one click from the index, and two."""
    first = links(DOCS / "index.md")
    second = set().union(*(links(p) for p in first if p.exists()))
    return first, first | second


@pytest.mark.parametrize("row", sorted(ROWS))
def test_every_row_is_two_clicks_away(row, near):
    page, words = ROWS[row].split(": ")
    path = (DOCS / "families" / page).resolve()
    assert path in near[1]
    text = path.read_text()
    for word in words.split():
        assert re.search(word, text), f"{page} does not speak of {word}"


def test_links_lead_somewhere_and_every_page_is_linked(near):
    pages = [p for p in DOCS.rglob("*.md") if not {"_build", *GENERATED} & set(p.relative_to(DOCS).parts)]
    assert len(pages) > 20
    for page in pages:
        for target in links(page):
            inside = target.relative_to(DOCS.resolve()).parts[0]
            assert target.exists() or inside in GENERATED, f"{page.name} links to {target}, which is not there"
    lost = {p.resolve() for p in pages} - near[1] - {(DOCS / "index.md").resolve()}
    assert not lost
    index = (DOCS / "index.md").read_text()
    for page in (DOCS / "families").glob("*.md"):
        assert re.search(rf"^families/{page.stem}$", index, re.M), (
            f"families/{page.stem} is not in the table of contents"
        )


def test_pages_load_nothing_from_a_network():
    conf = (DOCS / "conf.py").read_text()
    assert 'html_math_renderer = "mathml"' in conf
    for source in [conf, *(p.read_text() for p in (DOCS / "_static").glob("*"))]:
        assert "http" not in source
    for page in DOCS.glob("**/*.md"):
        assert not re.search(r"!\[[^]]*\]\(http|<script|<img", page.read_text()), page


def _public():
    for family in certifit._FAMILIES:
        module = importlib.import_module(f"certifit.{family}")
        for name in module.__all__:
            yield f"{family}.{name}", getattr(module, name)
    for name in certifit._NAMES:
        yield name, getattr(certifit, name)


def _takes(thing):
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return []
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return []
    return [p for p in signature.parameters if p not in ("args", "kwargs", "self")]


@pytest.mark.parametrize(("name", "thing"), [pytest.param(n, t, id=n) for n, t in _public()])
def test_every_public_name_is_described(name, thing):
    if inspect.ismodule(thing) and not callable(thing):
        assert thing.__doc__
        return
    if not callable(thing):  # a constant: its module speaks for it
        return
    text = inspect.getdoc(thing) or ""
    assert len(text) > 15
    if _takes(thing) and not inspect.isabstract(thing):
        told = "Parameters\n---" in text or "Attributes\n---" in text
        short = len(_takes(thing)) <= 2 and all(re.search(rf"\b{p}\b|``", text) for p in _takes(thing))
        assert told or short, f"{name} takes {_takes(thing)} and does not describe them"
