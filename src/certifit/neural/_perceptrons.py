"""A network of perceptrons: any Boolean function, built from its truth table and proved by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from certifit._types import Array, Matrix
from certifit.certificates import Certificate, Data, issue
from certifit.certificates.network import layers_of

_INPUTS = 16  # a table of more inputs is too long to recompute


class PerceptronNetwork:
    r"""Layers of threshold units: each is a perceptron that outputs 1 where its score is positive, else 0.

    .. math:: a_{l+1} = [a_l W_l + b_l > 0]

    One perceptron draws one line, so it cannot compute exclusive or; two layers can compute every Boolean function. A
    hidden unit recognises one row of the truth table (it counts +1 for each input that should be 1 and −1 for each that
    should be 0), and the output unit answers whether any of them fires. Where the function is mostly 1, the units
    recognise its zeros and the output unit says whether none fires.

    Parameters
    ----------
    coefs : list of arrays of shape (inputs of the layer, units)
    intercepts : list of arrays of shape (units,)

    Examples
    --------
    >>> xor = PerceptronNetwork.from_function(lambda a, b: a != b, 2)
    >>> xor.predict([[0, 0], [0, 1], [1, 0], [1, 1]]).tolist()
    [0, 1, 1, 0]
    >>> c = xor.certify(lambda a, b: a != b)
    >>> print(c.claim)
    This network of 3 threshold units computes the Boolean function of 2 inputs: 4 of 4 rows of its truth table are ...
    """

    def __init__(self, coefs: Sequence[Any], intercepts: Sequence[Any]) -> None:
        self.coefs = [np.array(W, dtype=float, ndmin=2) for W in coefs]
        self.intercepts = [np.array(b, dtype=float, ndmin=1) for b in intercepts]
        if not self.coefs or len(self.coefs) != len(self.intercepts):
            raise ValueError("A network needs at least one layer, and one list of offsets for each matrix of weights.")
        for i, (W, b) in enumerate(zip(self.coefs, self.intercepts)):
            if b.shape != (W.shape[1],) or (i and W.shape[0] != self.coefs[i - 1].shape[1]):
                raise ValueError(
                    f"Layer {i} does not fit: weights of shape {W.shape} need {W.shape[1]} offsets, and as many rows "
                    "as the layer before has units."
                )

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.coefs[0].shape[0])

    @classmethod
    def from_truth_table(cls, table: Any) -> PerceptronNetwork:
        """The network of a table.

        Parameters
        ----------
        table : array of 2ᵈ zeros and ones, 1 ≤ d ≤ 16
            Outputs for the inputs 0…00, 0…01, 0…10, and so on.

        Examples
        --------
        >>> conjunction = PerceptronNetwork.from_truth_table([0, 0, 0, 1])
        >>> conjunction.predict([[1, 1], [1, 0]]).tolist()
        [1, 0]
        """
        outputs = np.asarray(table)
        d = len(outputs).bit_length() - 1 if outputs.ndim == 1 else 0
        if outputs.ndim != 1 or not 1 <= d <= _INPUTS or len(outputs) != 2**d or not np.all(np.isin(outputs, [0, 1])):
            raise ValueError(f"A truth table has 2ᵈ outputs, each 0 or 1, for 1 ≤ d ≤ {_INPUTS} inputs.")
        rare = int(outputs.sum() * 2 <= len(outputs))
        rows = inputs_of(d)[outputs == rare]
        signs = 2.0 * rows - 1.0
        if not len(rows):  # a constant: one unit that never fires
            signs, rows = np.ones((1, d)), np.full((1, d), 2.0)
        sign = 1.0 if rare else -1.0
        coefs = [signs.T, np.full((len(signs), 1), sign)]
        return cls(coefs, [0.5 - np.maximum(rows, 0.0).sum(axis=1), [-0.5 * sign]])

    @classmethod
    def from_function(cls, function: Callable[..., Any], n_inputs: int) -> PerceptronNetwork:
        """The network of a function of 0 and 1.

        Parameters
        ----------
        function : callable
            Of ``n_inputs`` numbers, each 0 or 1.
        n_inputs : int in [1, 16]

        Examples
        --------
        >>> majority = PerceptronNetwork.from_function(lambda a, b, c: a + b + c >= 2, 3)
        >>> majority.predict([[1, 0, 1], [0, 0, 1]]).tolist()
        [1, 0]
        """
        if not 1 <= n_inputs <= _INPUTS:
            raise ValueError(f"n_inputs lies between 1 and {_INPUTS}, not {n_inputs}.")
        return cls.from_truth_table(_outputs(function, n_inputs))

    def layers(self, X: Matrix) -> list[Array]:
        """The outputs of every layer.

        Parameters
        ----------
        X : array of shape (n, inputs)

        Returns
        -------
        list of arrays of zeros and ones, one per layer
        """
        a = np.atleast_2d(np.asarray(X, dtype=float))
        if a.shape[1] != self.n_inputs:
            raise ValueError(f"X has {a.shape[1]} columns, but the network has {self.n_inputs} inputs.")
        out = []
        for W, b in zip(self.coefs, self.intercepts):
            a = (a @ W + b > 0).astype(float)
            out.append(a.astype(int))
        return out

    def predict(self, X: Matrix) -> Array:
        """The output for each row: shape (n,), or (n, outputs) with several."""
        last = self.layers(X)[-1]
        return last[:, 0] if last.shape[1] == 1 else last

    def certify(self, function: Any) -> Certificate:
        """Prove by the whole truth table that the network computes a function; ``holds`` says whether it does.

        Parameters
        ----------
        function : callable or array of 2ᵈ zeros and ones

        Examples
        --------
        >>> line = PerceptronNetwork([[[1.0], [1.0]]], [[-0.5]])            # one perceptron: x₁ or x₂
        >>> line.certify([0, 1, 1, 1]).holds, line.certify([0, 1, 1, 0]).holds
        (True, False)
        """
        table = _outputs(function, self.n_inputs) if callable(function) else np.asarray(function)
        if len(table) != 2**self.n_inputs:
            raise ValueError(f"The table of {self.n_inputs} inputs has {2**self.n_inputs} outputs, not {len(table)}.")
        return issue(
            "truth-table", Data.of(inputs_of(self.n_inputs), table), layers_of(self.coefs, self.intercepts, "weights")
        )


def inputs_of(d: int) -> Array:
    """All rows of d zeros and ones, in counting order."""
    return np.array(list(product([0.0, 1.0], repeat=d)))


def _outputs(function: Callable[..., Any], d: int) -> Array:
    return np.array([int(bool(function(*row.astype(int).tolist()))) for row in inputs_of(d)])
