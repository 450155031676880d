"""The bit law: every family, partitioning, engine and order of files gives the same coefficients, claim and figures.

Quick: one table a family, in files that are cut and ordered differently for each engine. Slow: all partitionings on all
engines, for tables that Hypothesis draws.
"""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from certifit import scale
from certifit.cluster import KMeans
from certifit.decomposition import PCA
from certifit.glm import GLM
from certifit.linear_model import (
    ElasticNet,
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    TweedieRegressor,
)
from certifit.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MixedNB, MultinomialNB
from certifit.preprocessing import Factored, OneHot, Standardizer, StandardScaler, Thermometer
from certifit.scale._families import FITTERS
from certifit.scale._predict import Answerer
from certifit.scale._source import NamedColumns
from certifit.svm import LinearSVC
from tests.scale.tables import PARTITIONINGS, assert_same, counted, fitted_state, same_bits, shuffled, table


def words(seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {"c": rng.choice(["u", "v", "w"], 90), "n": rng.integers(0, 4, 90), "y": rng.choice(["a", "b"], 90)}
    )


def positive(seed: int) -> pa.Table:
    t = table(seed, 90, 3)
    return t.set_column(3, "y", [np.exp(np.clip(t["y"].to_numpy() / 3.0, -5.0, 5.0))])


def shares(seed: int) -> pa.Table:
    t = table(seed, 90, 3)
    return t.set_column(3, "y", [np.round(1.0 / (1.0 + np.exp(-t["y"].to_numpy())), 1)])


def of(target: str):
    return lambda seed: table(seed, 90, 3, target)


# estimator, table, how it is evaluated: by its answers, by folds too, or not at all
CASES = [
    (LinearRegression(), of("real"), "folds"),
    (Ridge(alpha=0.5), of("real"), "folds"),
    (Lasso(alpha=0.05), of("real"), "folds"),
    (ElasticNet(alpha=0.05, l1_ratio=0.4), of("real"), "folds"),
    (LogisticRegression(), of("two"), "answers"),
    (LogisticRegression(C=0.5), of("three"), "answers"),
    (GLM("poisson", alpha=0.01), of("counts"), "answers"),
    (GLM("gaussian", alpha=0.1), of("real"), "answers"),
    (GLM("binomial", alpha=0.1), shares, "answers"),
    (PoissonRegressor(alpha=0.1), of("counts"), "answers"),
    (GammaRegressor(alpha=0.1), positive, "answers"),
    (TweedieRegressor(power=1.5, alpha=0.1, link="log"), of("counts"), "answers"),
    (LinearSVC(), of("two"), "answers"),
    (LinearSVC(), of("three"), "answers"),
    (GaussianNB(), of("three"), "answers"),
    (MultinomialNB(), counted, "answers"),
    (ComplementNB(), counted, "answers"),
    (BernoulliNB(binarize=1.0), counted, "answers"),
    (CategoricalNB(), counted, "answers"),
    (MixedNB(), words, "answers"),
    (PCA(2), of("real"), ""),
    (KMeans(3), of("real"), ""),
    (Standardizer(), of("real"), ""),
    (StandardScaler(), of("real"), ""),
    (OneHot(), lambda seed: words(seed).drop(["y"]), ""),
    (Thermometer(), lambda seed: words(seed).drop(["c", "y"]), ""),
    (Factored(), lambda seed: words(seed).drop(["y"]), ""),
]


def test_every_family_has_a_case():
    assert {type(model) for model, _, _ in CASES} == set(FITTERS)


ASKED = [case[:2] for case in CASES if case[2] or isinstance(case[0], KMeans)]


@pytest.mark.parametrize(("model", "make"), ASKED, ids=lambda v: type(v).__name__ if hasattr(v, "fit") else "")
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**20), cuts=st.lists(st.integers(1, 2999), max_size=5))
def test_no_answer_depends_on_the_block_that_its_row_is_in(model, make, seed, cuts):
    t = make(seed)
    target = None if isinstance(model, KMeans) else "y"
    fit = scale.fit(model, t if target else t.drop(["y"]), target=target, engine="serial")
    many = t.take(pa.array(np.random.default_rng(seed).integers(0, t.num_rows, 3000)))
    source = scale.Source.of(many)
    plan = source.plan(NamedColumns("y", [str(c) for c in fit.feature_names_in_]), 3000, words=True)
    (whole,) = source.parts[0].blocks(plan)
    answerer = Answerer(fit, plan.numbers, plan.words)
    edges = sorted({0, 3000, *cuts})
    pieces = [whole.take(slice(a, b)) for a, b in pairwise(edges)]
    asked = ["predict", *(["scores"] if len(getattr(fit, "classes_", ())) == 2 else []), "probabilities"]
    for method in asked:
        meant, *found = (getattr(answerer, method)(block) for block in (whole, *pieces))
        assert (meant is None) == all(part is None for part in found)
        assert meant is None or same_bits(meant, np.concatenate(found))


def files(t: pa.Table, folder: Path, parts: int, seed: int) -> list[str]:
    """The rows in another order, in so many files, listed in another order."""
    rng, t, paths = np.random.default_rng(seed), shuffled(t, seed), []
    for k, piece in enumerate(np.array_split(np.arange(t.num_rows), parts)):
        paths.append(str(folder / f"part-{k}.parquet"))
        pq.write_table(t.take(pa.array(piece)), paths[-1])
    return [paths[k] for k in rng.permutation(parts)]


def fitted(model, t, how, engine, seed, parts):
    """The fit of a partitioning on an engine, and every figure about it."""
    with tempfile.TemporaryDirectory() as folder:
        source = files(t, Path(folder), parts, seed)
        target = "y" if "y" in t.column_names else None
        fit = scale.fit(model, source, target=target, engine=engine)
        found = []
        if how:
            found.append(vars(scale.evaluate(fit, source, target="y", engine=engine)))
        if how == "folds":
            found.append(vars(scale.cross_validate(model, source, target="y", folds=3, engine=engine)))
        if hasattr(fit, "certificates_"):
            _ = fit.certificates_  # while the files are there
            assert fit.certificate_.holds
    return fit, found


def compare(answers):
    (first, figures), *others = answers
    for other, its in others:
        if hasattr(first, "certificates_"):
            assert_same([first, other])
        else:
            assert same_bits(fitted_state(first), fitted_state(other))
        assert same_bits(figures, its)


@pytest.mark.parametrize(("model", "make", "how"), CASES, ids=lambda v: type(v).__name__ if hasattr(v, "fit") else "")
def test_engines_agree_bit_by_bit(model, make, how, processes, client):
    t = make(7)
    cuts = (("serial", 1), (processes, 7), (client, 2))
    compare([fitted(model, t, how, engine, k, parts) for k, (engine, parts) in enumerate(cuts)])


LAW = settings(max_examples=2, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "make", "how"), CASES, ids=lambda v: type(v).__name__ if hasattr(v, "fit") else "")
@LAW
@given(seed=st.integers(0, 2**20))
def test_all_partitionings_on_all_engines_agree_bit_by_bit(model, make, how, processes, client, seed):
    t = make(seed)
    engines = ("serial", processes, client)
    cuts = [(engine, parts) for engine in engines for parts in PARTITIONINGS]
    compare([fitted(model, t, how, engine, seed + k, parts) for k, (engine, parts) in enumerate(cuts)])
