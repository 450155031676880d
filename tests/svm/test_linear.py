"""Linear machines: many columns, and fits that get nowhere."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from certifit.svm import LinearSVC

MACHINES = {"hinge": {"loss": "hinge"}, "squared hinge": {}}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", MACHINES)
def test_more_columns_than_a_hessian_is_formed_for(name, sparse):
    rng = np.random.default_rng(0)
    X = sp.random(2_000, 1_700, 0.02, format="csr", random_state=0)
    y = (X @ rng.normal(size=(1_700, 3)) + 0.2 * rng.gumbel(size=(2_000, 3))).argmax(axis=1)
    model = LinearSVC(**MACHINES[name]).fit(X if sparse else X.toarray(), y == 0)
    assert model.status_ == "converged"
    assert model.certificate_.holds
    assert model.certificate_.relative_gap <= 2e-4
    assert model.score(X, y == 0) > 0.9


def test_a_machine_that_gets_nowhere_says_so(monkeypatch):
    monkeypatch.setattr("certifit.solvers.linear_svc._Corner.move", lambda self, step, h: False)
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    with pytest.warns(ConvergenceWarning, match="no step improved"):
        model = LinearSVC(loss="hinge").fit(X, y)
    assert model.status_ == "no improvement"
