"""Killing a process and looking whether those that it started end, too."""

from __future__ import annotations

import signal
import subprocess
import sys
import time


def outlived(code: str, name: str) -> bool:
    """Whether the process whose number ``code`` prints still works 30 s after the one that runs it got a signal."""
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.send_signal(getattr(signal, name))
    parent.wait(timeout=30)
    parent.stdout.close()
    end = time.monotonic() + 30.0
    while _runs(worker) and time.monotonic() < end:
        time.sleep(0.1)
    return _runs(worker)


def _runs(pid: int) -> bool:
    """Whether a process works; one that has ended may still be listed until somebody asks how."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip()) and not found.stdout.strip().startswith("Z")
