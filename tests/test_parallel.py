"""Work side by side: the same answers whatever the number of threads, in the caller's NumPy settings."""

import os
import signal as signals
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from certifit import parallel
from certifit.design import as_design
from certifit.parallel import by_ranges, one_thread, ranges, side_by_side, sum_over_rows, threads
from tests.killing import outlived

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120_001, 9)) * 10.0 ** RNG.integers(-3, 4, 9)


@pytest.mark.parametrize("block", [None, 100, 1_000_000])
def test_every_row_is_counted_once(block):
    total, rows = sum_over_rows(lambda i: (X[i].T @ X[i], len(X[i])), X.shape, block)
    assert rows == len(X)
    np.testing.assert_allclose(total, X.T @ X, rtol=1e-10, atol=1e-8)


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    many = as_design(X).gram()
    for count in (1, 2, 3, 8):
        monkeypatch.setattr(parallel, "threads", lambda n_jobs=None, count=count: count)
        assert np.array_equal(as_design(X).gram(), many)


def test_settings_of_the_caller_hold_in_the_threads():
    huge = np.full((140_000, 8), 1e300)
    with np.errstate(over="ignore"):
        assert sum_over_rows(lambda i: (float((huge[i] * huge[i]).sum()),), huge.shape) == (np.inf,)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        sum_over_rows(lambda i: (float((huge[i] * huge[i]).sum()),), huge.shape)


def test_a_sum_inside_a_sum_does_not_wait_for_itself():
    def outer(rows):
        return (sum_over_rows(lambda i: (float(X[i].sum()),), X.shape)[0] * len(X[rows]),)

    assert sum_over_rows(outer, X.shape, 50_000)[0] == pytest.approx(X.sum() * len(X))


@pytest.mark.parametrize(("asked", "most"), [("1", 1), ("1,2", 1), ("", 10**6), ("no", 10**6)])
def test_the_environment_limits_the_threads(monkeypatch, asked, most):
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    assert 1 <= threads() <= most


@pytest.mark.parametrize(("n_jobs", "count"), [(None, 6), (0, 6), (-1, 6), (-2, 5), (-99, 1), (1, 1), (4, 4), (9, 9)])
def test_n_jobs_counts_as_in_scikit_learn(monkeypatch, n_jobs, count):
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    monkeypatch.setattr(parallel, "cores", lambda: 8)
    monkeypatch.setattr(parallel, "_blas", list)
    assert threads(n_jobs) == count


def test_threadpoolctl_limits_the_threads_but_our_own_limit_does_not(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    free = threads()
    with one_thread():
        assert threads() == free
    with threadpool_limits(1):
        assert threads() == 1
        with one_thread():
            assert threads() == 1
        seen = side_by_side(lambda k: threading.get_ident(), range(50))
        assert set(seen) == {threading.get_ident()}
    assert threads() == free


def _blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def test_overlapping_contexts_leave_blas_as_it_was():
    before = _blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def other():
        with one_thread():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with one_thread():
        assert set(_blas_threads()) == {1}
        thread.start()
        inside.wait(10)
    assert set(_blas_threads()) == {1}
    leave.set()
    thread.join()
    assert _blas_threads() == before


def test_work_inside_work_starts_no_more_threads_than_asked():
    now, most, lock = 0, 0, threading.Lock()

    def leaf(_):
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.002)
        with lock:
            now -= 1

    side_by_side(lambda _: side_by_side(leaf, range(6), 3), range(6), 3)
    assert 1 < most <= 3
    assert parallel._shared.busy == 0


def test_ranges_cover_everything_once():
    for n in range(12):
        for parts in range(1, 15):
            found = ranges(n, parts)
            assert [i for a, b in found for i in range(a, b)] == list(range(n))
            assert n == 0 or all(a < b for a, b in found)


