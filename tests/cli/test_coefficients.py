"""certifit certify --coefficients: numbers found by hand, judged at the command line."""

import numpy as np
import pytest

from certifit.cli._run import run

X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [4.0, 5.0], [5.0, 1.0]])
Y = np.array([1.0, 3.0, 4.0, 9.0, 8.0])


@pytest.fixture
def folder(tmp_path):
    rows = "\n".join(",".join(map(str, [*x, y])) for x, y in zip(X, Y))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows + "\n")
    return tmp_path


def write(folder, theta):
    (folder / "w.csv").write_text(f"a,{theta[0]!r}\nb,{theta[1]!r}\nintercept,{theta[2]!r}\n")
    return ["certify", str(folder / "t.csv"), "--target", "y", "--coefficients", str(folder / "w.csv"), "--lam", "0.5"]


def test_right_and_wrong_answers(folder, capsys):
    Xc, yc = X - X.mean(0), Y - Y.mean()
    w = np.linalg.solve(Xc.T @ Xc + 5 * 0.5 * np.eye(2), Xc.T @ yc)
    assert run(write(folder, [float(v) for v in (*w, Y.mean() - w @ X.mean(0))])) == 0
    assert "Within 1e-1" in capsys.readouterr().out
    W = np.column_stack([X, np.ones(5)])
    theta = np.linalg.solve(W.T @ W + 5 * 0.5 * np.eye(3), W.T @ Y)
    assert run(write(folder, [float(v) for v in theta])) == 0
    assert "did you penalise the offset?" in capsys.readouterr().out


def test_usage(folder, capsys):
    words = write(folder, [1.0, 2.0, 3.0])
    (folder / "w.csv").write_text("a,1\nc,2\n")
    assert run(words) == 2
    assert "must have one line for each column" in capsys.readouterr().err
    assert run(["certify", str(folder / "t.csv")]) == 2
    (folder / "w.csv").write_text("nonsense")
    assert run(words) == 2
    assert run([*words, "--loss", "nothing"]) == 2


def test_the_target_is_the_column_without_a_coefficient(folder, capsys):
    words = write(folder, [1.0, 0.5, 0.25])
    without = [word for word in words if word not in ("--target", "y")]
    assert run(words) == 0
    said = capsys.readouterr().out
    for text in (None, "1.0\n0.5\n0.25\n", "1.0,0.5,0.25\n"):
        if text is not None:
            (folder / "w.csv").write_text(text)
        assert run(without) == 0
        assert capsys.readouterr().out == said
    (folder / "w.csv").write_text("a,1\n")
    assert run(without) == 2
    assert "--target" in capsys.readouterr().err
    (folder / "w.csv").write_text("1\n2\n3\n4\n")
    assert run(without) == 2
