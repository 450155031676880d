"""The site: every row of the plan two clicks from the index, every family page complete, every link sound."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from certifit import examples, plot

DOCS = Path(__file__).parent.parent / "docs"
GENERATED = {"gallery", "reference", "pictures", "extra"}

# What the library promises, row by row of its plan, and words that tell a reader that a page is about it.
ROWS = {
    "L1 losses": "losses.md: hinge exponential Asymmetric Softmax SquaredHinge Absolute PerceptronLoss ZeroOne conjugate",
    "L2 regularizers": "losses.md: SquaredL2 PNorm ElasticMix L1 Zero prox",
    "L3 any pairing": "lasso.md: LinearModel regularizer PairingError",
    "L4 gradient descent": "losses.md: gradient_descent diverges Lipschitz",
    "L5 stochastic gradient descent": "lasso.md: sgd averaged",
    "L6 closed forms": "least_squares.md: Cholesky Ridge pseudo-inverse augmented targets",
    "L7 ill-conditioning": "least_squares.md: condition digits",
    "L8 lasso and its path": "lasso.md: Lasso ElasticNet lasso_path",
    "L9 polynomial regression": "features.md: PolynomialBasis",
    "C1 random linear classifier": "perceptron.md: RandomLinearClassifier",
    "C2 perceptron": "perceptron.md: partial_fit coef_init shuffle",
    "C3 voted and averaged": "perceptron.md: VotedPerceptron AveragedPerceptron",
    "C4 kernel perceptron": "svm.md: KernelPerceptron",
    "C5 separability": "separability.md: separable touching overlapping",
    "C6 margins": "separability.md: functional geometric",
    "C7 mistake bound": "perceptron.md: bound never cycle_",
    "C8 padding": "features.md: PadOnes",
    "C9 logistic regression": "logistic.md: NoOptimumError likelihood log-odds threshold",
    "C10 many classes": "logistic.md: softmax OneVsRest",
    "C11 exponential loss": "losses.md: Exponential",
    "C12 perceptron as SGD": "perceptron.md: stochastic perceptron_sgd",
    "F1 polynomial basis": "features.md: PolynomialBasis interaction_only ColumnTransforms binom",
    "F2 encodings": "features.md: Thermometer OneHot Factored Standardizer",
    "F3 feature choice": "features.md: CorrelationFilter folds",
    "F4 XOR": "features.md: XOR",
    "M1 hard margin": "svm.md: HardMarginSVC NotSeparableError",
    "M2 soft margin": "svm.md: SVC LinearSVC cases",
    "M3 SMO": "svm.md: SMO",
    "M4 Pegasos": "svm.md: PegasosSVC",
    "M5 duality": "svm.md: strong.duality primal_value_ dual_value_",
    "M6 kernels": "kernels.md: Polynomial Gaussian FeatureMap Sums",
    "M7 Mercer": "kernels.md: mercer",
    "M8 kernel ridge": "kernels.md: KernelRidge lms",
    "M9 bounds": "kernels.md: hard_svm_error stability",
    "T1 information": "trees.md: entropy information_gain gini",
    "T2 growing": "trees.md: missing categor pure",
    "T3 pruning": "trees.md: prun reduced_error",
    "T4 reading a tree": "trees.md: export_text plot_tree explain",
    "T5 instability": "trees.md: boolean stable",
    "K1 neighbours": "neighbors.md: KNeighborsClassifier KNeighborsRegressor k-d",
    "K2 distances": "neighbors.md: manhattan minkowski triangle feature_weights",
    "K3 weights": "neighbors.md: gaussian n_neighbors=None",
    "K4 editing": "neighbors.md: EditedNeighbors CondensedNeighbors",
    "K5 how many": "neighbors.md: knn_regions nearest_bayes_error distance_concentration",
    "P1 hypotheses": "bayes.md: HypothesisSpace",
    "P2 conjugate priors": "bayes.md: BetaBernoulli DirichletCategorical GammaPoisson NormalInverseGamma",
    "P3 Bayesian regression": "bayes.md: BayesianLinearRegression evidence",
    "P4 naive Bayes": "naive_bayes.md: Bernoulli Categorical Multinomial Gaussian MixedNB Laplace boundary",
    "P5 exponential family": "glm.md: ExponentialFamily GLM link",
    "P6 Bayes-optimal": "bayes.md: BayesOptimal",
    "P7 densities": "bayes.md: fit_density",
    "P8 generative": "logistic.md: generative_discriminative",
    "U1 PCA": "pca.md: PCA reconstruction",
    "U2 clustering": "clustering.md: KMeans bound certify_clusters choose_k",
    "U3 densities": "density.md: KernelDensity Histogram fit_density bounds",
    "U4 decisions": "reinforcement.md: MDP value_iteration policy_iteration q_learning certify_policy",
    "E1 hold-out": "model_selection.md: hold_out",
    "E2 cross-validation": "model_selection.md: cross_validate bootstrap leave",
    "E3 figures": "evaluation.md: precision recall specificity ROC interval",
    "E4 bias and variance": "model_selection.md: bias_variance",
    "E5 search and comparison": "model_selection.md: Search nested compare one_se",
    "E6 curves": "model_selection.md: learning validation",
    "X1 study": "study.md: certifit.study report",
    "X2 commands": "study.md: evaluate separable verify explain",
    "X3 certify": "../start.md: certify",
    "X4 files and ONNX": "export.md: to_onnx",
    "X5 pictures": "plot.md: decision_regions perceptron_animation regularization_path",
}  # fmt: skip

# The pages that follow the notes; the other pages of the folder are about the product around them.
FAMILIES = [
    "losses",
    "least_squares",
    "lasso",
    "logistic",
    "glm",
    "perceptron",
    "separability",
    "features",
    "svm",
    "kernels",
    "trees",
    "neighbors",
    "bayes",
    "naive_bayes",
    "pca",
    "clustering",
    "density",
    "reinforcement",
    "evaluation",
    "model_selection",
]


def links(page: Path) -> set[Path]:
    text = part("pages").index() if page.name == "index.md" and page.parent == DOCS else page.read_text()
    found = re.findall(r"\]\(([^)#]+\.(?:md|rst))", text)
    return {(page.parent / target).resolve() for target in found}


def part(name: str):
    """A module of docs/_site, without Sphinx."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(f"_site.{name}")
    finally:
        sys.path.remove(str(DOCS))


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
    index = part("pages").index()
    for page in (DOCS / "families").glob("*.md"):
        assert re.search(rf"^families/{page.stem}$", index, re.M), (
            f"families/{page.stem} is not in the table of contents"
        )


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_page_is_complete(family):
    """Theory, a runnable example, a picture that can be drawn, and what is proved."""
    text = (DOCS / "families" / f"{family}.md").read_text()
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    assert len(prose.split()) > 350, "hardly any theory"
    assert re.search(r"\$|‖|[≤≥Σ√]", prose), "no formula"
    assert ">>>" in text
    assert re.search(r"^## What is proved", text, re.M)
    drawn = re.findall(r"^```\{picture\} (\w+)\n:alt: (.+)$", text, re.M)
    assert drawn, "no picture"
    source = (DOCS / "_site" / "drawings.py").read_text()
    for name, alt in drawn:
        assert f"def {name}()" in source, f"there is no drawing {name}"
        assert len(alt) > 20


