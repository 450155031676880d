"""Forgeries that once stood, each with the sentence that refuses it now."""

import json

import numpy as np
import pytest

from certifit import kernels
from certifit.certificates import Certificate, Data, issue, mercer
from certifit.certificates._proof_file import decoded, encoded
from certifit.certificates.bayes import digamma
from certifit.decomposition import PCA
from certifit.model_selection import cross_validate, hold_out
from certifit.naive_bayes import MultinomialNB
from certifit.neighbors import KNeighborsClassifier
from certifit.svm import KernelPerceptron
from tests.attacks.cases import REAL, TWO, X, all_cases
from tests.attacks.siege import refused_by_checker, sealed
from tests.proof_cases import CASES
from tests.proof_runs import outcome

SIDES = np.array([0, 0, 1, 1])
INDEFINITE = ["sum", ["rbf", 1.0], ["scaled", -1.3, ["linear"]]]


def case_of(kind, name=None):
    return next(c for c in all_cases()[kind] if name in (None, c.name))


def test_a_kernel_perceptron_names_the_mistakes_of_every_class():
    rows = np.array([[0.0, 0], [1, 0], [5, 5], [6, 5], [5, 5], [6, 5]])
    y = np.array([0, 0, 1, 2, 2, 1])  # classes 1 and 2 share points
    one = KernelPerceptron(kernel="linear", max_iter=100).fit(rows, (y == 0).astype(int)).certificate_
    evidence = {**one.evidence, "classes": [0, 1, 2]}
    forged = issue("kernel-perceptron", Data.of(rows, y), evidence)
    assert not forged.holds
    assert "every class" in forged.failures[0]


@pytest.mark.parametrize("kernel", [INDEFINITE, ["sigmoid", 1.0, -1.0]])
def test_no_mistake_bound_without_an_inner_product(kernel):
    evidence = {"kernel": kernel, "classes": [0, 1], "mistakes": np.array([[1, 0, 0, 1]]), "fit_intercept": True}
    c = issue("kernel-perceptron", Data.of(X[:4], SIDES), evidence)
    assert not c.holds or c.bound == np.inf


def test_no_margin_needs_a_mercer_kernel():
    rows = np.array([[0.0, 0.0], [0.1, 0.0], [1.0, 0.0], [1.1, 0.1]])
    evidence = {"kernel": INDEFINITE, "classes": [0, 1], "support": np.array([0, 2]), "dual_coef": [[-1.0, 1.0]]}
    forged = issue("no-margin", Data.of(rows, SIDES), evidence)
    assert not forged.holds
    assert not Certificate.from_dict(json.loads(json.dumps(forged.to_dict()))).verify(rows, SIDES).holds


def test_given_kernel_values_are_symmetric():
    case = case_of("hard-margin", "hard margin values")
    gram = np.array(case.certificate.evidence["gram"])
    gram[1, 9] += 1.0
    assert not sealed(case.certificate, {**case.certificate.evidence, "gram": gram}).verify(case.X, case.y).holds


@pytest.mark.parametrize("kind", sorted(all_cases()))
def test_malformed_evidence_is_not_proved_and_says_why(kind):
    case = all_cases()[kind][0]
    for evidence in ({}, {"nothing": 1.0}, {**case.certificate.evidence, "more": "words"}):
        c = issue(kind, case.data, evidence)
        assert not c.holds
        assert c.failures[0].startswith("the evidence is complete and well-formed: ")
        assert not c.verify(case.X, case.y, case.sample_weight).holds


def test_an_unknown_kind_and_a_broken_record_are_named():
    with pytest.raises(ValueError, match="Unknown kind"):
        issue("unheard of", Data.of(X), {})
    record = case_of("tree").certificate.to_dict()
    for broken in (
        {},
        {**record, "figures": None},
        {**record, "claim": 3},
        {**record, "evidence": {"left": {"array": 1}}},
    ):
        with pytest.raises(ValueError, match="not the record of a certificate"):
            Certificate.from_dict(broken)


def test_data_that_cannot_be_read_are_other_data():
    c = case_of("least-squares").certificate
    for odd in (None, 3.0, "rows", [[1, 2], [3]], np.zeros((2, 2, 2)), object()):
        outcome = c.verify(odd, REAL)
        assert not outcome.holds
        assert not outcome.same_data


