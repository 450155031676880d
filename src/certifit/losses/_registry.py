"""Losses by name."""

from __future__ import annotations

from typing import Any

from certifit.losses._base import Loss
from certifit.losses._classification import Exponential, Hinge, Logistic, PerceptronLoss, SquaredHinge
from certifit.losses._glm import Binomial, FamilyLoss, GammaLog, Poisson, TweedieLog
from certifit.losses._regression import Absolute, Squared
from certifit.losses._softmax import Softmax

_LOSSES: dict[str, type[Loss]] = {
    cls.name: cls
    for cls in (
        Squared,
        Absolute,
        Hinge,
        SquaredHinge,
        Logistic,
        Exponential,
        PerceptronLoss,
        Softmax,
        Poisson,
        Binomial,
        GammaLog,
        TweedieLog,
        FamilyLoss,
    )
}


def loss_names() -> list[str]:
    """Names that `get_loss` knows.

    Examples
    --------
    >>> "hinge" in loss_names(), len(loss_names()) > 8
    (True, True)
    """
    return sorted(_LOSSES)


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
    if name not in _LOSSES:
        raise ValueError(f"Unknown loss {name!r}; choose one of {', '.join(loss_names())}.")
    return _LOSSES[name](**params)


def loss_spec(loss: Loss) -> dict[str, Any]:
    """Name and parameters, as JSON can hold them.

    Parameters
    ----------
    loss : Loss

    Examples
    --------
    >>> from certifit.losses import Hinge
    >>> loss_spec(Hinge())["name"]
    'hinge'
    """
    return {"name": loss.name, "params": loss.params()}
