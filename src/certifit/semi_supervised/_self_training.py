"""Self-training: a classifier that labels rows for itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import semi_supervised

from certifit._certified import all_or_nothing
from certifit._trace import Trace, TraceRow
from certifit._types import MatrixLike, VectorLike
from certifit._validation import check_is_fitted
from certifit.certificates import Certificate


class SelfTrainingClassifier(semi_supervised.SelfTrainingClassifier):
    r"""A classifier that uses its own confident predictions as labels and is fitted again.

    In every round the classifier is fitted on the rows that have a label; then unlabelled rows whose largest
    probability exceeds ``threshold`` (or the ``k_best`` of them) get the predicted label.

    .. math:: \hat y_i = \arg\max_k p_k(x_i) \quad\text{where}\quad \max_k p_k(x_i) > \text{threshold}

    scikit-learn's estimator of that name, with the record of what was labelled when, and the proofs of the last fit.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    threshold : float in [0, 1), default=0.75
    criterion : {"threshold", "k_best"}, default="threshold"
    k_best : int ≥ 1, default=10
    max_iter : int ≥ 0 or None, default=10
        Largest number of rounds; None: until no more rows are labelled.
    verbose : bool, default=False

    Attributes
    ----------
    estimator_, classes_, transduction_, labeled_iter_, n_features_in_, n_iter_, termination_condition_ :
        As in scikit-learn; ``n_iter_`` is 1 where every row had a label.
    trace_ : Trace
        A row for every round: ``added`` and ``remaining`` count rows, ``rows`` and ``labels`` say which got what;
        ``objective`` is the fraction of rows without a label.
    certificate_, certificates_ :
        Of the last fit of the classifier, if it gives any: about the rows with ``labeled_iter_ ≥ 0`` and their labels
        in ``transduction_``. It is not proved that these labels are correct.

    References
    ----------
    Yarowsky (1995). Unsupervised word sense disambiguation rivaling supervised methods.

    Examples
    --------
    >>> from certifit.linear_model import LogisticRegression
    >>> X = [[-3.0], [-2.0], [-1.5], [1.5], [2.0], [3.0]]
    >>> model = SelfTrainingClassifier(LogisticRegression()).fit(X, [0, -1, -1, -1, -1, 1])
    >>> model.transduction_.tolist(), [row.added for row in model.trace_]
    ([0, 0, 0, 1, 1, 1], [2, 2, 2])
    >>> model.certificate_.verify(X, model.transduction_).holds
    True
    """

    n_iter_: int

    @all_or_nothing
    def fit(self, X: MatrixLike, y: VectorLike, **params: Any) -> SelfTrainingClassifier:
        """Fit, label, and fit again.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        y : array of n labels
            The number −1 where the label is not known. String labels need an array of dtype object.
        **params : dict
            For the classifier's ``fit``, with metadata routing.

        Returns
        -------
        self
        """
        super().fit(X, y, **params)
        self.trace_ = self._record()
        self.n_iter_ = max(1, self.n_iter_)  # scikit-learn counts none where nothing was to be labelled
        return self

    def _record(self) -> Trace:
        when = np.asarray(self.labeled_iter_).astype(int)
        rows, n = Trace(), len(when)
        for i in range(self.n_iter_ + 1):
            now = np.flatnonzero(when == i)
            remaining = int(n - np.sum((when >= 0) & (when <= i)))
            own = {"added": len(now), "remaining": remaining, "rows": now, "labels": self.transduction_[now]}
            rows.append(TraceRow(i, remaining / n, **own))
        return rows

    @property
    def certificates_(self) -> tuple[Certificate, ...]:
        """Those of the classifier's last fit."""
        check_is_fitted(self)
        found: tuple[Certificate, ...] = self.estimator_.certificates_
        return found

    @property
    def certificate_(self) -> Certificate:
        """The main claim about the classifier's last fit."""
        return self.certificates_[0]
