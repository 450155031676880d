"""A multi-layer perceptron for classes, and the distance within which its labels hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
import scipy.special
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target, unique_labels

from certifit._certified import all_or_nothing
from certifit._dispatch import in_numpy
from certifit._sklearn import read_weights
from certifit._types import Array, MatrixLike, VectorLike
from certifit._validation import check_classification_targets, check_is_fitted, validate_data
from certifit.certificates import Certificate, Data, issue
from certifit.certificates.network import layers_of
from certifit.neural._base import Network, codes_of, walks
from certifit.neural._radius import certified_radii
from certifit.solvers.network import forward


class MLPClassifier(ClassifierMixin, Network):
    r"""A network of layers for classes, trained by its gradient; labels can be proved stable around each row.

    .. math:: a_{l+1} = \varphi(a_l W_l + b_l), \qquad
        J = \frac1n\sum_i -\log p(y_i \mid x_i) + \frac{\alpha}{2n}\sum_l\lVert W_l\rVert^2

    with a logistic output for two classes and softmax for more; a row may have several labels (y of zeros and ones,
    one column per label), each with a logistic output. J is not convex: the certificate states its value and the norm
    of its gradient, not a distance from the optimum. What can be proved about predictions is `certified_radius`.

    Parameters
    ----------
    hidden_layer_sizes : int or list of int ≥ 1, default=(100,)
        Units of each hidden layer.
    activation : {"identity", "logistic", "tanh", "relu"}, default="relu"
    solver : {"auto", "lbfgs", "adam", "sgd"}, default="auto"
        L-BFGS on all rows at once up to 2000 rows, Adam in batches beyond (and with early stopping).
    alpha : float ≥ 0, default=0.0001
        Weight decay; offsets are not penalised.
    batch_size : int ≥ 1 or "auto", default="auto"
        "auto" is 200, or all rows if there are fewer.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        Of "sgd".
    learning_rate_init : float > 0, default=0.001
    power_t : float ≥ 0, default=0.5
        Of "invscaling".
    max_iter : int ≥ 1, default=200
        Iterations of L-BFGS, or passes over the rows.
    shuffle : bool, default=True
        A new order every pass.
    random_state : int, RandomState or None, default=None
        The same seed gives the same network as scikit-learn, up to rounding.
    tol : float ≥ 0, default=1e-4
        L-BFGS stops when no partial derivative is larger (unless ``tol`` is below 1e-5 also when a step lowers J by
        less than 2e-9 of it); others when the loss (with early stopping, the score)
        improves by less for ``n_iter_no_change`` passes.
    verbose : bool, default=False
        Whether to print the loss of every pass.
    warm_start : bool, default=False
        Whether `fit` continues with the existing network.
    momentum : float in [0, 1], default=0.9
        Of "sgd".
    nesterovs_momentum : bool, default=True
    early_stopping : bool, default=False
        Whether to hold out rows and keep the network that does best on them.
    validation_fraction : float in [0, 1), default=0.1
    beta_1, beta_2 : float in [0, 1), default=0.9, 0.999
        Of "adam".
    epsilon : float > 0, default=1e-8
        Of "adam".
    n_iter_no_change : int ≥ 1 or infinity, default=10
    max_fun : int ≥ 1, default=15000
        Evaluations of L-BFGS at most.
    trace : bool, default=False
        Whether to record every iteration in ``trace_``.
    time_budget : float > 0, default=None
        Seconds after which training stops.

    Attributes
    ----------
    classes_, coefs_, intercepts_, n_layers_, n_outputs_, n_iter_, loss_, out_activation_, n_features_in_ :
        As in scikit-learn.
    loss_curve_, best_loss_, validation_scores_, best_validation_score_, t_ :
        As in scikit-learn; the curve is there for "lbfgs" too.
    solver_, status_ : str
    trace_ : Trace
        ``objective`` is J (of a pass: the mean over its batches), ``validation`` the score on rows held out.
    certificate_ : Certificate
        Kind "network-gradient": ``value`` and ``gradient``. None after `partial_fit`, which keeps no data.

    Examples
    --------
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> model = MLPClassifier((4,), activation="tanh", random_state=0).fit(X, y)
    >>> model.predict(X).tolist(), model.certificate_.gradient < 1e-3
    ([0, 1, 1, 0], True)
    >>> bool(np.all(model.certified_radius(X) > 0.05))
    True
    """

    classes_: Array
    _several: bool = False  # whether a row may have several labels

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike | None = None) -> MLPClassifier:
        """Train the network on rows X, array or sparse, and labels y."""
        self._validate_params()
        return self._train(X, y, sample_weight, in_pieces=False)

    @available_if(walks)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_numpy
    @all_or_nothing
    def partial_fit(
        self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike | None = None, classes: VectorLike | None = None
    ) -> MLPClassifier:
        """One more pass, over these rows; the first call needs ``classes``, all labels that will come."""
        self._validate_params()
        self._refuse_pieces()
        known = hasattr(self, "coefs_")
        if not known and classes is None and not type_of_target(y).startswith("multilabel"):
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if classes is not None:
            listed = unique_labels(classes)
            if known and not np.array_equal(listed, self.classes_):
                raise ValueError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
                )
            if not known:
                self.classes_ = listed
        return self._train(X, y, sample_weight, in_pieces=True)

    def _train(self, X: Any, y: Any, sample_weight: Any, in_pieces: bool) -> MLPClassifier:
        goes_on = self._goes_on(in_pieces)
        X, y = validate_data(
            self, X, y, dtype=np.float64, order="C", accept_sparse="csr", multi_output=True, reset=not goes_on
        )
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        weights = read_weights(sample_weight, X)
        Y, loss = self._targets(y, in_pieces)
        self._train_on((X, y, weights), Y, loss, in_pieces)
        self.out_activation_ = "softmax" if loss == "log" and len(self.classes_) > 2 else "logistic"
        self._several = loss == "labels"
        return self

    def _targets(self, y: Any, in_pieces: bool) -> tuple[Array, str]:
        """One column an output, and the loss; the classes are those of y, or have to agree with those known."""
        found = unique_labels(y)
        if self._goes_on(in_pieces) or (in_pieces and hasattr(self, "classes_")):
            if not in_pieces and set(found) != set(self.classes_):
                raise ValueError(
                    "warm_start can only be used where `y` has the same classes as in the previous call to fit. "
                    f"Previously got {self.classes_}, `y` has {found}"
                )
            if len(np.setdiff1d(found, self.classes_)):
                raise ValueError(
                    f"`y` has classes not in `self.classes_`. `self.classes_` has {self.classes_}. 'y' has {found}."
                )
        else:
            self.classes_ = found
        if y.ndim == 2:
            return np.asarray(y.toarray() if scipy.sparse.issparse(y) else y, dtype=float), "labels"
        codes = np.searchsorted(self.classes_, y)
        several = len(self.classes_) > 2
        return (np.eye(len(self.classes_))[codes] if several else codes[:, None].astype(float)), "log"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def predict_proba(self, X: MatrixLike) -> Array:
        """Probabilities of the classes; with several labels per row, the probability of each label."""
        scores = self._scores(X)
        if self._several:
            return np.asarray(scipy.special.expit(scores))
        if scores.shape[1] > 1:
            return np.asarray(scipy.special.softmax(scores, axis=1))
        p = scipy.special.expit(scores[:, 0])
        return np.column_stack([1.0 - p, p]) if len(self.classes_) > 1 else np.ones((len(p), 1))

    def predict_log_proba(self, X: MatrixLike) -> Array:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: MatrixLike) -> Array:
        """The label of each row."""
        scores = self._scores(X)
        if self._several:
            return (scores > 0).astype(int)
        codes = codes_of(scores)
        return np.asarray(self.classes_[np.minimum(codes, len(self.classes_) - 1)])

    def certified_radius(self, X: MatrixLike) -> Array:
        """For each row a distance within which the label provably does not change (largest change of a coordinate).

        Boxes around the rows are propagated through the layers in interval arithmetic; the radius is the largest one
        that can be proved, found by bisection. It is a lower bound: the label may be stable in a larger region.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)

        Returns
        -------
        array of n numbers ≥ 0
            0 where nothing is proved.

        Examples
        --------
        >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
        >>> model = MLPClassifier((3,), random_state=0).fit(X, [0, 0, 1, 1])
        >>> radius = model.certified_radius(X)
        >>> model.predict(X + 0.99 * radius[:, None]).tolist(), bool(radius[0] > radius[1] > 0)
        ([0, 0, 1, 1], True)
        """
        X, codes = self._rows_and_codes(X)
        return certified_radii(list(zip(self.coefs_, self.intercepts_)), self.activation, X, codes)

    def certify_radius(self, X: MatrixLike, radius: Any = None) -> Certificate:
        """A certificate (kind "network-radius") that the labels of these rows do not change within the radius.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
        radius : float ≥ 0 or array of n numbers ≥ 0, default=None
            The distance to prove; `certified_radius` when None.

        Returns
        -------
        Certificate
            ``verify(X)`` checks it again.

        Examples
        --------
        >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
        >>> model = MLPClassifier((3,), random_state=0).fit(X, [0, 0, 1, 1])
        >>> model.certify_radius(X, 0.1).holds, model.certify_radius(X, 5.0).holds
        (True, False)
        """
        rows, codes = self._rows_and_codes(X)
        radii = self.certified_radius(X) if radius is None else np.broadcast_to(np.asarray(radius, float), len(rows))
        evidence = {"activation": self.activation, "codes": codes, "radii": np.array(radii)}
        return issue("network-radius", Data.of(rows), {**layers_of(self.coefs_, self.intercepts_), **evidence})

    def _rows_and_codes(self, X: MatrixLike) -> tuple[Array, Array]:
        check_is_fitted(self)
        if self._several:
            raise ValueError("Radii can be proved only for networks with one label per row.")
        X = validate_data(self, X, dtype=np.float64, order="C", accept_sparse="csr", reset=False)
        X = X.toarray() if scipy.sparse.issparse(X) else X
        return X, codes_of(forward([*self.coefs_, *self.intercepts_], self.activation, X)[-1])
