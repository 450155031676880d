"""How a fitted model carries its certificates.

Issuing a certificate costs a few passes over the data (among them a SHA-256 of them), which can be more than
the fit itself. A model therefore keeps the evidence at `fit` and has the trusted part issue the certificates
when they are first read (``certificate_`` only the main claim); until then it holds on to the data it was given, and
to their fingerprint: a certificate speaks of the data of the fit or not at all. Pickling reads them first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import assert_all_finite

from certifit._dispatch import computes_in_numpy
from certifit._types import BaseEstimator, Matrix, Record, VectorLike
from certifit._validation import RemembersParameters, StatesTags, validate_data
from certifit.certificates import Certificate, Data, issue
from certifit.design import GramBeside, fingerprint, look
from certifit.exceptions import ChangedDataError


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A `fit` that leaves the model as it was when it raises: nothing half-fitted stays behind."""

    @wraps(fit)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return guarded


def note_fingerprint(model: BaseEstimator, X: Matrix, found: int) -> None:
    """Called where validation has read all of X anyway: its fingerprint is not taken a second time."""
    model._looked = {id(X): found}


def read_rows(
    model: BaseEstimator,
    X: Matrix,
    y: VectorLike = "no_validation",
    begin: Callable[..., GramBeside | None] | None = None,
    **options: Any,
) -> Any:
    """X (float, dense or CSR), and y if given, validated as scikit-learn does, in one read of X.

    The look for NaN and infinity takes the fingerprint of X along, which a certificate needs anyway, and the sums that
    ``begin`` makes of validated dense X and y, if any.
    """
    ask = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]} | options
    found = validate_data(model, X, y, ensure_all_finite=False, **ask)
    rows = found[0] if isinstance(found, tuple) else found
    finite = False
    if not issparse(rows):
        sums = None if begin is None else begin(*found)
        mark, finite = look(rows) if sums is None else look(rows, sums.take, folds=True)
        note_fingerprint(model, rows, mark)
    if not finite:
        assert_all_finite(rows, estimator_name=type(model).__name__, input_name="X")
    return found


class Held:
    """X, y and weights of a fit, which may be the caller's own arrays, with their fingerprints at that time.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(2)
    >>> held = Held(X)
    >>> X[0, 0] = 7.0
    >>> held.read()
    Traceback (most recent call last):
    ...
    certifit.exceptions.ChangedDataError: X was changed in place after fit, ...
    """

    NAMES = ("X", "y", "sample_weight", "offset")

    def __init__(self, *parts: Any, known: Mapping[int, int] | None = None) -> None:
        self.parts = parts
        self.prints = [(known or {}).get(id(part)) or fingerprint(part) for part in parts]

    def read(self) -> tuple[Any, ...]:
        """The data, if they are still those of the fit."""
        for name, part, before in zip(self.NAMES, self.parts, self.prints):
            if fingerprint(part) != before:
                raise ChangedDataError(
                    f"{name} was changed in place after fit, so nothing can be proved about this fit any more: "
                    "fit again, or pass a copy to fit."
                )
        return self.parts


Make: TypeAlias = Callable[[], Iterable[Certificate]]


class Certified(StatesTags, RemembersParameters):
    """Mixin: ``certificate_`` (main claim) and ``certificates_`` (all of them, main claim first).

    A `fit` or `partial_fit` that raises leaves the model as it was.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name in ("fit", "partial_fit"):
            if inspect.isfunction(cls.__dict__.get(name)):  # not what is offered on a condition
                setattr(cls, name, all_or_nothing(cls.__dict__[name]))
        computes_in_numpy(cls)
        super().__init_subclass__(**kwargs)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Those of scikit-learn's BaseEstimator, remembered: it reads the signature anew at every `get_params`."""
        if "_parameters" not in cls.__dict__:
            base: Any = super()
            cls._parameters = tuple(base._get_param_names())
        return list(cls._parameters)

    _parameters: ClassVar[tuple[str, ...]]
    _promise: tuple[Make, Held] | None
    _begun: tuple[Certificate, Iterator[Certificate]]  # the main claim, where those after it are still to be proved
    _certificates: tuple[Certificate, ...]
    _withheld: Exception
    _looked: dict[int, int]

    def _hold(self, *data: Any) -> Held:
        """X, y and weights with their fingerprints; validation may have taken that of X (see `note_fingerprint`)."""
        return Held(*data, known=self.__dict__.pop("_looked", None))

    def _promise_certificates(self, make: Make, *data: Any) -> None:
        """Called at the end of `fit`; ``make`` is run when a certificate is first read, and speaks of ``data``.

        It returns all certificates, main claim first, or yields them one by one as they are asked for.
        """
        held = data[0] if data and isinstance(data[0], Held) else self._hold(*data)
        self._promise = make, held
        for name in ("_begun", "_certificates", "_withheld"):
            self.__dict__.pop(name, None)

    def _promise_certificate(self, kind: str, evidence: Record | Callable[[Data], Record], *data: Any) -> None:
        """The same for one proof, whose evidence is at hand or made of the data once the certificate is read."""

        def make() -> tuple[Certificate, ...]:
            given = Data.of(*data)
            return (issue(kind, given, evidence(given) if callable(evidence) else evidence),)

        self._promise_certificates(make, *data)

    def _take_certificates(self, other: Certified) -> None:
        """Called where another model, fitted to the same data, is the answer: its proofs are ours."""
        for name in ("_promise", "_begun", "_certificates", "_withheld"):
            self.__dict__.pop(name, None)
            if name in other.__dict__:
                self.__dict__[name] = other.__dict__[name]
        self.__dict__.pop("_looked", None)

    def _withhold_certificates(self, reason: str) -> None:
        """Called by `partial_fit`: the data are not kept, so nothing can be proved; ``reason`` says what to do."""
        self._promise = None
        self._withheld = AttributeError(reason)
        for name in ("_begun", "_certificates"):
            self.__dict__.pop(name, None)

    def _keep_promise(self, only_main: bool) -> None:
        """Run what was promised: up to the main claim, or to the end."""
        if "_withheld" in self.__dict__:
            raise type(self._withheld)(*self._withheld.args)
        promise = self.__dict__.get("_promise")
        if promise is None:
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: call fit first.")
        make, held = promise
        try:
            held.read()
        except ChangedDataError as error:
            self._promise, self._withheld = None, error
            if "_begun" in self.__dict__:  # what was proved stays proved
                self._begun = self._begun[0], iter(())
            raise
        main = self.__dict__.pop("_begun", None)  # put back below: a proof that is interrupted begins anew
        if main is None:
            found = make()
            if not only_main or isinstance(found, tuple):
                self._certificates, self._promise = tuple(found), None
                return
            rest = iter(found)
            main = next(rest), rest
        if only_main:
            self._begun = main
        else:
            self._certificates, self._promise = (main[0], *main[1]), None

    @property
    def certificates_(self) -> tuple[Certificate, ...]:
        """All certificates of this fit, main claim first."""
        if "_certificates" not in self.__dict__:
            self._keep_promise(only_main=False)
        return self._certificates

    @property
    def certificate_(self) -> Certificate:
        """The main claim about this fit, with its proof."""
        if "_certificates" not in self.__dict__ and "_begun" not in self.__dict__:
            self._keep_promise(only_main=True)
        return self._begun[0] if "_begun" in self.__dict__ else self._certificates[0]

    def __getstate__(self) -> Any:
        if self.__dict__.get("_promise") is not None:
            with suppress(ChangedDataError):  # the model stays good; its certificates are withheld
                _ = self.certificates_  # a promise cannot be pickled; what it promises can
        return super().__getstate__()
