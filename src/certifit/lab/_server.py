"""The local server: one page, one WebSocket, nothing else.

It listens on 127.0.0.1 only. The printed address holds a random token, which the WebSocket asks for; the page itself
holds no data. The names in Host and Origin must be our own, at the WebSocket's upgrade too, so that no other page that
a browser has open can talk to it. Files of the page are read into memory at the start: no request names a path.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import mimetypes
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from certifit.exceptions import CertifitError
from certifit.lab._limits import Limits, pack

PAGE = Path(__file__).parent / "page"
MISSING = (
    "The page of the lab is not built: run  make lab  in certifit's source folder, or install a wheel, which holds it."
)


class Worker:
    """The process that computes, started when it is first needed and again after one that took too long.

    ``command`` is what to start; the worker of this package when not given.

    Examples
    --------
    >>> Worker(Limits()).process is None
    True
    """

    def __init__(self, limits: Limits, command: list[str] | None = None) -> None:
        self.limits = limits
        # -P: nothing in the current folder is imported by accident.
        self.command = command or [sys.executable, "-P", "-m", "certifit.lab._worker", json.dumps(asdict(limits))]
        self.process: asyncio.subprocess.Process | None = None
        self.lock = asyncio.Lock()
        self.turns: set[asyncio.Future[tuple[str, list[bytes]]]] = set()

    async def start(self) -> asyncio.subprocess.Process:
        """The process, running."""
        if self.process is None or self.process.returncode is not None:
            pipe = asyncio.subprocess.PIPE
            self.process = await asyncio.create_subprocess_exec(*self.command, stdin=pipe, stdout=pipe)
        return self.process

    async def ask(self, message: str, number: int) -> tuple[str, list[bytes]]:
        """The answer and its rasters; a problem in words when it takes too long or the process dies.

        The process answers in order: when a page goes away, the answer to its last request is still waited for, so
        that nobody else takes it for their own.
        """
        turn = asyncio.ensure_future(self._take_turn(message, number))
        self.turns.add(turn)
        turn.add_done_callback(self.turns.discard)
        return await asyncio.shield(turn)

    async def _take_turn(self, message: str, number: int) -> tuple[str, list[bytes]]:
        async with self.lock:
            try:
                return await asyncio.wait_for(self._ask(message.encode()), self.limits.seconds)
            except TimeoutError:
                said = f"This took longer than {self.limits.seconds:g} s and was stopped: try fewer points."
            except (asyncio.IncompleteReadError, ConnectionError):
                said = "The computation stopped unexpectedly; the terminal tells more."
            await self.stop()
            return json.dumps({"id": number, "problem": said, "rasters": 0}), []

    async def _ask(self, message: bytes) -> tuple[str, list[bytes]]:
        process = await self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pack(message))
        await process.stdin.drain()

        async def part(stream: asyncio.StreamReader) -> bytes:
            return await stream.readexactly(int.from_bytes(await stream.readexactly(4), "little"))

        text = (await part(process.stdout)).decode()
        return text, [await part(process.stdout) for _ in range(json.loads(text)["rasters"])]

    async def stop(self) -> None:
        """End the process."""
        process, self.process = self.process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@dataclass(frozen=True)
class Lab:
    """What one server knows.

    Examples
    --------
    >>> Lab(8765, "t", Limits()).address
    'http://127.0.0.1:8765/#token=t'
    """

    port: int
    token: str
    limits: Limits
    given: dict[str, Any] | None = None  # a table named on the command line: its name, its bytes in base64, its target
    page: dict[str, bytes] = field(default_factory=dict)  # files of the page by path

    @property
    def address(self) -> str:
        """What is printed. What stands after # is never sent over the network."""
        return f"http://127.0.0.1:{self.port}/#token={self.token}"

    @property
    def hosts(self) -> tuple[str, str]:
        """By which names a browser may call us."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"


def _headers(lab: Lab) -> list[tuple[bytes, bytes]]:
    sockets = " ".join(f"ws://{host}" for host in lab.hosts)
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cache-control", b"no-store"),
    ]


class Guard:
    """Lets through only requests that call us by our own name and come from our own page.

    A class of its own around the whole application, because Starlette's middleware for HTTP does not see WebSockets.

    Examples
    --------
    >>> Guard(None, Lab(1, "t", Limits())).lab.port
    1
    """

    def __init__(self, app: ASGIApp, lab: Lab) -> None:
        self.app, self.lab = app, lab

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        ours = {f"http://{host}" for host in self.lab.hosts}
        known = headers.get("host") in self.lab.hosts and (
            origin in ours or (origin is None and scope["type"] == "http")
        )
        if not known:
            if scope["type"] == "websocket":
                await WebSocket(scope, receive, send).close(code=1008)  # before accept: the upgrade is refused with 403
                return
            await PlainTextResponse("This lab answers only its own page.\n", 403)(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_headers(self.lab)]
            await send(message)

        await self.app(scope, receive, with_headers)


class Conversation:
    """One page: reads requests, keeps the newest of each kind, answers one at a time.

    Examples
    --------
    >>> Conversation(None, Lab(1, "t", Limits()), Worker(Limits())).waiting
    {}
    """

    def __init__(self, page: WebSocket, lab: Lab, worker: Worker) -> None:
        self.page, self.lab, self.worker = page, lab, worker
        self.waiting: dict[str, tuple[int, str]] = {}
        self.news = asyncio.Event()
        self.speaking = asyncio.Lock()

    async def say(self, text: str, rasters: list[bytes] | None = None) -> None:
        """An answer, its rasters right behind it."""
        async with self.speaking:
            await self.page.send_text(text)
            for raster in rasters or ():
                await self.page.send_bytes(raster)

    async def listen(self) -> None:
        """Take requests in; a newer one of the same kind replaces one that nobody has begun."""
        while True:
            text = await self.page.receive_text()
            if len(text) > self.lab.limits.bytes:  # the WebSocket layer refuses longer ones before they are read
                await self.page.close(code=1009)
                return
            try:
                request = json.loads(text)
                number, kind = request["id"], request["kind"]
                if not (isinstance(number, int) and isinstance(kind, str)):
                    raise ValueError
            except (ValueError, TypeError, KeyError, RecursionError):
                said = "A request is a JSON object with a number and a kind."
                await self.say(json.dumps({"id": None, "problem": said, "rasters": 0}))
                continue
            if kind == "given":
                await self.say(json.dumps({"id": number, "given": self.lab.given, "rasters": 0}))
                continue
            if kind in self.waiting:
                await self.say(json.dumps({"id": self.waiting[kind][0], "superseded": True, "rasters": 0}))
            self.waiting[kind] = number, text
            self.news.set()

    async def work(self) -> None:
        """Answer what waits."""
        while True:
            await self.news.wait()
            self.news.clear()
            while self.waiting:
                number, text = self.waiting.pop(next(iter(self.waiting)))
                await self.say(*await self.worker.ask(text, number))


def application(lab: Lab, worker: Worker) -> ASGIApp:
    """The ASGI application.

    Examples
    --------
    >>> callable(application(Lab(1, "t", Limits()), Worker(Limits())))
    True
    """

    async def file(request: Request) -> Response:
        path = request.url.path.lstrip("/") or "index.html"
        if path not in lab.page:
            return PlainTextResponse("There is nothing here.\n", 404)
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        return Response(lab.page[path], media_type="text/javascript" if path.endswith(".js") else kind)

    async def talk(page: WebSocket) -> None:
        if not secrets.compare_digest(page.query_params.get("token", "").encode(), lab.token.encode()):
            await page.close(code=1008)
            return
        await page.accept()
        conversation = Conversation(page, lab, worker)
        tasks = [asyncio.create_task(work()) for work in (conversation.listen, conversation.work)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                with contextlib.suppress(WebSocketDisconnect, KeyError, RuntimeError):  # the page is gone
                    task.result()
        finally:
            for task in tasks:
                task.cancel()

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> Any:
        await worker.start()  # it imports while the browser opens
        yield
        await worker.stop()

    routes = [WebSocketRoute("/talk", talk), Route("/{path:path}", file)]
    return Guard(Starlette(routes=routes, lifespan=life), lab)


def read_page(folder: Path = PAGE) -> dict[str, bytes]:
    """The built page; a sentence that says what to run when it is not there.

    Examples
    --------
    >>> read_page(Path("nowhere"))
    Traceback (most recent call last):
    ...
    certifit.exceptions.CertifitError: The page of the lab is not built: run  make lab  in certifit's source folder, ...
    """
    files = {p.relative_to(folder).as_posix(): p for p in sorted(folder.rglob("*")) if p.is_file()}
    if "index.html" not in files:
        raise CertifitError(MISSING)
    return {name: path.read_bytes() for name, path in files.items()}


def given(path: Path, target: str | None) -> dict[str, object]:
    """A table of the command line as the page takes it.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = file.write_text("a,b\\n1,2\\n")
    >>> given(file, "b")["name"]
    't.csv'
    """
    return {"name": path.name, "data": base64.b64encode(path.read_bytes()).decode(), "target": target}


def _listening(port: int) -> socket.socket:
    """A socket on this computer only: at this port, or at any where it is taken."""
    for wanted in (port, 0):
        # asyncio sends at once (TCP_NODELAY) only where the protocol is named; else an answer in parts waits 40 ms.
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(("127.0.0.1", wanted))
        except OSError:
            found.close()
            if wanted == 0:
                raise
        else:
            return found
    raise AssertionError


def serve(
    table: Path | None = None,
    target: str | None = None,
    *,
    port: int = 8765,
    ready: Callable[[str], object] = print,
    limits: Limits | None = None,
) -> None:
    """Serve the lab until it is interrupted.

    Parameters
    ----------
    table : path, default=None
        A table to begin with.
    target : str, default=None
        Its column of labels or values.
    port : int, default=8765
        Another one is taken when somebody has this one.
    ready : function of the address, default=print
        Called when the server listens.
    limits : Limits, default=None

    Examples
    --------
    >>> serve(table=Path("nowhere.csv"))  # doctest: +SKIP
    """
    import uvicorn

    page = read_page()
    limits = limits or Limits()
    with _listening(port) as listening:
        own = listening.getsockname()[1]
        lab = Lab(own, secrets.token_urlsafe(24), limits, given(table, target) if table else None, page)
        config = uvicorn.Config(
            application(lab, Worker(limits)),
            ws="websockets-sansio",
            ws_max_size=limits.bytes,
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        asyncio.run(_serve(server, listening, lambda: ready(lab.address)))


async def _serve(server: Any, listening: socket.socket, ready: Callable[[], object]) -> None:
    async def announce() -> None:
        while not server.started:
            await asyncio.sleep(0.01)
        ready()

    waiting: Awaitable[Any] = asyncio.gather(server.serve(sockets=[listening]), announce())
    await waiting
