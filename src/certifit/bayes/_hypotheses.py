"""Bayesian learning over a finite set of hypotheses, in logarithms."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from certifit import certificates
from certifit._trace import Trace, TraceRow
from certifit._types import Array, Label
from certifit.certificates import Certificate, Data
from certifit.certificates.counts import cell_word


class HypothesisSpace:
    r"""Finitely many hypotheses, their prior probabilities, and what each says about single outcomes.

    .. math:: P(h \mid e) = \frac{P(h) \prod_i P(e_i \mid h)}{\sum_{h'} P(h') \prod_i P(e_i \mid h')}

    Observations are independent given the hypothesis. An outcome that a hypothesis does not list has probability
    zero under it. The methods take ``outcomes``, an iterable of what was observed.

    Parameters
    ----------
    priors : dict
        Hypothesis → P(h); ≥ 0, summing to one.
    likelihoods : dict
        Hypothesis → (outcome → P(outcome | h)); ≥ 0, each summing to one.

    References
    ----------
    S. Russell, P. Norvig, *Artificial Intelligence: A Modern Approach*, section 20.1.

    Examples
    --------
    >>> from certifit.bayes import HypothesisSpace
    >>> bags = HypothesisSpace({"fair": 0.5, "limes": 0.5}, {"fair": {"c": 0.5, "l": 0.5}, "limes": {"l": 1.0}})
    >>> bags.posterior(["l", "l"])["limes"], bags.map(["l"]), bags.evidence(["l", "l"])
    (0.8, 'limes', 0.625)
    """

    def __init__(self, priors: Mapping[Any, float], likelihoods: Mapping[Any, Mapping[Any, float]]) -> None:
        if not priors:
            raise ValueError("At least one hypothesis is needed.")
        missing = [h for h in priors if h not in likelihoods]
        if missing or len(likelihoods) != len(priors):
            raise ValueError(
                f"Priors and likelihoods must name the same hypotheses; check {missing or list(likelihoods)}."
            )
        self.hypotheses: list[Hashable] = list(priors)
        self.outcomes: list[Hashable] = list(dict.fromkeys(o for h in self.hypotheses for o in likelihoods[h]))
        self.priors: Array = np.array([float(priors[h]) for h in self.hypotheses])
        self.likelihoods: Array = np.array(
            [[float(likelihoods[h].get(o, 0.0)) for o in self.outcomes] for h in self.hypotheses]
        )
        _check_probabilities(self.priors, "The priors")
        for h, row in zip(self.hypotheses, self.likelihoods):
            _check_probabilities(row, f"The likelihoods of hypothesis {h!r}")
        with np.errstate(divide="ignore"):
            self._log_prior, self._log_table = np.log(self.priors), np.log(self.likelihoods)

    def _columns(self, outcomes: Iterable[Label]) -> list[int]:
        place = {o: k for k, o in enumerate(self.outcomes)}
        seen = list(outcomes)
        for o in seen:
            if o not in place:
                raise ValueError(f"No hypothesis knows the outcome {o!r}; known are {self.outcomes}.")
        return [place[o] for o in seen]

    def _joint(self, outcomes: Iterable[Label]) -> Array:
        """log P(h) + log P(e | h)."""
        counts = np.bincount(self._columns(outcomes), minlength=len(self.outcomes))
        used = counts > 0  # 0 · log 0 is 0
        return self._log_prior + self._log_table[:, used] @ counts[used]

    def _normalised(self, joint: Array) -> Array:
        if np.isneginf(joint).all():
            raise ValueError("Every hypothesis excludes these outcomes: the posterior does not exist.")
        share = np.exp(joint - joint.max())
        return np.asarray(share / share.sum())

    def posterior(self, outcomes: Iterable[Label]) -> dict[Any, float]:
        """P(h | outcomes) for every hypothesis.

        Parameters
        ----------
        outcomes : iterable

        Returns
        -------
        dict
        """
        return dict(zip(self.hypotheses, self._normalised(self._joint(outcomes)).tolist()))

    def posteriors(self, outcomes: Iterable[Label]) -> list[dict[Any, float]]:
        """The posterior before any observation and after each one.

        Parameters
        ----------
        outcomes : iterable

        Returns
        -------
        list of dict
            One more than there are outcomes.
        """
        seen = list(outcomes)
        return [self.posterior(seen[:k]) for k in range(len(seen) + 1)]

    def trace(self, outcomes: Iterable[Label]) -> Trace:
        """The posteriors as a trace: one row per outcome, with P(h | outcomes so far) of every hypothesis.

        Parameters
        ----------
        outcomes : iterable

        Returns
        -------
        Trace
            ``outcome``, ``evidence`` (the probability of all outcomes so far) and a column for each hypothesis.

        Examples
        --------
        >>> bags = HypothesisSpace({"fair": 0.5, "limes": 0.5}, {"fair": {"c": 0.5, "l": 0.5}, "limes": {"l": 1.0}})
        >>> print(bags.trace(["l", "l"]))
        iteration  outcome  evidence   P(fair)  P(limes)
                0                  1       0.5       0.5
                1        l      0.75  0.333333  0.666667
                2        l     0.625       0.2       0.8
        """
        seen, rows = list(outcomes), []
        for t, after in enumerate(self.posteriors(seen)):
            own: dict[str, Any] = {"outcome": seen[t - 1] if t else None, "evidence": self.evidence(seen[:t])}
            own |= {f"P({h})": p for h, p in after.items()}
            rows.append(TraceRow(t, **own))
        return Trace(rows)

    def predict(self, outcomes: Iterable[Label]) -> dict[Any, float]:
        """The Bayesian prediction of the next outcome: Σ_h P(next | h) P(h | outcomes).

        Parameters
        ----------
        outcomes : iterable

        Returns
        -------
        dict
        """
        weights = self._normalised(self._joint(outcomes))
        return dict(zip(self.outcomes, (weights @ self.likelihoods).tolist()))

    def map(self, outcomes: Iterable[Label]) -> Any:
        """The hypothesis of largest posterior (ties: the first).

        Parameters
        ----------
        outcomes : iterable

        Returns
        -------
        The name of a hypothesis.
        """
        joint = self._joint(outcomes)
        self._normalised(joint)
        return self.hypotheses[int(np.argmax(joint))]

    def ml(self, outcomes: Iterable[Label]) -> Any:
        """The hypothesis of largest likelihood (ties: the first); the prior is not used.

        Parameters
        ----------
        outcomes : iterable

        Returns
        -------
        The name of a hypothesis.
        """
        counts = np.bincount(self._columns(outcomes), minlength=len(self.outcomes))
        score = self._log_table[:, counts > 0] @ counts[counts > 0]
        self._normalised(score)
        return self.hypotheses[int(np.argmax(score))]

    def evidence(self, outcomes: Iterable[Label]) -> float:
        """P(outcomes) = Σ_h P(h) P(outcomes | h).

        Parameters
        ----------
        outcomes : iterable

        Returns
        -------
        float
        """
        return float(np.exp(self.log_evidence(outcomes)))

    def log_evidence(self, outcomes: Iterable[Label]) -> float:
        """log P(outcomes), which does not underflow.

        Parameters
        ----------
        outcomes : iterable

        Returns
        -------
        float
        """
        return float(np.logaddexp.reduce(self._joint(outcomes)))

    def certify(self, outcomes: Iterable[Label], posterior: Mapping[Any, float] | None = None) -> Certificate:
        """Prove the posterior: it sums to one and equals prior times likelihood over evidence.

        Parameters
        ----------
        outcomes : iterable
        posterior : mapping, default=None
            A posterior found by hand, to be certified instead of the computed one; ``diagnose(column)`` of a wrong
            one tries common mistakes.

        Returns
        -------
        Certificate
            ``certificate.verify(column)`` with the outcomes as a column, an array of shape (n, 1).
        """
        seen = list(outcomes)
        evidence = {
            "outcomes": [cell_word(o) for o in self.outcomes],
            "priors": self.priors,
            "likelihoods": self.likelihoods,
            "posterior": self._normalised(self._joint(seen)),
            "log_evidence": self.log_evidence(seen),
        }
        if posterior is not None:
            if set(posterior) != set(self.hypotheses):
                raise ValueError("posterior must contain one probability for each hypothesis.")
            evidence["posterior"] = np.array([float(posterior[h]) for h in self.hypotheses])
        return certificates.issue("finite-bayes", Data.of(as_column(seen)), evidence)


def as_column(outcomes: Iterable[Label]) -> Array:
    """Outcomes as an array of shape (n, 1)."""
    seen = list(outcomes)
    column = np.empty((len(seen), 1), dtype=object)
    column[:, 0] = seen
    return column


def _check_probabilities(p: Array, what: str) -> None:
    if np.any(p < 0) or not abs(p.sum() - 1.0) <= 1e-9:
        raise ValueError(f"{what} must be ≥ 0 and sum to one; they sum to {p.sum():.6g}.")
