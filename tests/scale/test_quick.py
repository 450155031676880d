"""Statistics with compiled loops are those of the proofs, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certifit._objective import Objective
from certifit.certificates._ball import Ball
from certifit.certificates.class_sums import class_moments
from certifit.certificates.moments import Moments
from certifit.certificates.passes import Passes
from certifit.certificates.sums import Block, Grid, NotFiniteError
from certifit.exceptions import TableError
from certifit.linear_model import Ridge
from certifit.loops._tiers import Switch
from certifit.losses import Logistic
from certifit.naive_bayes import GaussianNB
from certifit.regularizers import SquaredL2
from certifit.scale import fit
from certifit.scale._quick import QuickClassMoments, QuickMoments, QuickPasses
from tests.scale.tables import same_bits, table


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Tables of tests are too small to compile for."""
    for loop in ("cut", "class_sums"):
        monkeypatch.setattr(f"certifit.scale._quick.{loop}._settled", True)
    monkeypatch.setattr(Switch, "always", True)


def blocks(seed: int, rows: int, wild: bool):
    """Rows in two blocks; wild ones have numbers beyond the ends that the grid was made for."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3, rows)) * np.array([[1.0], [1e-8], [1e9]])
    grid = Grid.of(X.min(axis=1), X.max(axis=1))
    if wild:
        X[rng.integers(3), rng.integers(rows)] *= 1e13
    y = rng.integers(0, 2, rows)
    cut = int(rng.integers(0, rows + 1))
    return grid, [Block(X[:, :cut], y[:cut], part="a"), Block(X[:, cut:], y[cut:], part="b")]


def told(statistic) -> dict:
    """What a statistic found, as arrays and numbers."""
    found = vars(statistic.finish())
    return {k: (np.asarray(v.mid), np.asarray(v.rad)) if isinstance(v, Ball) else v for k, v in found.items()}


def agree(plain, quick, rows):
    """One after another, and merged."""
    meant = told(plain.of(rows))
    assert same_bits(meant, told(quick.of(rows)))
    assert same_bits(meant, told(quick.of(rows[1:]).merge(quick.of(rows[:1]))))


LAW = settings(max_examples=25, deadline=None)
TABLES = {"seed": st.integers(0, 2**20), "rows": st.sampled_from([1, 40, 2048, 2051, 5000]), "wild": st.booleans()}


@LAW
@given(**TABLES, digits=st.sampled_from([2, 3]))
def test_moments(seed, rows, wild, digits):
    grid, parts = blocks(seed, rows, wild)
    agree(Moments(grid, digits), QuickMoments(grid, digits), parts)
    both = Grid(np.append(grid.centre, 0.5), np.append(grid.exponent, 0))
    agree(Moments(both, digits), QuickMoments(both, digits), parts)


@LAW
@given(**TABLES)
def test_class_moments(seed, rows, wild):
    grid, parts = blocks(seed, rows, wild)
    agree(class_moments([0, 1], grid), QuickClassMoments([0, 1], grid), parts)


@LAW
@given(**TABLES, rough=st.booleans())
def test_passes(seed, rows, wild, rough):
    grid, parts = blocks(seed, rows, wild)
    objective = Objective(Logistic(), SquaredL2(0.5), 1.0, True, classes=(0, 1))
    at = (np.array([[0.3, 2e7, -1e-9]]), np.array([0.1]))
    plain, quick = (cls(objective, *at, grid, 2, rough=rough) for cls in (Passes, QuickPasses))
    agree(plain, quick, parts)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(bad):
    grid, parts = blocks(0, 60, False)
    parts[0].X[1, 0] = bad
    objective = Objective(Logistic(), SquaredL2(0.5), 1.0, True, classes=(0, 1))
    for quick in (
        QuickMoments(grid, 2),
        QuickClassMoments([0, 1], grid),
        QuickPasses(objective, np.ones((1, 3)), np.zeros(1), grid, 2),
    ):
        with np.errstate(all="ignore"), pytest.raises(NotFiniteError):
            quick.of(parts)


def test_weights_and_many_classes_go_the_other_way():
    grid, parts = blocks(3, 90, False)
    heavy = [Block(b.X, b.y, weight=np.ones(b.rows)) for b in parts]
    agree(Moments(grid, 2, 1), QuickMoments(grid, 2, 1), heavy)
    agree(class_moments([0, 1], grid, 1), QuickClassMoments([0, 1], grid, 1), heavy)
    many = list(range(40))
    agree(class_moments(many, grid), QuickClassMoments(many, grid), parts)


def test_a_missing_number_is_named():
    t = table(0)
    bad = t.set_column(1, "x1", [np.where(np.arange(90) == 80, np.nan, 1.0)])
    for model in (Ridge(), GaussianNB()):
        with pytest.raises(TableError, match="column 'x1' holds a value that is missing"):
            fit(model, bad, target="y" if isinstance(model, Ridge) else "x0", engine="serial")
