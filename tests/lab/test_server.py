"""The server lets in its own page and nobody else, and no request hurts it."""

import asyncio
import base64
import json
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from certifit.exceptions import CertifitError
from certifit.lab._messages import Limits
from certifit.lab._server import Conversation, Lab, Worker, _listening, application, given, read_page

PORT, TOKEN = 8765, "the-token"
OURS = {"host": f"127.0.0.1:{PORT}", "origin": f"http://127.0.0.1:{PORT}"}
TALK = f"/talk?token={TOKEN}"

# A worker that answers at once with what it was asked, sleeps when told to, or dies.
ECHO = """
import json, sys, time
while head := sys.stdin.buffer.read(4):
    asked = json.loads(sys.stdin.buffer.read(int.from_bytes(head, "little")))
    if asked["kind"] == "sleep": time.sleep(60)
    if asked["kind"] == "die": sys.exit(3)
    if asked["kind"] == "slow": time.sleep(0.3)
    text = json.dumps({"id": asked["id"], "echo": asked["kind"], "rasters": asked.get("rasters", 0)}).encode()
    out = len(text).to_bytes(4, "little") + text
    for k in range(asked.get("rasters", 0)): out += (4).to_bytes(4, "little") + bytes([k] * 4)
    sys.stdout.buffer.write(out); sys.stdout.buffer.flush()
"""


@pytest.fixture
def client():
    limits = Limits(seconds=0.5, bytes=10_000)
    page = {"index.html": b"<p>page</p>", "assets/a.js": b"1"}
    lab = Lab(PORT, TOKEN, limits, {"name": "t.csv", "data": "", "target": None}, page)
    worker = Worker(limits, [sys.executable, "-S", "-c", ECHO])
    with TestClient(application(lab, worker), base_url=f"http://127.0.0.1:{PORT}") as client:
        yield client


def test_the_page_is_served_with_a_strict_policy_and_no_cors(client):
    answer = client.get("/")
    assert (answer.status_code, answer.text) == (200, "<p>page</p>")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.get("/assets/a.js").headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", f"127.0.0.1:{PORT + 1}", f"evil.example:{PORT}"])
def test_a_foreign_host_is_refused_over_http_and_at_the_upgrade(client, host):
    assert client.get("/", headers={"host": host}).status_code == 403
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(TALK, headers={**OURS, "host": host}):
        pass


