"""One process compiles a file of loops at a time; the same thread may come back for the loops that a loop calls."""

import fcntl
import gc

import pytest

from certifit.loops import _jit


def locked(path) -> bool:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_others_wait_until_the_outermost_compile_has_ended(tmp_path):
    path = tmp_path / "some.module.lock"
    with _jit._turn("some.module", str(tmp_path)):
        assert locked(path)
        with _jit._turn("some.module", str(tmp_path)):
            assert locked(path)
        assert locked(path)
        with _jit._turn("other.module", str(tmp_path)):
            assert locked(tmp_path / "other.module.lock")
    assert not locked(path)


def test_a_failed_compile_gives_the_turn_back(tmp_path):
    with pytest.raises(ZeroDivisionError), _jit._turn("some.module", str(tmp_path)):
        _ = 1 / 0
    assert not locked(tmp_path / "some.module.lock")


def test_without_a_place_to_write_compiling_goes_on(tmp_path):
    (tmp_path / "file").write_text("")
    with _jit._turn("some.module", str(tmp_path / "file" / "folder")):
        pass
    with _jit._turn("some.module", None):
        pass


def test_the_garbage_collector_rests_while_a_module_compiles(tmp_path):
    assert gc.isenabled()
    with _jit._turn("some.module", str(tmp_path)):
        with _jit._turn("some.module", str(tmp_path)):
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), _jit._turn("some.module", None):
        raise ZeroDivisionError
    assert gc.isenabled()


def test_flags_are_compared_as_numba_does():
    from numba.core.compiler import Flags
    from numba.core.targetconfig import TargetConfig

    plain = TargetConfig.__eq__
    sets = [
        {},
        {"nrt": True},
        {"nrt": False},
        {"error_model": "numpy"},
        {"error_model": "python"},
        {"release_gil": True},
    ]
    made = []
    for options in [*sets, *sets]:
        flags = Flags()
        for name, value in options.items():
            setattr(flags, name, value)
        made.append(flags)
    for a in made:
        for b in made:
            assert _jit.same_flags(a, b) == plain(a, b)
    assert _jit.same_flags(made[0], 1) is NotImplemented
    with _jit._quick_flags():
        assert TargetConfig.__eq__ is _jit.same_flags
    assert TargetConfig.__eq__ is plain
