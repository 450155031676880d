"""What every kernel can be asked, and the algebra that keeps kernels Mercer.

A kernel is a function k(x, z). It is *Mercer* when every Gram matrix K = (k(xᵢ, xⱼ)) is symmetric positive
semi-definite, that is, when k is an inner product of feature vectors. A kernel that has this by construction
carries the reason as `Kernel.proof`, a tree; sums, products and positive multiples build on the trees of their
parts.

The formulas are written with NumPy's ufuncs on inner products and squared norms, which the caller supplies
through an `Arithmetic`: with plain arrays they give the Gram matrix, with the error-bounded numbers of
`certifit.certificates` they give the Gram matrix and a bound on its rounding error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from certifit._registry import Registry, fields_of
from certifit._types import Array, Matrix, Numeric


@dataclass(frozen=True)
class Proof:
    """Why a kernel is Mercer: a statement that rests on the statements below it.

    Attributes
    ----------
    statement : str
    parts : tuple of Proof
        What it rests on.

    Examples
    --------
    >>> print(Proof("a sum of Mercer kernels", (Proof("an inner product"),)))
    a sum of Mercer kernels
      an inner product
    """

    statement: str
    parts: tuple[Proof, ...] = ()

    def __str__(self) -> str:
        below = "\n".join(str(p) for p in self.parts)
        return self.statement + "".join(f"\n  {line}" for line in below.splitlines())


class Arithmetic:
    """Inner products and squared norms in plain floating point.

    Examples
    --------
    >>> Arithmetic().products(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [[11.0]]
    """

    def products(self, X: Matrix, Z: Matrix) -> Numeric:
        """The inner products of rows of X with rows of Z."""
        G = X @ Z.T
        return G.toarray() if scipy.sparse.issparse(G) else G

    def squares(self, X: Matrix) -> Numeric:
        """The squared norms of the rows of X."""
        if scipy.sparse.issparse(X):
            return np.asarray(X.multiply(X).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", X, X)

    def matched(self, X: Matrix, Z: Matrix) -> Numeric:
        """The inner products of row i of X with row i of Z."""
        if scipy.sparse.issparse(X):
            return np.asarray(X.multiply(Z).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", X, Z)

    def exact(self, values: Array) -> Numeric:
        """Numbers taken as exact (features, or values of a user-defined function)."""
        return values


PLAIN = Arithmetic()


class Kernel(ABC):
    """A kernel; ``kernel(X, Z)`` is the Gram matrix of the rows of X with those of Z.

    Examples
    --------
    >>> from certifit.kernels import RBF, Linear
    >>> k = 2.0 * Linear() + RBF(gamma=1.0)
    >>> isinstance(k, Kernel), k(np.array([[1.0]]), np.array([[1.0]])).tolist()
    (True, [[3.0]])
    """

    name: ClassVar[str] = ""
    """What records call it; empty for a kernel that cannot be written down, because code is part of it."""

    @property
    @abstractmethod
    def proof(self) -> Proof | None:
        """Why this kernel is Mercer, or None when there is no proof by construction."""

    @abstractmethod
    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        """The Gram matrix of the rows of X with those of Z, in the given arithmetic."""

    @abstractmethod
    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        """k(x, x) for the rows of X.

        Parameters
        ----------
        X : matrix of shape (n, d)
        arithmetic : Arithmetic
            Plain floats, or numbers with error bounds.
        """

    def record(self) -> list[Any] | None:
        """Name and parameters that rebuild the kernel (see `rebuild`), or None when code is part of it."""
        parts = [v.record() if isinstance(v, Kernel) else v for v in fields_of(self).values()]
        return [self.name, *parts] if KERNELS.knows(self) and not any(p is None for p in parts) else None

    def evidence(self, X: Matrix) -> dict[str, Any]:
        """Where a proof finds kernel values of rows X: the record, or for code the Gram matrix itself."""
        record = self.record()
        return {"kernel": record} if record is not None else {"kernel": ["given"], "gram": self(X)}

    def __call__(self, X: Matrix, Z: Matrix = None) -> Array:
        X = rows(X)
        K: Array = self.gram(X, X if Z is None else rows(Z))
        return K

    def __add__(self, other: Numeric) -> Kernel:
        return Sum(self, _kernel(other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Numeric) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(float(other), self) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__

    def normalized(self) -> Kernel:
        """The kernel of the feature vectors scaled to length one: k(x, z) / √(k(x, x) k(z, z))."""
        return Normalized(self)


KERNELS: Registry[Kernel] = Registry(
    "kernel", Kernel, "its formula is the same for every block and that its Mercer proof is right"
)


register = KERNELS.register


def rebuild(record: Any) -> Kernel:
    """The kernel of a record made by `Kernel.record`.

    Parameters
    ----------
    record : list
        The name of the kernel, then its parameters; a kernel among them is a record itself.

    Examples
    --------
    >>> from certifit.kernels import RBF, Linear
    >>> rebuild((Linear() + 2.0 * RBF(gamma=0.25)).record()).second.factor
    2.0
    """
    name, *parts = record
    return KERNELS.find(name)(*(rebuild(p) if isinstance(p, (list, tuple)) else p for p in parts))


def named_in(record: Any) -> list[str]:
    """The names of all kernels in a record of `Kernel.record`.

    Examples
    --------
    >>> from certifit.kernels import RBF, Linear
    >>> named_in((Linear() + RBF()).record())
    ['sum', 'linear', 'rbf']
    """
    inner = [p for p in record[1:] if isinstance(p, (list, tuple))]
    return [*(str(name) for name in record[:1]), *(n for p in inner for n in named_in(p))]


def rows(X: Matrix) -> Matrix:
    """Rows as float64, dense or CSR.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)

    Examples
    --------
    >>> rows([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    if scipy.sparse.issparse(X):
        return X.tocsr().astype(float)
    X = np.asarray(X, dtype=float)
    return X[:, None] if X.ndim == 1 else X


def _kernel(k: Any) -> Kernel:
    if not isinstance(k, Kernel):
        raise TypeError(f"A kernel was expected, not {type(k).__name__}: wrap a function in kernels.Function.")
    return k


def _joined(statement: str, *parts: Kernel) -> Proof | None:
    proofs = tuple(p.proof for p in parts)
    known = tuple(p for p in proofs if p is not None)
    return Proof(statement, known) if len(known) == len(parts) else None


@register
@dataclass(frozen=True)
class Sum(Kernel):
    """k₁ + k₂: the feature vectors side by side.

    Parameters
    ----------
    first, second : Kernel

    Examples
    --------
    >>> from certifit.kernels import Linear, Polynomial
    >>> float((Linear() + Polynomial(degree=2))([[1.0]], [[2.0]])[0, 0])
    11.0
    """

    first: Kernel
    second: Kernel

    name: ClassVar[str] = "sum"

    @property
    def proof(self) -> Proof | None:
        return _joined("the sum of two Mercer kernels: vᵀ(K₁ + K₂)v = vᵀK₁v + vᵀK₂v ≥ 0", self.first, self.second)

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self.first.gram(X, Z, arithmetic) + self.second.gram(X, Z, arithmetic)

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self.first.diagonal(X, arithmetic) + self.second.diagonal(X, arithmetic)


@register
@dataclass(frozen=True)
class Product(Kernel):
    """k₁ k₂: all products of a feature of one with a feature of the other.

    Parameters
    ----------
    first, second : Kernel

    Examples
    --------
    >>> from certifit.kernels import Linear
    >>> float((Linear() * Linear())([[1.0, 2.0]], [[3.0, 4.0]])[0, 0])
    121.0
    """

    first: Kernel
    second: Kernel

    name: ClassVar[str] = "product"

    @property
    def proof(self) -> Proof | None:
        return _joined("the product of two Mercer kernels: Schur's theorem", self.first, self.second)

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self.first.gram(X, Z, arithmetic) * self.second.gram(X, Z, arithmetic)

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self.first.diagonal(X, arithmetic) * self.second.diagonal(X, arithmetic)


@register
@dataclass(frozen=True)
class Scaled(Kernel):
    """c k for a number c; Mercer when c ≥ 0.

    Parameters
    ----------
    factor : float
    inner : Kernel

    Examples
    --------
    >>> from certifit.kernels import Linear
    >>> (-1.0 * Linear()).proof is None
    True
    """

    factor: float
    inner: Kernel

    name: ClassVar[str] = "scaled"

    @property
    def proof(self) -> Proof | None:
        return _joined("a multiple ≥ 0 of a Mercer kernel", self.inner) if self.factor >= 0 else None

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self.factor * self.inner.gram(X, Z, arithmetic)

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return self.factor * self.inner.diagonal(X, arithmetic)


@register
@dataclass(frozen=True)
class Normalized(Kernel):
    """k(x, z) / √(k(x, x) k(z, z)); needs k(x, x) > 0.

    Parameters
    ----------
    inner : Kernel

    Examples
    --------
    >>> from certifit.kernels import Linear
    >>> float(Linear().normalized()([[3.0, 0.0]], [[1.0, 1.0]])[0, 0].round(6))
    0.707107
    """

    inner: Kernel

    name: ClassVar[str] = "normalized"

    @property
    def proof(self) -> Proof | None:
        return _joined("a Mercer kernel normalised: f(x) k(x, z) f(z) with f = k(x, x)^−½", self.inner)

    def gram(self, X: Matrix, Z: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        left = np.sqrt(self.inner.diagonal(X, arithmetic)).reshape(-1, 1)
        right = np.sqrt(self.inner.diagonal(Z, arithmetic)).reshape(1, -1)
        return self.inner.gram(X, Z, arithmetic) / (left * right)

    def diagonal(self, X: Matrix, arithmetic: Arithmetic = PLAIN) -> Numeric:
        return arithmetic.exact(np.ones(X.shape[0]))
