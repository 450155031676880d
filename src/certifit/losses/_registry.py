"""Losses by name."""

from __future__ import annotations

from typing import Any

from certifit._registry import Class, Registry
from certifit.losses._base import Loss

LOSSES: Registry[Loss] = Registry(
    "loss", Loss, "it is convex and that its value, slope and conjugate are those of one function"
)


def register(cls: Class) -> Class:
    """Class decorator: make a loss known by its ``name``, to `get_loss`, to estimators and to certificates.

    The class is a frozen dataclass (its fields are its parameters) or has no parameters. A certificate that uses a
    loss which is not certifit's own says so in ``assumes``; a file that names one is refused where it is not known.

    Parameters
    ----------
    cls : subclass of Loss
        With a ``name`` that no other loss has.

    Returns
    -------
    type
        The class itself.

    Examples
    --------
    >>> import numpy as np
    >>> @register
    ... class Huber(Loss):
    ...     name, targets, smooth, curvature_bound = "doc_huber", "real", True, 1.0
    ...     def value(self, z, y):
    ...         far = np.abs(z - y)
    ...         return np.minimum(far, 1.0) * (far - 0.5 * np.minimum(far, 1.0))
    ...     def slope(self, z, y): return np.clip(z - y, -1.0, 1.0)
    ...     def curvature(self, z, y): return (np.abs(z - y) < 1.0) * 1.0
    ...     def conjugate(self, u, y): return u * y + 0.5 * np.square(u)
    ...     def domain(self, y): return -np.ones_like(y), np.ones_like(y)
    >>> get_loss("doc_huber").value(np.array([0.5, 3.0]), np.zeros(2))
    array([0.125, 2.5  ])
    """
    return LOSSES.register(cls)


def loss_names() -> list[str]:
    """Names that `get_loss` knows.

    Examples
    --------
    >>> "hinge" in loss_names(), len(loss_names()) > 8
    (True, True)
    """
    return LOSSES.names()


def get_loss(spec: str | Loss | dict[str, Any]) -> Loss:
    """The loss of that name (or that record of name and parameters; or the loss itself).

    Parameters
    ----------
    spec : str, Loss or dict
        A name of `loss_names`, a loss, or what `loss_spec` returned.

    Examples
    --------
    >>> get_loss("hinge").name
    'hinge'
    """
    if isinstance(spec, Loss):
        return spec
    name, params = (spec, {}) if isinstance(spec, str) else (spec["name"], spec.get("params", {}))
    return LOSSES.find(name)(**params)


def loss_spec(loss: Loss) -> dict[str, Any]:
    """Name and parameters, as JSON can hold them; refused for a loss that is not registered.

    Parameters
    ----------
    loss : Loss

    Examples
    --------
    >>> from certifit.losses import Hinge
    >>> loss_spec(Hinge())["name"]
    'hinge'
    """
    return {"name": LOSSES.name_of(loss), "params": loss.params()}
