"""Naive Bayes equals counting by hand, published tables, and scikit-learn."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
import sklearn.naive_bayes as peers
from hypothesis import given
from hypothesis import strategies as st

from certifit.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MixedNB, MultinomialNB, fit_folds
from certifit.resampling import CannotShare, FoldTable

PAIRS = [
    (GaussianNB(), peers.GaussianNB()),
    (BernoulliNB(alpha=0.7), peers.BernoulliNB(alpha=0.7)),
    (MultinomialNB(alpha=0.3, fit_prior=False), peers.MultinomialNB(alpha=0.3, fit_prior=False)),
    (CategoricalNB(alpha=2.0), peers.CategoricalNB(alpha=2.0)),
]


def table(seed, n=60, d=4, K=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d))
    X[:4] = np.arange(4)[:, None]
    return X, rng.permutation(np.arange(n) % K), rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@given(seed=st.integers(0, 10_000))
def test_same_answers_as_scikit_learn(ours, theirs, seed):
    X, y, w = table(seed)
    for weight in (None, w):
        a, b = ours.fit(X, y, sample_weight=weight), theirs.fit(X, y, sample_weight=weight)
        # scikit-learn's epsilon ignores the weights, hence 1e-7 for the Gaussian model
        np.testing.assert_allclose(a.predict_log_proba(X), b.predict_log_proba(X), rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X), rtol=1e-7)


@given(seed=st.integers(0, 10_000), alpha=st.fractions(Fraction(1, 8), 3, max_denominator=8))
def test_categorical_is_counting_exactly(seed, alpha):
    """Every probability is the float nearest to the fraction found by hand."""
    X, y, _ = table(seed, n=24, d=2)
    model = CategoricalNB(alpha=float(alpha)).fit(X, y)
    for c in range(3):
        for j in range(2):
            m = int(X[:, j].max()) + 1
            for t in range(m):
                hits = sum(1 for i in range(24) if y[i] == c and X[i, j] == t)
                by_hand = (hits + alpha) / (int((y == c).sum()) + alpha * m)
                assert model.category_count_[j][c, t] == hits
                assert np.exp(model.feature_log_prob_[j][c, t]) == pytest.approx(float(by_hand), rel=4e-16)


def test_multinomial_and_bernoulli_counts_by_hand():
    X, y = np.array([[2, 0, 1], [0, 1, 1], [1, 1, 0], [3, 0, 0]]), np.array(["u", "v", "v", "u"])
    m = MultinomialNB().fit(X, y)
    assert m.feature_count_.tolist() == [[5, 0, 1], [1, 2, 1]]
    by_hand = [[Fraction(6, 9), Fraction(1, 9), Fraction(2, 9)], [Fraction(2, 7), Fraction(3, 7), Fraction(2, 7)]]
    np.testing.assert_allclose(np.exp(m.feature_log_prob_), np.array(by_hand, dtype=float), rtol=4e-16)
    b = BernoulliNB().fit(X, y)
    by_hand = [[Fraction(3, 4), Fraction(1, 4), Fraction(2, 4)], [Fraction(2, 4), Fraction(3, 4), Fraction(2, 4)]]
    np.testing.assert_allclose(np.exp(b.feature_log_prob_), np.array(by_hand, dtype=float), rtol=4e-16)


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_pieces_give_what_the_whole_gives(ours, theirs):
    X, y, w = table(5)
    whole = type(ours)(**ours.get_params()).fit(X, y, sample_weight=w)
    pieces = type(ours)(**ours.get_params())
    for i in range(0, 60, 17):
        pieces.partial_fit(X[i : i + 17], y[i : i + 17], classes=[0, 1, 2], sample_weight=w[i : i + 17])
    np.testing.assert_allclose(whole.predict_log_proba(X), pieces.predict_log_proba(X), rtol=1e-10)
    with pytest.raises(AttributeError, match="in pieces"):
        _ = pieces.certificate_
    assert pieces.certify(X, y, w).holds


@pytest.mark.parametrize("ours", [p[0] for p in PAIRS] + [MixedNB(), MixedNB(categorical=[0, 1, 2, 3])])
def test_folds_from_one_read(ours):
    X, y, w = table(7, n=90)
    X = X.astype(float) if isinstance(ours, MixedNB) else X
    folds = [np.arange(k, 90, 3) for k in range(3)]
    name = "var_smoothing" if isinstance(ours, GaussianNB) else "alpha"
    grid = [{name: v} for v in (0.01, 0.5, 2.0)]
    fits = list(fit_folds(ours, X, y, folds, grid, sample_weight=w))
    assert len(fits) == 9
    for f in fits:
        train = np.setdiff1d(np.arange(90), folds[f.fold])
        alone = type(ours)(**(ours.get_params() | f.params)).fit(X[train], y[train], sample_weight=w[train])
        np.testing.assert_allclose(f.model.predict_log_proba(X), alone.predict_log_proba(X), rtol=1e-9, atol=1e-12)
    pairs = [(np.setdiff1d(np.arange(90), t), t) for t in folds]
    answers = list(ours._fold_path(FoldTable(X, y, pairs, w), grid, ("predict", "predict_proba")))
    assert answers[0]["predict_proba"].shape == (3, 30, 3)
    np.testing.assert_array_equal(answers[1]["predict"][2], fits[5].model.predict(X[folds[1]]))


def test_folds_refuse_settings_that_change_the_reading():
    X, y, _ = table(8)
    with pytest.raises(ValueError, match="binarize"):
        list(fit_folds(BernoulliNB(), X, y, [np.arange(3)], [{"binarize": 1.0}]))
    folds = [(np.arange(3, 60), np.arange(3))]
    with pytest.raises(CannotShare, match="binarize"):
        BernoulliNB()._fold_path(FoldTable(X, y, folds), [{"binarize": 1.0}], ("predict",))
    # A category only in the fold: the ordinary road is taken
    X[0, 0] = 9
    with pytest.raises(CannotShare, match="category"):
        CategoricalNB()._fold_path(FoldTable(X, y, folds), [{"alpha": 1.0}], ("predict",))


def test_textbook_documents(reference):
    record, frame = reference("naive_bayes/ir_book_china")
    X, y = frame.drop(columns="china").to_numpy(), frame["china"].to_numpy()
    words = list(frame.columns)
    query = [[0, 3, 1, 0, 0, 1]]
    want = record["expected"]["multinomial"]
    m = MultinomialNB().fit(X, y)
    p = np.exp(m.feature_log_prob_)
    for key, value in want.items():
        if key.startswith("P("):
            word, label = key[2:-1].split("|")
            assert p[["no", "yes"].index(label), words.index(word.lower())] == pytest.approx(value, rel=1e-12)
    joint = np.exp(m.predict_joint_log_proba(query))[0]
    assert joint == pytest.approx([want["joint_full_precision"][k] for k in ("no", "yes")], rel=1e-12)
    assert m.predict(query)[0] == want["prediction"]
    want, b = record["expected"]["bernoulli"], BernoulliNB().fit(X, y)
    joint = np.exp(b.predict_joint_log_proba(query))[0]
    assert joint == pytest.approx([want["joint_full_precision"][k] for k in ("no", "yes")], rel=1e-12)
    assert b.predict(query)[0] == want["prediction"]
    assert m.certificate_.verify(X, y).holds
    assert b.certificate_.verify(X, y, rigor="exact").holds


def test_play_tennis(reference):
    record, frame = reference("tree/play_tennis")
    frame = frame.astype(str)
    X, y = frame.drop(columns="play"), frame["play"]
    want = record["expected"]["naive_bayes_no_smoothing"]
    model = MixedNB(alpha=1e-10).fit(X, y)
    query = X.iloc[:1].copy()
    query.loc[:, :] = [[str(want["query"][c]).capitalize() if c == "windy" else want["query"][c] for c in X.columns]]
    joint = np.exp(model.predict_joint_log_proba(query))[0]
    assert joint == pytest.approx([want["likelihood_no"], want["likelihood_yes"]], abs=5e-5)
    assert 100 * model.predict_proba(query)[0] == pytest.approx(
        [want["probability_no_percent"], want["probability_yes_percent"]], abs=0.05
    )
    assert model.certificate_.verify(X, y).holds


def test_stock_market(reference):
    record, frame = reference("islp/smarket")
    want = record["expected"]["gaussian_nb_train_Lag1_Lag2"]
    train = frame["Year"] < 2005
    X, y = frame[["Lag1", "Lag2"]].to_numpy(), frame["Direction"].to_numpy()
    model = GaussianNB().fit(X[train], y[train])
    np.testing.assert_allclose(model.class_prior_, want["class_prior_Down_Up"], atol=1e-8)
    np.testing.assert_allclose(model.theta_, want["theta"], atol=1e-8)
    np.testing.assert_allclose(model.var_, want["var_ddof0"], atol=1e-8)
    proba = model.predict_proba(X[~train])
    np.testing.assert_allclose(proba[:5], want["first_5_test_probabilities"], atol=1e-7)
    found = model.predict(X[~train])
    table = [[int(np.sum((found == p) & (y[~train] == t))) for t in ("Down", "Up")] for p in ("Down", "Up")]
    assert table == want["test_confusion"]


@pytest.mark.parametrize("case", ["lew", "michelso", "numacc1", "numacc3"])
def test_nist_columns(reference, case):
    record, frame = reference(f"nist_univariate/{case}")
    x = frame.iloc[:, 0].to_numpy(dtype=float)
    model = GaussianNB(var_smoothing=0.0).fit(x[:, None], np.zeros(len(x)))
    assert model.theta_[0, 0] == pytest.approx(record["expected"]["mean"], rel=1e-14)
    exact = [Fraction(v) for v in x.tolist()]
    mean = sum(exact) / len(exact)
    variance = float(sum((v - mean) ** 2 for v in exact) / len(exact))
    assert model.var_[0, 0] == pytest.approx(variance, rel=1e-14)
    sd = np.sqrt(model.var_[0, 0] * len(x) / (len(x) - 1))
    # numacc3 as stored in binary is 1e-9 away from its decimal table
    assert sd == pytest.approx(record["expected"]["std_ddof1"], rel=1e-8 if case == "numacc3" else 1e-12)


def test_sparse_counts_equal_dense_ones():
    X, y, _ = table(11)
    for make in (BernoulliNB, MultinomialNB):
        dense, sparse = make().fit(X, y), make().fit(scipy.sparse.csr_array(X), y)
        np.testing.assert_allclose(dense.feature_log_prob_, sparse.feature_log_prob_, rtol=1e-15)
        np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(scipy.sparse.csr_array(X)), rtol=1e-12)
        assert sparse.certificate_.verify(scipy.sparse.csr_array(X), y).holds


@given(seed=st.integers(0, 1000))
def test_boundary_and_log_odds_agree(seed):
    X, y, _ = table(seed, K=2)
    for model in (GaussianNB(), BernoulliNB(), MultinomialNB()):
        model.fit(X, y)
        b = model.boundary()
        Z = (X > 0).astype(float) if isinstance(model, BernoulliNB) else X.astype(float)
        line = b.constant + Z @ b.linear + Z**2 @ b.quadratic
        np.testing.assert_allclose(line, model.log_odds(X), rtol=1e-9, atol=1e-9)
        p = model.predict_proba(X)
        np.testing.assert_allclose(model.log_odds(X), np.log(p[:, 1] / p[:, 0]), rtol=1e-7, atol=1e-9)


def test_log_odds_of_three_classes():
    X, y, _ = table(3)
    model = MultinomialNB().fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(model.log_odds(X), np.log(p / (1 - p)), rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match="two classes"):
        model.boundary()


def test_no_smoothing_leaves_impossible_rows():
    model = MultinomialNB(alpha=0.0).fit([[1, 0], [0, 1]], ["a", "b"])
    assert model.predict([[3, 0], [0, 2]]).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="probability zero under every class"):
        model.predict_proba([[1, 1]])
    on = BernoulliNB(alpha=0.0).fit([[1, 0], [0, 1], [0, 0]], [0, 1, 1])
    assert on.predict_proba([[1, 0]])[0].tolist() == [1.0, 0.0]


def test_gaussian_refuses_what_has_no_density():
    with pytest.raises(ValueError, match="does not vary within class 0, so"):
        GaussianNB(var_smoothing=0.0).fit([[0.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="squares exceed"):
        GaussianNB().fit([[1e200], [-1e200]], [0, 1])
    same = GaussianNB().fit([[5.0], [5.0], [5.0]], [0, 1, 1])
    np.testing.assert_allclose(same.predict_proba([[5.0]]), [[1 / 3, 2 / 3]])


def test_float32_rows_give_float32_answers():
    X, y, _ = table(2)
    assert GaussianNB().fit(X.astype(np.float32), y).predict_proba(X.astype(np.float32)).dtype == np.float32


def test_unknown_category_is_named():
    model = CategoricalNB().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="category 7 in column 0"):
        model.predict([[7]])
    assert CategoricalNB(min_categories=8).fit([[0], [1]], [0, 1]).predict([[7]]).tolist() == [0]


def test_without_smoothing_a_class_may_begin_with_one_row():
    rows, labels = [[0.0, 1.0], [1.0, 3.0], [5.0, 5.0]], [0, 0, 1]
    model = GaussianNB(var_smoothing=0.0).partial_fit(rows, labels, classes=[0, 1])
    with pytest.raises(ValueError, match="does not vary within class"):
        model.predict([[0.0, 0.0]])
    model.partial_fit([[6.0, 7.0]], [1])
    whole = GaussianNB(var_smoothing=0.0).fit([*rows, [6.0, 7.0]], [*labels, 1])
    np.testing.assert_allclose(model.var_, whole.var_)
    assert model.predict([[0.0, 0.0], [6.0, 6.0]]).tolist() == [0, 1]
    with pytest.raises(ValueError, match="does not vary within class"):
        GaussianNB(var_smoothing=0.0).fit(rows, labels)
