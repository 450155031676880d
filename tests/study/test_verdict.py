"""Choosing, and calling differences real."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from certifit.study import _runner, examine
from certifit.study._judge import AUC, R2, Answers
from certifit.study._models import Candidate, Shape, candidates
from certifit.study._outlook import missing_usual, unfinished
from certifit.study._plan import outer_folds, plan_study
from certifit.study._runner import Piece, Result
from certifit.study._verdict import decide, in_words


def result(name, scores):
    candidate = Candidate(("classification",), (), called=name)
    return Result(candidate, {k: Piece(None, float(s), {}, 0.1) for k, s in enumerate(scores)})


FOLDS = [(np.arange(90), np.arange(90, 100))] * 10
RNG = np.random.default_rng(0)
NOISE = 0.01 * RNG.normal(size=10)


def test_the_simplest_within_one_standard_error_is_chosen():
    verdict = decide(
        [result("baseline", [0.5] * 10), result("simple", 0.90 + NOISE), result("best", 0.901 + NOISE[::-1])],
        FOLDS,
        AUC,
    )
    assert verdict.winner.name == "simple"
    assert "simplest" in verdict.rule


def test_simplicity_costs_at_most_two_hundredths():
    """Scores that vary much have large standard errors: a model far behind is not chosen for being simple."""
    wild = 30 * NOISE
    rows = [result("baseline", [0.0] * 10), result("simple", 0.6 + wild), result("best", 0.7 - wild)]
    verdict = decide(rows, FOLDS, R2)
    assert not verdict.of("simple").real
    assert verdict.winner.name == "best"


def test_a_real_difference_is_called_real_and_the_better_model_is_chosen():
    verdict = decide(
        [result("baseline", [0.5] * 10), result("simple", 0.80 + NOISE), result("best", 0.90 + NOISE[::-1])], FOLDS, AUC
    )
    assert verdict.winner.name == "best"
    assert verdict.of("simple").real
    assert "Significantly worse: simple" in in_words(verdict, AUC)


def test_nothing_better_than_the_baseline():
    verdict = decide([result("baseline", [0.5] * 10), result("noise", 0.5 + 10 * NOISE)], FOLDS, AUC)
    assert verdict.winner.name == "baseline"
    assert "No model is significantly better" in in_words(verdict, AUC)


def test_once_the_columns_tell_something_a_better_model_of_wider_scatter_may_win():
    wide = np.array([0.95, 0.6, 0.9] * 3 + [0.8])
    steady = result("steady", 0.55 + NOISE / 10)
    verdict = decide([result("baseline", [0.5] * 10), steady, result("better", wide)], FOLDS, AUC)
    assert verdict.winner.name == "better"
    assert "with the best mean score" in verdict.rule


def test_a_verdict_is_short_and_without_signed_zeros():
    rows = [result("baseline", [0.5] * 10)] + [result(f"m{i}", 0.9 - 0.0001 * i + NOISE) for i in range(12)]
    text = in_words(decide(rows, FOLDS, AUC), AUC)
    assert "7 more" in text or "more" in text
    assert len(text) < 500
    assert "-0.000" not in text
    assert "−0.000" not in text


def test_incomplete_candidates_are_not_ranked_and_none_at_all_is_an_error():
    half = result("half", [0.9] * 5)
    verdict = decide([result("baseline", 0.5 + 0 * NOISE), result("whole", 0.8 + NOISE), half], FOLDS, AUC)
    assert {s.name for s in verdict.standings} == {"baseline", "whole"}
    with pytest.raises(RuntimeError, match="No model could be compared"):
        decide([half], FOLDS, AUC)


def test_disjoint_intervals_belong_to_significant_differences():
    rng = np.random.default_rng(2)
    apart = 0
    for _ in range(200):
        rivals = [result(f"m{k}", 0.8 - 0.02 * k + rng.normal(0, 0.01 * (1 + k), 10)) for k in range(5)]
        verdict = decide([result("baseline", 0.5 + 0.01 * NOISE), *rivals], FOLDS, AUC)
        chosen = verdict.of(verdict.winner.name)
        for s in verdict.standings:
            assert s.joint[0] <= s.low
            assert s.joint[1] >= s.high
            if s.joint[1] < chosen.joint[0]:
                apart += s.name != "baseline"
                assert s.real
    assert apart > 20


@pytest.mark.slow
def test_equal_models_are_rarely_called_different():
    """Two candidates whose difference is noise around zero: called real in at most about 5 % of studies."""
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(400):
        a, b = rng.normal(0.8, 0.02, 10), rng.normal(0.8, 0.02, 10)
        verdict = decide([result("baseline", 0.5 + 0 * a), result("a", a), result("b", b)], FOLDS, AUC)
        wrong += any(s.real for s in verdict.standings if s.name in ("a", "b"))
    assert wrong <= scipy.stats.binom.ppf(0.999, 400, 0.05)


def test_folds_never_part_twins_and_keep_shares():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    twins = np.arange(200)
    twins[100:150] = rng.integers(0, 50, 50)
    y[100:150] = y[twins[100:150]]
    seen = np.zeros(200, dtype=int)
    for train, test in outer_folds(y, twins, True, 5, 0):
        assert not set(twins[train]) & set(twins[test])
        seen[test] += 1
        assert abs(y[train].mean() - y.mean()) < 0.1
    assert seen.tolist() == [1] * 200


def test_unknown_models_and_limits():
    with pytest.raises(ValueError, match="There is no model 'magic'"):
        candidates("regression", 100, 5, 0, Shape(), ("magic",))
    chosen, left = candidates("regression", 100, 5_000, 0, Shape(), ("least squares",))
    assert [c.name for c in chosen] == ["baseline"]
    assert left[0][0] == "least squares"
    assert "features are too many" in left[0][1]


def _said(result, probabilities):
    """The same result with answers, with or without probabilities."""
    told = Answers(np.array(["a"]), np.zeros(1), np.ones((1, 2)) / 2 if probabilities else None)
    pieces = {k: Piece(told, p.score, p.chosen, p.seconds) for k, p in result.pieces.items()}
    return Result(result.candidate, pieces)


def test_a_model_without_probabilities_must_be_significantly_better():
    base, sure = result("baseline", [0.5] * 10), _said(result("sure", 0.85 + NOISE), True)
    slightly, clearly = (_said(result("rough", level + NOISE[::-1]), False) for level in (0.855, 0.95))
    verdict = decide([base, slightly, sure], FOLDS, AUC)
    assert verdict.winner.name == "sure"
    assert verdict.rule.endswith("that gives probabilities")
    assert decide([base, clearly, sure], FOLDS, AUC).winner.name == "rough"


def test_a_model_that_diverges_on_a_fold_is_named_and_not_compared():
    wild = 0.6 + NOISE
    wild[3] = -4e11
    results = [result("baseline", NOISE), result("steady", 0.5 + NOISE), result("wild", wild)]
    verdict = decide(results, FOLDS, R2)
    assert [s.name for s in verdict.standings] == ["steady", "baseline"]
    assert ("wild", "diverged: its score on fold 4 is -4e+11") in unfinished(results, 10)
    assert missing_usual(verdict, [("ridge", "failed: ValueError"), ("lasso", "failed: x")]) == ["ridge"]
    assert in_words(verdict, R2, ["ridge"]).startswith("Ridge, which often wins, was not compared. Steady, R² 0.5")


def test_claims_are_adjusted_step_by_step_and_agree_with_their_intervals():
    rng = np.random.default_rng(5)
    base = rng.normal(0.9, 0.02, 10)
    rows = [result("baseline", np.full(10, 0.5)), result("winner", base)]
    rows += [result(f"m{i}", base - 0.01 * i - 0.008 * rng.normal(size=10)) for i in range(6)]
    verdict = decide(rows, FOLDS, AUC)
    judged = [s for s in verdict.standings if s.name != verdict.winner.name]
    for s in judged:
        assert s.real == (s.p_value < 0.05) == (abs(s.difference) > s.half)
    plain = {
        s.name: scipy.stats.ttest_1samp(verdict.winner.scores - s.scores, 0.0).statistic
        * np.sqrt((1 / 10) / (1 / 10 + 1 / 9))
        for s in judged
    }
    raw = {name: 2 * scipy.stats.t.sf(abs(t), 9) for name, t in plain.items()}
    for s in judged:  # between no adjustment and Bonferroni's
        assert raw[s.name] <= s.p_value * (1 + 1e-9)
        assert s.p_value <= min(1.0, raw[s.name] * len(judged)) * (1 + 1e-9)


def test_what_a_yardstick_finds_is_not_denied():
    verdict = decide([result("baseline", [0.5] * 10), result("noise", 0.5 + 10 * NOISE)], FOLDS, AUC)
    forest = {"name": "random forest", "mean": 0.8, "minus_winner": 0.3, "half_width": 0.1}
    assert "only random forest (0.800), about which nothing is proved, predicts" in in_words(verdict, AUC, (), [forest])
    assert "do not predict the target" in in_words(verdict, AUC, (), [forest | {"half_width": 0.4}])


def _claims(studies, models, folds=None):
    """How many studies of labels drawn by lot claim that some model has skill."""
    claims = 0
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        table = {f"x{j}": rng.normal(size=80) for j in range(4)} | {"y": rng.permutation(["a", "b"] * 40)}
        plan = plan_study(examine(table, "y"), models, folds, seed)
        claims += decide(_runner.execute(plan), plan.work.folds, plan.work.measure).beats_baseline
    return claims


def test_random_labels_are_seldom_called_predictable():
    assert _claims(5, ["logistic regression", "naive Bayes"], folds=4) <= 1


@pytest.mark.slow
def test_of_200_studies_of_random_labels_at_most_5_percent_claim_skill():
    """By comparisons alone, which is where a claim of skill comes from; models of unlike kinds, five folds."""
    assert _claims(200, ["logistic regression", "naive Bayes", "decision tree", "nearest neighbours"], 5) <= 10
