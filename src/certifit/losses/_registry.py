"""Losses by name."""

from __future__ import annotations

from certifit._registry import Registry
from certifit.losses._base import Loss

LOSSES: Registry[Loss] = Registry(
    "loss", Loss, "it is convex and that its value, slope and conjugate are those of one function"
)
register, loss_names, get_loss, loss_spec = LOSSES.register, LOSSES.names, LOSSES.build, LOSSES.spec