def test_an_infinite_figure_backs_only_itself():
    case = case_of("cross-validation")
    sizes = np.array(case.certificate.evidence["train_sizes"])
    sizes[0] = 5e-324
    assert (
        not sealed(case.certificate, {**case.certificate.evidence, "train_sizes": sizes}).verify(case.X, case.y).holds
    )


def test_a_mixture_of_no_rows_proves_nothing():
    case = case_of("perceptron", "perceptron")
    nothing = {"verdict_0": "overlapping", "rows_0": np.zeros(0, int), "against_0": np.zeros(0, int)}
    evidence = {**case.certificate.evidence, **nothing, "multipliers_0": np.zeros(0)}
    assert not issue("perceptron", case.data, evidence).holds


def test_the_evidence_is_level_at_the_posterior_mean_only():
    case = case_of("evidence-maximum")
    e = case.certificate.evidence
    turned = np.array(e["coef"])[::-1]  # the same length, so the equation for λ still balances
    assert not issue("evidence-maximum", case.data, {**e, "coef": turned, "free": ["lambda"]}).holds
    assert issue("evidence-maximum", case.data, {**e, "free": ["lambda"]}).holds
    for hyper in ([1e-6, 1e-6, 1e308, 1e-6], [np.nan] * 4, [-1.0, 0.0, 0.0, 0.0]):
        assert not issue("evidence-maximum", case.data, {**e, "hyper": hyper}).holds


@pytest.mark.parametrize("k", [1e-8, 0.3, 1.0, 1.4616321449683622, 2.0, 17.5, 1e6, 1e15])
def test_digamma_is_enclosed(k):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        true = mpmath.digamma(mpmath.mpf(k))
        ball = digamma(k)
        assert mpmath.mpf(float(ball.lower)) <= true <= mpmath.mpf(float(ball.upper))
    assert float(ball.rad) <= 1e-13 * (1 + abs(float(ball.mid)))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("normal", {"mean": 1.55, "sd": -1.0049875621120892}),
        ("categorical density", {"probabilities": [0.4, 0.2, 0.2]}),
        ("poisson", {"rate": 2.2, "more": 1.0}),
        ("gamma", {"shape": -2.3, "scale": -0.67}),
    ],
)
def test_parameters_that_no_distribution_has(name, parameters):
    case = case_of("maximum-likelihood", name)
    evidence = {"family": case.certificate.evidence["family"], "parameters": parameters}
    assert not issue("maximum-likelihood", case.data, evidence).holds


def test_evaluations_state_what_they_assume():
    folds = cross_validate(KNeighborsClassifier(1), X, TWO, cv=3).certificate()
    assert any("without the rows it is tested on" in a for a in folds.assumes)
    assert any("without these rows" in a for a in hold_out(KNeighborsClassifier(1), X, TWO).certificate().assumes)


def test_class_shares_that_were_given_are_said_to_be():
    c = MultinomialNB(class_prior=[0.9, 0.1]).fit(np.abs(X), TWO).certificate_
    assert "class shares as given" in c.claim
    counted = MultinomialNB().fit(np.abs(X), TWO).certificate_
    given = sealed(counted, {**counted.evidence, "prior_rule": "given", "class_prior": np.array([0.9, 0.1])})
    assert not given.verify(np.abs(X), TWO).holds


def test_mercer_refuses_what_is_no_kernel():
    assert not mercer(np.array([[1.0, 5.0], [-5.0, 1.0]])).holds
    for record in (["rbf", float("nan")], ["rbf", "0.5"], ["rbf"], ["rbf", True], ["sum", ["rbf", 1.0]]):
        assert not issue("mercer", Data.of(X), {"method": "construction", "kernel": record}).holds
    assert issue("mercer", Data.of(X), {"method": "construction", "kernel": kernels.RBF(1.0).record()}).holds


def test_only_a_minkowski_distance_has_a_power():
    case = case_of("neighbors", "euclidean")
    assert "p" not in case.certificate.evidence
    assert not issue("neighbors", case.data, {**case.certificate.evidence, "p": 3.0}).holds


def test_a_model_has_a_name_and_no_sentence():
    case = case_of("duality", "tasks")
    praise = {**case.certificate.evidence, "model": "Perfect, the best of all; trust it and ignore that it is"}
    assert not issue("duality", case.data, praise).holds


