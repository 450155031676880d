"""A diagnosis is a list of slips, each with its name, sentence and proof."""

import numpy as np

import certifit as cf
from certifit.judge import Diagnosis, Finding

X, Y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([1.0, 3.0, 4.0, 9.0])


def test_a_list_with_proofs():
    W = np.column_stack([X, np.ones(4)])
    w, b = np.linalg.solve(W.T @ W / 4 + 0.5 * np.eye(2), W.T @ Y / 4)
    found = cf.certify_coefficients([w], b, X, Y, loss="squared", lam=0.5).diagnose(X, Y)
    assert isinstance(found, list)
    assert isinstance(found, Diagnosis)
    assert [slip.name for slip in found] == ["penalised offset"]
    assert isinstance(found[0], Finding)
    assert found[0].sentence.endswith("did you penalise the offset?")
    assert found[0].certificate.holds
    assert "penalised offset" in found._repr_html_()


def test_right_answers_and_riddles_are_empty():
    w = np.polyfit(X[:, 0], Y, 1)
    right = cf.certify_coefficients(w[:1], w[1], X, Y, loss="squared", lam=0.0).diagnose(X, Y)
    assert right == []
    assert right.right
    riddle = cf.certify_coefficients([17.0], 3.0, X, Y, loss="squared", lam=0.0).diagnose(X, Y)
    assert riddle == []
    assert not riddle.right
    assert "None of the usual mistakes" in str(riddle)