def test_every_worked_example_is_linked_from_a_family():
    text = "".join(p.read_text() for p in DOCS.glob("families/*.md"))
    for name in examples.names():
        assert f"../gallery/{name}.md" in text, f"no family page leads to the example {name}"


def test_every_drawing_is_on_a_page():
    text = "".join(p.read_text() for p in [*DOCS.glob("*.md"), *DOCS.glob("families/*.md")])
    for file in ("drawings", "shown"):
        for name in re.findall(r"^def ([a-z]\w*)\(", (DOCS / "_site" / f"{file}.py").read_text(), re.M):
            assert f"{{picture}} {name}\n" in text, f"{name} is drawn and shown nowhere"


def test_every_function_of_plot_is_shown():
    shown = part("shown")
    known = {n for n in vars(shown) if n.startswith("show_")}
    for name in set(plot.__all__) - {"COLOURS", "figure", "palette", "style"}:
        wanted = {"show_learning_curve", "show_validation_curve"} if name == "curve" else {f"show_{name}"}
        assert wanted <= known, f"plot.{name} has no picture"


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_pictures_are_drawn_on_their_paper(paper):
    """Two of them here; the build draws all."""
    drawings = part("drawings")
    with plot.style(paper):
        picture = drawings.bayes_optimal().figure
        panels = drawings.separability()
    ground = plot._style.PALETTES[paper].paper
    from matplotlib.colors import to_rgb

    assert picture.get_facecolor()[:3] == pytest.approx(to_rgb(ground))
    assert [ax.get_title(loc="left") for ax in panels.axes] == ["separable", "touching", "overlapping"]


def test_pages_load_nothing_from_a_network():
    conf = (DOCS / "conf.py").read_text()
    assert 'html_math_renderer = "mathml"' in conf
    assert '"_site.check"' in conf  # looks at every page that was built
    for source in [conf, *(p.read_text() for p in (DOCS / "_static").glob("*"))]:
        assert "http" not in source
    for page in DOCS.glob("**/*.md"):
        assert not re.search(r"!\[[^]]*\]\(http|<script|<img", page.read_text()), page


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="needs the extra docs")
def test_the_build_notices_broken_links_network_and_raw_mathematics(tmp_path):
    problems = part("check").problems
    (tmp_path / "good.html").write_text('<p id="here">x</p><a href="#here">a</a><a href="https://elsewhere.org">b</a>')
    assert problems(tmp_path) == []
    (tmp_path / "bad.html").write_text(
        '<a href="gone.html">a</a><a href="good.html#there">b</a><img src="https://cdn.org/x.png">'
        r"<p>so \frac12</p><pre>\frac is TeX</pre>"
    )
    assert [p.split(": ", 1)[1] for p in problems(tmp_path)] == [
        "fetches https://cdn.org/x.png",
        r"mathematics is not set: so \frac12",
        "leads to gone.html, which is not there",
        "leads to good.html#there, but that page has no such place",
    ]


def test_formulas_show_no_commands():
    for operator in (r"\arg\max_c p", r"\arg\min_v \tfrac12"):
        assert "\\" not in part("mathml").convert(operator)