def test_by_ranges_writes_everywhere():
    out = np.zeros(1003)
    by_ranges(lambda a, b: out[a:b].__iadd__(1.0), len(out), least=10, n_jobs=7)
    assert np.array_equal(out, np.ones(1003))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_has_threads_of_its_own():
    code = (
        "import os, sys; from certifit.parallel import side_by_side\n"
        "side_by_side(lambda k: k, range(9), 3)\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(0 if side_by_side(lambda k: k, range(9), 3) == list(range(9)) else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60).returncode == 0


def _remember(value):
    os.environ["CERTIFIT_TEST_VALUE"] = value


def _look():
    return os.environ["CERTIFIT_TEST_VALUE"], os.environ["OMP_NUM_THREADS"], threads()


def test_processes_work_on_one_thread_each():
    executor = parallel.processes(2, _remember, ("kept",))
    try:
        assert executor.submit(_look).result() == ("kept", "1", 1)
    finally:
        executor.shutdown(wait=True, kill_workers=True)


def test_processes_started_ahead_are_taken_once_and_ended_when_nobody_takes_them():
    with parallel.starting_processes(1, "certifit.losses") as _:
        early = parallel._EARLY[1, "certifit.losses"]
        taken = parallel.loaded_processes(1, "certifit.losses")
        assert taken is early
        assert (1, "certifit.losses") not in parallel._EARLY
        assert taken.submit(_modules).result() == (True, "1")
        taken.shutdown(wait=True, kill_workers=True)
    with parallel.starting_processes(1, "certifit.losses"):
        unused = parallel._EARLY[1, "certifit.losses"]
    assert (1, "certifit.losses") not in parallel._EARLY
    with pytest.raises(RuntimeError):
        unused.submit(_modules)


def test_processes_given_back_do_other_work_until_the_context_ends():
    with parallel.starting_processes(1, "certifit.losses"):
        taken = parallel.loaded_processes(1, "certifit.losses")
        parallel.give_back(taken, 1, "certifit.losses")
        assert parallel.aside(1, "certifit.losses", os.getpid)() != os.getpid()
        assert parallel.aside(1, "certifit.losses", divmod, 7, 2)() == (3, 1)
        with pytest.raises(ZeroDivisionError):
            parallel.aside(1, "certifit.losses", divmod, 7, 0)()
    with pytest.raises(RuntimeError):
        taken.submit(_modules)
    assert parallel.aside(1, "certifit.losses", os.getpid)() == os.getpid()  # nobody else is there


def test_processes_given_back_are_kept_for_the_next_who_asks_unless_one_was_killed():
    first = parallel.loaded_processes(1, "certifit.losses")
    worker = first.submit(os.getpid).result()
    parallel.give_back(first, 1, "certifit.losses")
    again = parallel.loaded_processes(1, "certifit.losses")
    try:
        assert again is first
        assert again.submit(os.getpid).result() == worker
        os.kill(worker, signals.SIGTERM)
        with pytest.raises(Exception, match="terminated"):
            again.submit(time.sleep, 60).result()
        parallel.give_back(again, 1, "certifit.losses")
        again = parallel.loaded_processes(1, "certifit.losses")
        assert again.submit(os.getpid).result() != worker
    finally:
        again.shutdown(wait=True, kill_workers=True)


def test_a_process_that_kept_others_ends_at_once():
    code = (
        "from certifit import parallel\n"
        "kept = parallel.loaded_processes(1, 'certifit.losses')\n"
        "kept.submit(max, 1, 2).result()\n"
        "parallel.give_back(kept, 1, 'certifit.losses')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.skipif(sys.platform == "win32", reason="a process there keeps the number of a parent that has ended")
@pytest.mark.parametrize("signal", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_worker_processes_end_with_a_parent_that_is_killed(signal):
    code = (
        "import os, time\n"
        "from certifit import parallel\n"
        "with parallel.starting_processes(1, 'certifit.losses'):\n"
        "    print(parallel.aside(1, 'certifit.losses', os.getpid)(), flush=True)\n"
        "    time.sleep(60)\n"
    )
    assert not outlived(code, signal)


def _modules():
    return "certifit.losses" in sys.modules, os.environ["OMP_NUM_THREADS"]


def test_side_by_side_keeps_the_order_and_may_be_nested():
    from certifit.parallel import side_by_side

    assert side_by_side(lambda i: sum(side_by_side(lambda j: i * j, range(3))), range(5)) == [0, 3, 6, 9, 12]


def test_an_error_in_one_part_stops_the_others_and_is_told():
    begun = []

    def work(k):
        begun.append(k)
        if k == 0:
            raise ValueError("no")
        return k

    with pytest.raises(ValueError, match="no"):
        side_by_side(work, range(1000))
    assert side_by_side(lambda k: k, range(5)) == [0, 1, 2, 3, 4]
