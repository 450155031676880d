"""A multi-layer perceptron for values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if

from certifit._certified import all_or_nothing
from certifit._dispatch import in_numpy
from certifit._sklearn import StrOptions, read_weights
from certifit._types import Array, MatrixLike, Record, VectorLike
from certifit._validation import validate_data
from certifit.neural._base import Network, walks


@dataclass(eq=False, repr=False)
class _HasLoss:
    """The first parameter: behind `Network` among the bases, it stands before those of the network."""

    loss: str = "squared_error"


@dataclass(eq=False, repr=False)
class MLPRegressor(RegressorMixin, Network, _HasLoss):
    r"""A network of layers for values, trained by its gradient.

    .. math:: a_{l+1} = \varphi(a_l W_l + b_l), \qquad
        J = \frac{1}{2n}\sum_i \lVert f(x_i) - y_i\rVert^2 + \frac{\alpha}{2n}\sum_l\lVert W_l\rVert^2

    The output layer has no activation. J is not convex: the certificate states its value and the norm of its gradient.

    Parameters
    ----------
    loss : {"squared_error", "poisson"}, default="squared_error"
        "poisson": the deviance of counts, with f(x) = exp(scores).
    hidden_layer_sizes, activation, solver, alpha, batch_size, learning_rate, learning_rate_init, power_t, max_iter :
        As in `MLPClassifier`.
    shuffle, random_state, tol, verbose, warm_start, momentum, nesterovs_momentum, early_stopping, validation_fraction :
        As in `MLPClassifier`.
    beta_1, beta_2, epsilon, n_iter_no_change, max_fun, trace, time_budget :
        As in `MLPClassifier`.

    Attributes
    ----------
    coefs_, intercepts_, n_layers_, n_outputs_, n_iter_, loss_, out_activation_, n_features_in_ :
        As in scikit-learn.
    loss_curve_, best_loss_, validation_scores_, best_validation_score_, solver_, status_, trace_, certificate_ :
        As in `MLPClassifier`.

    Examples
    --------
    >>> X = np.linspace(-2, 2, 30)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> model = MLPRegressor(hidden_layer_sizes=(5,), activation="tanh", random_state=1, max_iter=1000).fit(X, y)
    >>> model.score(X, y) > 0.99, model.certificate_.gradient < 1e-3
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions({"squared_error", "poisson"})],
        **Network._parameter_constraints,
    }

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike | None = None) -> MLPRegressor:
        """Train the network on rows X, array or sparse, and numbers y of the shape (n,) or (n, outputs)."""
        self._validate_params()
        return self._train(X, y, sample_weight, in_pieces=False)

    @available_if(walks)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    @in_numpy
    @all_or_nothing
    def partial_fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike | None = None) -> MLPRegressor:
        """One more pass, over these rows."""
        self._validate_params()
        self._refuse_pieces()
        return self._train(X, y, sample_weight, in_pieces=True)

    def _train(self, X: Any, y: Any, sample_weight: Any, in_pieces: bool) -> MLPRegressor:
        goes_on = self._goes_on(in_pieces)
        X, y = validate_data(
            self, X, y, dtype=np.float64, order="C", accept_sparse="csr", multi_output=True, y_numeric=True,
            reset=not goes_on,
        )  # fmt: skip
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if self.loss == "poisson" and np.any(np.asarray(y) < 0):
            raise ValueError("loss='poisson' needs targets that are not negative.")
        weights = read_weights(sample_weight, X)
        Y = np.asarray(y, dtype=float).reshape(len(y), -1)
        loss = "poisson" if self.loss == "poisson" else "squared"
        self._train_on((X, y, weights), Y, loss, in_pieces)
        self._flat, self.out_activation_ = y.ndim == 1, "exp" if loss == "poisson" else "identity"
        return self

    def predict(self, X: MatrixLike) -> Array:
        """The value of each row: (n,) or (n, outputs), as y was."""
        scores = self._scores(X)
        scores = np.exp(scores) if self.out_activation_ == "exp" else scores
        return scores[:, 0] if self._flat else scores

    _tags: ClassVar[Record] = {"target_tags.multi_output": True}