@pytest.mark.parametrize("origin", ["https://evil.example", f"https://127.0.0.1:{PORT}", "null", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused_over_http_and_at_the_upgrade(client, origin):
    assert client.get("/", headers={"origin": origin}).status_code == 403
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(TALK, headers={**OURS, "origin": origin}):
        pass


def test_no_origin_at_all_is_refused_at_the_upgrade(client):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(TALK, headers={"host": OURS["host"]}):
        pass


@pytest.mark.parametrize("address", ["/talk", "/talk?token=", "/talk?token=the-toke", "/talk?token=ä"])
def test_a_missing_or_wrong_token_is_refused(client, address):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(address, headers=OURS):
        pass


@pytest.mark.parametrize("path", ["/etc/passwd", "/../pyproject.toml", "/assets/../../x", "/%2e%2e/%2e%2e/etc/passwd"])
def test_no_path_of_the_disk_is_served(client, path):
    assert client.get(path).status_code == 404


def test_requests_are_answered_with_their_rasters_behind_them(client):
    with client.websocket_connect(TALK, headers=OURS) as page:
        page.send_json({"id": 1, "kind": "frame", "rasters": 2})
        assert page.receive_json() == {"id": 1, "echo": "frame", "rasters": 2}
        assert [page.receive_bytes(), page.receive_bytes()] == [bytes(4), bytes([1] * 4)]
        page.send_json({"id": 2, "kind": "given"})
        assert page.receive_json()["given"]["name"] == "t.csv"


@pytest.mark.parametrize("text", ["{", "[]", "7", '"hello"', '{"id": "1", "kind": "frame"}', '{"id": 1}', "[" * 5000])
def test_a_malformed_message_gets_a_sentence_and_the_talk_goes_on(client, text):
    with client.websocket_connect(TALK, headers=OURS) as page:
        page.send_text(text)
        assert "A request is" in page.receive_json()["problem"]
        page.send_json({"id": 5, "kind": "frame"})
        assert page.receive_json()["id"] == 5


def test_a_huge_message_ends_the_talk(client):
    with client.websocket_connect(TALK, headers=OURS) as page:
        page.send_text("x" * 20_000)
        with pytest.raises(WebSocketDisconnect) as end:
            page.receive_text()
        assert end.value.code == 1009


def test_a_scene_that_runs_too_long_is_ended_and_the_next_request_works(client):
    with client.websocket_connect(TALK, headers=OURS) as page:
        start = time.perf_counter()
        page.send_json({"id": 1, "kind": "sleep"})
        assert "took longer than 0.5 s" in page.receive_json()["problem"]
        assert time.perf_counter() - start < 20
        page.send_json({"id": 2, "kind": "frame"})
        assert page.receive_json()["id"] == 2


def test_a_worker_that_dies_is_replaced(client):
    with client.websocket_connect(TALK, headers=OURS) as page:
        page.send_json({"id": 1, "kind": "die"})
        assert "stopped unexpectedly" in page.receive_json()["problem"]
        page.send_json({"id": 2, "kind": "frame"})
        assert page.receive_json()["id"] == 2


def test_the_newest_of_a_kind_wins(client):
    with client.websocket_connect(TALK, headers=OURS) as page:
        for number in range(1, 5):
            page.send_json({"id": number, "kind": "slow"})
        replies = [page.receive_json() for _ in range(4)]
    answered = [r["id"] for r in replies if "echo" in r]
    assert answered[-1] == 4
    assert len(answered) < 4
    assert {r["id"] for r in replies} == {1, 2, 3, 4}


def test_the_server_listens_on_this_computer_only_and_takes_another_port_when_one_is_taken():
    with _listening(0) as first:
        host, port = first.getsockname()
        first.listen()
        assert host == "127.0.0.1"
        assert first.proto == socket.IPPROTO_TCP  # else answers in parts wait for 40 ms
        with _listening(port) as second:
            assert second.getsockname()[1] != port


def test_a_real_server_refuses_a_huge_message_before_it_is_read():
    import uvicorn
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    with _listening(0) as listening:
        port = listening.getsockname()[1]
        limits = Limits(bytes=10_000)
        app = application(Lab(port, TOKEN, limits), Worker(limits, [sys.executable, "-S", "-c", ECHO]))
        config = uvicorn.Config(app, ws="websockets-sansio", ws_max_size=limits.bytes, log_level="error", lifespan="on")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
        thread.start()
        deadline = time.monotonic() + 20
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        with connect(f"ws://127.0.0.1:{port}/talk?token={TOKEN}", origin=f"http://127.0.0.1:{port}") as page:
            page.send(json.dumps({"id": 1, "kind": "frame"}))
            assert json.loads(page.recv())["id"] == 1
            page.send("x" * 100_000)
            with pytest.raises(ConnectionClosed) as end:
                page.recv()
            assert end.value.rcvd is not None
            assert end.value.rcvd.code == 1009
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


def test_a_missing_page_gives_one_sentence(tmp_path):
    with pytest.raises(CertifitError, match=r"^The page of the lab is not built: run  make lab  [^.]*\.$"):
        read_page(tmp_path)


def test_a_table_of_the_command_line_travels_as_bytes(tmp_path):
    file = tmp_path / "patients.csv"
    file.write_text("age,ill\n3,no\n")
    found = given(file, "ill")
    assert str(tmp_path) not in json.dumps(found)
    assert base64.b64decode(found["data"]) == file.read_bytes()


def test_a_conversation_starts_empty():
    assert not Conversation(None, Lab(1, "t", Limits()), Worker(Limits())).waiting


SLOW = """
import json, struct, sys, time
while head := sys.stdin.buffer.read(4):
    said = json.loads(sys.stdin.buffer.read(int.from_bytes(head, "little")))
    time.sleep(0.2)
    text = json.dumps({"id": said["id"], "rasters": 0}).encode()
    sys.stdout.buffer.write(struct.pack("<I", len(text)) + text)
    sys.stdout.buffer.flush()
"""


def test_the_answer_of_a_page_that_has_gone_is_nobody_elses():
    async def talk():
        worker = Worker(Limits(), [sys.executable, "-c", SLOW])
        gone = asyncio.ensure_future(worker.ask('{"id": 1}', 1))
        await asyncio.sleep(0.1)
        gone.cancel()
        text, _ = await worker.ask('{"id": 2}', 2)
        await worker.stop()
        return json.loads(text)["id"]

    # A thread of its own: the browser tests keep an event loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(asyncio.run, talk()).result() == 2