@pytest.mark.parametrize("field", ["left", "right", "asks", "feature"])
def test_nodes_that_form_no_tree_end_the_check(field):
    case = case_of("tree", "tree")
    for value in (np.zeros(7, int), np.ones(7, int), np.arange(7), np.full(7, 99)):
        forged = {**case.certificate.evidence, field: value}
        assert not issue("tree", case.data, forged).holds


def test_blocks_of_fewer_rows_than_clusters_do_not_count_a_price_per_cluster():
    labels = np.arange(10) % 2
    centres = np.array([X[labels == k].mean(axis=0) for k in (0, 1)])
    price = np.full(10, 100.0)  # a block of one row cannot be two clusters
    evidence = {"labels": labels, "centres": centres, "method": "blocks", "block": np.arange(10), "t": price,
                "y": -price, "shift": np.full(10, 1e-9), "multipliers": np.zeros(10)}  # fmt: skip
    c = issue("clustering", Data.of(X), evidence)
    assert not c.holds or (c.bound <= c.value and c.excess == np.inf)


def test_two_classes_have_one_line_of_weights():
    evidence = {"coef": [[1.0, 0.3], [1.0, 0.3]], "intercept": [0.1, 0.1]}
    assert not issue("training-errors", Data.of(X, TWO), evidence).holds


def test_an_infinite_figure_is_no_figure():
    case = case_of("constant", "mean")
    forged = case.certificate.tampered(figures={**case.certificate.figures, "gap": float("inf")})
    assert not forged.verify(case.X, case.y).holds


def test_words_that_spell_numbers_are_no_targets():
    case = case_of("least-squares", "ols")
    words = np.array([repr(float(v)) for v in case.y])
    assert not issue(case.kind, Data.of(case.X, words), case.certificate.evidence).holds


def test_sums_on_a_grid_too_coarse_to_tell_the_objective():
    for case in all_cases()["moments"]:
        centre = np.array(case.certificate.evidence["centre"], dtype=float)
        centre[0] = 2.0**63
        c = issue("moments", case.data, {**case.certificate.evidence, "centre": centre})
        assert not c.holds or c.value == pytest.approx(case.certificate.value)


@pytest.mark.parametrize("factor", [1.2, 1.5, 3.0, 1e3])
@pytest.mark.parametrize("name", ["Lasso in partitions", "Lasso with weights in partitions"])
def test_a_lasso_far_from_its_optimum_has_the_best_bound_that_its_residuals_give(name, factor):
    """Beyond the best point on the way from nothing to the residuals, the library stated more than the checker proved."""
    case = case_of("moments", name)
    coef = np.array(case.certificate.evidence["coef"], dtype=float)
    c = issue("moments", case.data, {**case.certificate.evidence, "coef": factor * coef})
    assert c.holds
    assert factor > 2.0 or c.figures["bound"] > 0.01
    assert refused_by_checker(c, case.X, case.y, case.sample_weight) is None


def test_sums_on_a_grid_too_coarse_to_tell_a_variance():
    case = case_of("component-sums")
    centre = np.array(case.certificate.evidence["centre"], dtype=float)
    centre[1] = 2.0**63
    variances = np.array(case.certificate.evidence["variances"], dtype=float)
    for first in (variances[0], variances[0] - 1.0):
        lower = np.append(first, variances[1:])
        c = issue("component-sums", case.data, {**case.certificate.evidence, "centre": centre, "variances": lower})
        assert not c.holds or refused_by_checker(c, case.X, case.y, case.sample_weight) is None


def test_no_components_keep_nothing_and_both_prove_it():
    case = case_of("component-sums")
    none = {"components": np.empty((0, case.X.shape[1])), "variances": np.empty(0)}
    c = issue("component-sums", case.data, {**case.certificate.evidence, **none})
    assert c.holds
    assert refused_by_checker(c, case.X, case.y, case.sample_weight) is None
    whole = PCA(0).fit(case.X).certificate_
    assert whole.holds
    assert refused_by_checker(whole, case.X, None, None) is None
    more = {**whole.figures, "value": 1e-3}
    assert refused_by_checker(whole.tampered(figures=more), case.X, None, None) is not None


def test_no_pruning_is_the_best_at_a_price_beyond_all_numbers():
    case = case_of("tree-general", "several targets tree")
    for alpha in (1e300, 1e308):
        c = issue("tree-general", case.data, {**case.certificate.evidence, "alpha": alpha})
        assert not c.holds
        assert "no other pruning costs less" in c.failures[0]


