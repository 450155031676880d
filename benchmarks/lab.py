"""``python -m benchmarks.lab``: how long the lab takes to answer a dragged point, and to show its first picture.

A real server, a real WebSocket, 200 points a scene (or as many as a scene takes); one point moves a little each time.
The goal is that 95 % of the answers come within 50 ms, warm, on two cores with nothing else to do.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from typing import Any

import numpy as np

POINTS, DRAGS, GOAL = 200, 60, 0.05
VIEW = [-4.0, 4.0, -3.0, 3.0]


def points(scene: dict[str, Any]) -> list[list[float]]:
    """200 points as a person might draw them: two or three clouds, a noisy curve, a map."""
    rng = np.random.default_rng(0)
    if scene["name"] == "gradient_descent":
        return [[-3.0, 1.0, 0]]
    if scene["name"] == "grid_world":
        return scene["presets"][2]["points"]
    kinds = len(scene["labels"])
    if kinds == 1:
        x = np.sort(rng.uniform(-3, 3, POINTS))
        return np.column_stack([x, np.sin(x) + 0.3 * rng.normal(size=POINTS), np.zeros(POINTS)]).round(3).tolist()
    y = np.arange(POINTS) % kinds
    centres = np.array([(-1.0, -0.4), (1.0, 0.5), (0.0, 1.5)])[y]
    return np.column_stack([centres + 0.8 * rng.normal(size=(POINTS, 2)), y]).round(3).tolist()


class Line:
    """One WebSocket."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket

    def ask(self, kind: str, **what: Any) -> dict[str, Any]:
        """An answer with its rasters."""
        self.socket.send(json.dumps({"id": 1, "kind": kind, **what}))
        reply: dict[str, Any] = json.loads(self.socket.recv())
        for _ in range(reply["rasters"]):
            self.socket.recv()
        return reply


def drags(line: Line, scene: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Seconds of each drag, after a few that warm up."""
    own = points(scene)
    view = scene["presets"][2]["view"] if scene["name"] == "grid_world" else VIEW
    params = scene["presets"][2]["params"] if scene["name"] == "grid_world" else {}
    times = []
    for k in range(DRAGS + 5):
        own[0] = [round(own[0][0] + 0.01 * (-1) ** k * (k % 7), 4), own[0][1], own[0][2]]
        start = time.perf_counter()
        reply = line.ask("frame", scene=scene["name"], points=own, view=view, params=params, quick=True, step=None)
        times.append(time.perf_counter() - start)
        assert "problem" not in reply, reply
    return np.array(times[5:])


def main() -> None:
    """Print the table."""
    import uvicorn
    from websockets.sync.client import connect

    from certifit.lab import Limits
    from certifit.lab._server import Lab, Worker, _listening, application

    limits = Limits(seconds=300)
    with _listening(0) as listening:
        port = listening.getsockname()[1]
        begun = time.perf_counter()
        app = application(Lab(port, "bench", limits), Worker(limits))
        server = uvicorn.Server(uvicorn.Config(app, ws="websockets-sansio", log_level="warning", lifespan="on"))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        origin = f"http://127.0.0.1:{port}"
        with connect(f"ws://127.0.0.1:{port}/talk?token=bench", origin=origin, max_size=None) as socket:  # type: ignore[arg-type]
            measure(Line(socket), begun)
        server.should_exit = True
        thread.join(10)


def measure(line: Line, begun: float) -> None:
    """The first picture, then every scene."""
    scenes = line.ask("hello")["scenes"]
    first = scenes[0]["presets"][0]
    line.ask("frame", scene=scenes[0]["name"], points=first["points"], view=first["view"])
    load = os.getloadavg()[0]
    print(f"first picture after {time.perf_counter() - begun:.2f} s; load {load:.1f} on {os.cpu_count()} cores\n")
    print(f"{'scene':<18}{'points':>7}{'median':>10}{'95 %':>10}{'within 50 ms':>15}")
    wanted = sys.argv[1:] or [s["name"] for s in scenes]
    for scene in (s for s in scenes if s["name"] in wanted):
        times = drags(line, scene)
        share = 100 * float(np.mean(times <= GOAL))
        middle, high = 1e3 * np.median(times), 1e3 * np.quantile(times, 0.95)
        count = len(points(scene))
        print(f"{scene['name']:<18}{count:>7}{middle:>7.0f} ms{high:>7.0f} ms{share:>13.0f} %", flush=True)


if __name__ == "__main__":
    main()
