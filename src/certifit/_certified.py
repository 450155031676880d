"""How a fitted model carries its certificates.

Issuing a certificate costs a few passes over the data (among them a SHA-256 of them), which can be more than
the fit itself. A model therefore keeps the evidence at `fit` and has the trusted part issue the certificates
when they are first read; until then it holds on to the data it was given. Pickling reads them first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from certifit.certificates import Certificate


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


class Certified:
    """Mixin: ``certificate_`` (main claim) and ``certificates_`` (all of them, main claim first).

    A `fit` or `partial_fit` that raises leaves the model as it was.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name in ("fit", "partial_fit"):
            if name in cls.__dict__:
                setattr(cls, name, all_or_nothing(cls.__dict__[name]))
        super().__init_subclass__(**kwargs)

    _promise: Callable[[], tuple[Certificate, ...]] | None
    _certificates: tuple[Certificate, ...]
    _withheld: str

    def _promise_certificates(self, make: Callable[[], tuple[Certificate, ...]]) -> None:
        """Called at the end of `fit`; ``make`` is run when a certificate is first read."""
        self._promise = make
        self.__dict__.pop("_certificates", None)
        self.__dict__.pop("_withheld", None)

    def _withhold_certificates(self, reason: str) -> None:
        """Called by `partial_fit`: the data are not kept, so nothing can be proved; ``reason`` says what to do."""
        self._promise = None
        self._withheld = reason
        self.__dict__.pop("_certificates", None)

    @property
    def certificates_(self) -> tuple[Certificate, ...]:
        """All certificates of this fit, main claim first."""
        if "_certificates" not in self.__dict__:
            if "_withheld" in self.__dict__:
                raise AttributeError(self._withheld)
            if self.__dict__.get("_promise") is None:
                raise AttributeError(f"This {type(self).__name__} is not fitted yet: call fit first.")
            assert self._promise is not None
            self._certificates = self._promise()
            self._promise = None
        return self._certificates

    @property
    def certificate_(self) -> Certificate:
        """The main claim about this fit, with its proof."""
        return self.certificates_[0]

    def __getstate__(self) -> Any:
        if self.__dict__.get("_promise") is not None:
            _ = self.certificates_  # a promise cannot be pickled; what it promises can
        return super().__getstate__()