def _differing(case, path, value):
    """The evidence of a case with another value at one place."""
    evidence = json.loads(json.dumps(encoded(dict(case.certificate.evidence))))
    place = evidence
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return {k: np.array(decoded(v)) if isinstance(case.certificate.evidence[k], np.ndarray) else decoded(v) for k, v in evidence.items()}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("kernel ridge values", ("gram", 4, 4), 0),  # no kernel has these values: a squared length below zero
        ("softmax", ("intercept", 0), 1e6),  # exponentials beyond all floats, whose logarithm is not
        ("nu svc", ("objective", "strength"), 1e-6),  # rounding leaves digits of the objective open
    ],
)
def test_what_holds_is_proved_by_the_checker_too(name, path, value):
    case = case_of("duality", name)
    c = issue("duality", case.data, _differing(case, path, encoded(value)))
    assert c.holds
    assert refused_by_checker(c, case.X, case.y, case.sample_weight) is None


@pytest.mark.parametrize("kind", ["tree", "tree-general"])
def test_truth_values_and_counts_are_not_mistaken_for_each_other(kind):
    case = all_cases()[kind][0]
    evidence = dict(case.certificate.evidence)
    for asks in (np.asarray(evidence["asks"]).astype(int), np.asarray(evidence["asks"]).astype(float)):
        assert not issue(kind, case.data, {**evidence, "asks": asks}).holds
    other = case_of("tree-general", "counts tree")
    c = other.certificate.tampered(figures={**other.certificate.figures, "outputs": True})
    assert not c.verify(other.X, other.y, other.sample_weight).holds


def test_a_kernel_of_a_huge_degree_is_refused_at_once():
    case = case_of("kernel-perceptron")
    for degree in (99, 10**300):
        evidence = {**case.certificate.evidence, "kernel": ["sum", ["linear"], ["polynomial", degree, 1.0, 1.0]]}
        for rigor in ("float", "exact"):
            c = issue("kernel-perceptron", case.data, evidence, rigor)
            assert not c.holds
            assert "degree" in c.failures[0]


@pytest.mark.parametrize("times", [4, 40])
def test_a_kernel_normalised_again_and_again_is_refused_at_once(times, tmp_path):
    kernel = ["rbf", 0.5]
    for _ in range(times):
        kernel = ["normalized", kernel]
    case = case_of("duality", "svc")
    c = issue("duality", case.data, {**case.certificate.evidence, "kernel": kernel})
    assert not c.holds
    honest, table = CASES["kernel machine"](np.random.default_rng(0)).proof(tmp_path)
    honest["evidence"]["kernel"] = encoded(kernel)
    assert outcome(honest, table) == "NOT PROVED: too many kernels to normalise"


@pytest.mark.parametrize("count", [10**8, 10**30])
def test_a_table_of_countless_categories_is_refused_at_once(count, tmp_path):
    honest, table = CASES["categorical counts"](np.random.default_rng(0)).proof(tmp_path)
    honest["evidence"]["n_categories"][0] = count
    assert "out of range" in outcome(honest, table)
    case = case_of("smoothed-counts", "categorical")
    sizes = [count, *case.certificate.evidence["n_categories"][1:]]
    assert not issue("smoothed-counts", case.data, {**case.certificate.evidence, "n_categories": sizes}).holds


HOLES = {
    "a group for a column of numbers": ("tree of words for three", "group", lambda v: np.zeros_like(v)),
    "a threshold for categories": ("tree of words", "group", lambda v: np.full_like(v, -1)),
    "a criterion for numbers": ("tree of words", "criterion", lambda v: "squared_error"),
    "a criterion for classes": ("value tree", "criterion", lambda v: "gini"),
    "more values than targets": ("median tree", "value", lambda v: np.column_stack([v, v])),
    "fewer values than classes": ("tree of words for three", "value", lambda v: v[:, :2]),
    "validation rows as a column": ("validated tree", "validation", lambda v: np.asarray(v)[:, None]),
}


@pytest.mark.parametrize("name", HOLES)
def test_parts_of_a_tree_fit_each_other(name):
    which, field, change = HOLES[name]
    case = case_of("tree", which)
    forged = {**case.certificate.evidence, field: change(case.certificate.evidence[field])}
    assert not issue("tree", case.data, forged).holds
