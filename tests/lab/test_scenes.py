"""Laws of every scene: it shows each step of each preset, obeys its controls, and exports what it shows."""

import ast
import contextlib
import io
import json
import warnings

import numpy as np
import pytest

from certifit.lab import Board, Choice, Desk, LabError, Slider, catalogue, script
from certifit.lab._catalogue import described
from certifit.lab._frame import encode

SCENES = {scene.name: scene for scene in catalogue()}
PRESETS = [(name, k) for name, scene in SCENES.items() for k in range(len(scene.presets))]
DESK = Desk()


def asked(name, preset, **more):
    """The request that the page makes for a preset."""
    scene = SCENES[name]
    found = encode(scene.presets[preset], [])
    points = found["points"]
    view = found["view"] or [*_span([p[0] for p in points]), *_span([p[1] for p in points])]
    classes = found["classes"] or list(scene.labels)
    return {
        "id": 1,
        "kind": "frame",
        "scene": name,
        "params": found["params"],
        "points": points,
        "view": view,
        "classes": classes,
    } | more


def _span(values):
    return [min(values) - 1, max(values) + 1]


def answer(request):
    reply, rasters = DESK.answer(request)
    json.dumps(reply, allow_nan=False)
    return reply, rasters


def test_there_are_scenes_in_order_with_four_sentences_and_a_page(request):
    docs = request.config.rootpath / "docs"
    assert [s.order for s in SCENES.values()] == sorted(s.order for s in SCENES.values())
    for scene in SCENES.values():
        assert 3 <= scene.about.count(". ") + 1 <= 6, scene.name
        assert (docs / f"{scene.page}.md").exists(), scene.name
        assert 2 <= len(scene.presets) <= 5, scene.name
        json.dumps(described(scene), allow_nan=False)


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_every_preset_shows_every_step_and_a_proof_or_why_there_is_none(name, preset):
    whole, _ = answer(asked(name, preset))
    assert "problem" not in whole, whole
    count = whole["steps"]
    assert whole["step"] == count - 1
    assert whole["numbers"]
    for step in sorted({0, 1, count // 2, count - 1} & set(range(count))):
        reply, rasters = answer(asked(name, preset, step=step))
        assert "problem" not in reply, (step, reply)
        frame = reply["frame"]
        assert frame["caption"].endswith((".", "!", "?"))
        assert len(rasters) == sum(layer["kind"] == "raster" for layer in frame["layers"])
        for layer in frame["layers"]:
            if layer["kind"] == "raster":
                assert len(rasters[layer["raster"]]) == 4 * np.prod(layer["shape"])
        assert len(frame["answers"]) in (0, len(asked(name, preset)["points"]))
        probe, _ = answer(asked(name, preset, kind="probe", step=step, x=0.1, y=0.2))
        assert "problem" not in probe, probe


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_a_dragged_point_is_answered_without_a_proof(name, preset):
    reply, _ = answer(asked(name, preset, quick=True))
    assert "problem" not in reply, reply
    assert reply["quick"]
    assert not reply["numbers"]


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_the_exported_script_prints_what_the_page_shows(name, preset):
    shown, _ = answer(asked(name, preset))
    exported, _ = answer(asked(name, preset, kind="script"))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that stops at its last iteration warns
        exec(compile(exported["script"], f"{name}.py", "exec"), {"__name__": "__main__"})
    assert dict(line.split(": ", 1) for line in printed.getvalue().splitlines()) == shown["numbers"]


@pytest.mark.parametrize("name", SCENES)
def test_every_control_is_obeyed_and_nothing_else_accepted(name):
    scene = SCENES[name]
    request = asked(name, 0)
    for control in scene.controls:
        if isinstance(control, Slider):
            values = [control.low, control.high]
            bad = [control.high * 2 + 1, "much", None, True]
        elif isinstance(control, Choice):
            values, bad = list(control.options), ["other", 1]
        else:
            values, bad = [True, False], ["yes", 1]
        for value in values:
            reply, _ = answer({**request, "params": {**request["params"], control.name: value}, "quick": True})
            refused = reply.get("problem", "Overlapping")  # a hard margin on overlapping points
            assert refused.startswith("Overlapping"), (control.name, value, reply)
        for value in bad:
            reply, _ = answer({**request, "params": {control.name: value}})
            assert control.label in reply["problem"], (control.name, value)
    reply, _ = answer({**request, "params": {"no such": 1}})
    assert "no control" in reply["problem"]


@pytest.mark.parametrize("name", SCENES)
def test_few_points_are_shown_or_refused_in_one_sentence(name):
    for points in (
        [],
        [[0.0, 0.0, 0]],
        [[0.0, 0.0, 0], [0.0, 0.0, 0]],
        [[0.0, 0.0, 0], [0.0, 0.0, 1]],
        [[1e9, 1e-9, 0], [2e9, 3e-9, 1]],
    ):
        reply, _ = answer(asked(name, 0, points=points, view=[-1, 1, -1, 1]))
        assert ("frame" in reply) or reply["problem"].rstrip().endswith("."), (points, reply)


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_about_a_hundred_lines_and_uses_the_real_estimators(name):
    import inspect

    source = inspect.getsource(inspect.getmodule(type(SCENES[name])))
    assert len(source.splitlines()) < 260
    assert "cf." in source or "from certifit.solvers" in source
    tree = ast.parse(script(SCENES[name], Board(np.zeros((0, 2)), np.zeros(0, dtype=int), (0, 1, 0, 1)), {}))
    assert {"solve", "report"} <= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_a_column_name_cannot_leave_its_comment_in_the_script():
    board = Board(np.zeros((1, 2)), np.zeros(1, dtype=int), (0, 1, 0, 1), ("x\nimport os", "y"), ("a\rprint(1)",))
    text = script(catalogue()[0], board, {})
    body = [node for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert not [n for n in body if isinstance(n, ast.Import) and n.names[0].name == "os"]


def test_an_unknown_scene_is_refused():
    with pytest.raises(LabError, match="no scene"):
        __import__("certifit.lab._catalogue", fromlist=["scene"]).scene("nothing")
