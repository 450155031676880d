"""Which scenes there are."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache

from certifit.lab._frame import encode
from certifit.lab._scene import LabError, Scene


@cache
def catalogue() -> tuple[Scene, ...]:
    """Every scene of `certifit.lab.scenes`, in the order of their numbers.

    Examples
    --------
    >>> [scene.name for scene in catalogue()][:2]
    ['perceptron', 'separability']
    """
    from certifit.lab import scenes as folder

    found: list[Scene] = []
    for module in pkgutil.iter_modules(folder.__path__):
        file = importlib.import_module(f"{folder.__name__}.{module.name}")
        own = [c for c in vars(file).values() if inspect.isclass(c) and c.__module__ == file.__name__]
        found += [c() for c in own if issubclass(c, Scene)]
    return tuple(sorted(found, key=lambda scene: (scene.order, scene.name)))


def scene(name: object) -> Scene:
    """The scene of this name.

    Examples
    --------
    >>> scene("perceptron").title
    'Perceptron'
    """
    for one in catalogue():
        if one.name == name:
            return one
    raise LabError(f"There is no scene {str(name)[:40]!r}.")


def described(one: Scene) -> dict[str, object]:
    """What the page has to know of a scene before it shows it.

    Examples
    --------
    >>> described(scene("perceptron"))["labels"]
    ['A', 'B']
    """
    controls = [encode(c, []) | {"start": c.start} for c in one.controls]
    presets = [encode(p, []) for p in one.presets]
    keys = ("name", "title", "about", "page", "labels", "many", "axes")
    return {key: encode(getattr(one, key), []) for key in keys} | {"controls": controls, "presets": presets}
