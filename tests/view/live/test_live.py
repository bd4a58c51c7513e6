"""The live view: a real run in a real browser, who is let in, and what it costs the run."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from support.browser import open_page, wait_for
from support.builders import grains, plane

import rigidgrains as rg

pytest.importorskip("uvicorn", reason="the extra 'live' is not installed")
websockets = pytest.importorskip("websockets.sync.client", reason="the extra 'live' is not installed")

from websockets.exceptions import InvalidStatus  # noqa: E402

from rigidgrains.trajectory.frame import Frame  # noqa: E402
from rigidgrains.view.live import LiveError, LiveView, follow, observer  # noqa: E402
from rigidgrains.view.live.feed import Feed  # noqa: E402
from rigidgrains.view.live.observer import RATE, SHARE  # noqa: E402
from rigidgrains.view.live.server import Server  # noqa: E402


def shaken_box(n: int = 36) -> rg.Simulation:
    """Disks that keep falling through a wide box."""
    side = int(np.sqrt(n))
    x, y = np.meshgrid(np.arange(side) * 2.2, 1.5 + np.arange(side) * 2.2)
    walls = [plane([0, 0, 0], [0, 1, 0], "floor"), plane([-1.5, 0, 0], [1, 0, 0], "left")]
    position = np.column_stack([x.ravel(), y.ravel(), 0.0 * x.ravel()])
    bodies = grains(position, dimension=2, gravity=[0.0, -10.0, 0.0], walls=walls)
    return rg.Simulation(bodies, dt=1e-3)


class Slow(rg.Observer):
    """A run that takes its time."""

    def look(self, simulation: rg.Simulation) -> None:
        time.sleep(0.002)


class Running:
    """A run with a live view in a thread of its own."""

    def __init__(self, simulation: rg.Simulation, steps: int, **options: Any) -> None:
        self.simulation = simulation
        self.live = LiveView(title="shaken box", show=False, tell=lambda address: self.begun.set(), **options)
        self.begun = threading.Event()
        self.address = self.live.address
        simulation.observe(Slow()).observe(self.live)
        self.thread = threading.Thread(target=lambda: setattr(self, "report", simulation.run(steps=steps)))
        self.thread.start()
        assert self.begun.wait(60)

    def stop(self) -> None:
        self.live._feed.asked = "stop"
        self.live._feed.wish.set()
        self.thread.join(30)
        assert not self.thread.is_alive()


@pytest.fixture
def running() -> Iterator[Running]:
    run = Running(shaken_box(), 1_000_000)
    yield run
    run.stop()


def port_of(address: str) -> int:
    port = urlsplit(address).port
    assert port is not None
    return port


def ask(address: str, path: str | None = None, **headers: str) -> SimpleNamespace:
    """GET, with headers of one's own."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(address), timeout=10)
    connection.request("GET", path or urlsplit(address).path, headers=headers)
    answer = connection.getresponse()
    told = SimpleNamespace(status=answer.status, text=answer.read().decode(), headers=dict(answer.getheaders()))
    connection.close()
    return told


def feed(address: str, *, origin: str | None = "own", token: str | None = None, host: str | None = None) -> Any:
    """A viewer's websocket."""
    own = f"127.0.0.1:{port_of(address)}"
    path = urlsplit(address).path if token is None else f"/{token}/"
    headers = {} if host is None else {"Host": host}
    return websockets.connect(
        f"ws://{own}{path}feed",
        origin=f"http://{own}" if origin == "own" else origin,
        additional_headers=headers,
        compression=None,
        max_size=None,
        open_timeout=10,
    )


def test_a_run_is_shown_paused_and_stopped_in_the_browser(running: Running, browser: Any) -> None:
    page = open_page(browser, running.address, viewport={"width": 1000, "height": 700})
    own = f"http://127.0.0.1:{port_of(running.address)}/"
    assert [text for text in page.complaints if not text.startswith(own)] == []
    wait_for(page, "view.source.count > 3")
    assert page.evaluate("view.frame.n") == 36
    page.click("#pause")
    wait_for(page, "document.getElementById('state').dataset.state === 'paused'")
    time.sleep(0.2)
    held, shown = running.simulation.steps, page.evaluate("view.frame.step")
    position = np.array(page.evaluate("Array.from(view.frame.position)")).reshape(-1, 3)
    origin = np.array(page.evaluate("view.frame.origin"))
    time.sleep(0.3)
    assert running.simulation.steps == held == shown
    np.testing.assert_allclose(position + origin, running.simulation.bodies.position, atol=1e-5)
    assert page.evaluate("view.source.series.time.length") > 3
    page.click("#pause")
    wait_for(page, f"view.frame.step > {held}")
    page.click("#stop")
    running.thread.join(20)
    assert running.report.stopped == "stopped in the live view"
    wait_for(page, "document.getElementById('state').dataset.state === 'ended'")
    assert page.evaluate("view.frame.step") == running.simulation.steps  # the last state came through
    assert [text for text in page.complaints if not text.startswith(own)] == []
    page.close()


def test_only_the_page_itself_is_let_in(running: Running) -> None:
    address, own = running.address, f"127.0.0.1:{port_of(running.address)}"
    welcome = ask(address)
    assert welcome.status == 200
    assert "script-src 'nonce-" in welcome.headers["content-security-policy"]
    assert "access-control-allow-origin" not in welcome.headers
    path = urlsplit(address).path
    wrong = "/" + "x" * (len(path) - 2) + "/"
    for refused in (
        ask(address, "/"),
        ask(address, "/feed"),
        ask(address, wrong),
        ask(address, Host=f"evil.example:{port_of(address)}"),
        ask(address, Host="127.0.0.1"),
        ask(address, Origin="http://evil.example"),
        ask(address, Origin="null"),
        ask(address, Origin=f"https://{own}"),
    ):
        assert refused.status == 403
        assert refused.text == "not here\n"
    for stranger in (
        {"token": "x" * 32},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": None},
        {"origin": f"http://localhost:{port_of(address)}"},
    ):
        with pytest.raises(InvalidStatus) as refusal:
            feed(address, **stranger).__enter__()
        assert refusal.value.response.status_code == 403
    assert raw_upgrade(address, host=f"evil.example:{port_of(address)}") == 403
    assert running.live._feed.asked == ""
    with feed(address) as viewer:
        viewer.send(json.dumps({"ready": True}))
        assert any(isinstance(viewer.recv(timeout=10), bytes) for _ in range(5))


def raw_upgrade(address: str, *, host: str) -> int:
    """Status of a websocket request with a Host of one's own and an Origin that agrees with it."""
    words = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    words |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Host": host, "Origin": f"http://{host}"}
    return int(ask(address, urlsplit(address).path + "feed", **words).status)


def test_the_server_listens_on_the_loopback_only(running: Running) -> None:
    with socket.socket() as probe:
        probe.settimeout(2.0)
        others = {row[4][0] for row in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
        others = {other for other in others if not other.startswith("127.")}
        for other in others:
            assert probe.connect_ex((other, port_of(running.address))) != 0
    assert running.address.startswith("http://127.0.0.1:")
    assert len(urlsplit(running.address).path) >= 32


def test_the_port_is_given_back_and_nothing_is_logged(capfd: pytest.CaptureFixture[str]) -> None:
    run = Running(shaken_box(), 20)
    ask(run.address)
    ask(run.address, "/wrong/")
    run.thread.join(20)
    with socket.socket() as again:
        again.bind(("127.0.0.1", port_of(run.address)))
    told = capfd.readouterr()
    assert urlsplit(run.address).path.strip("/") not in told.out + told.err
    assert [thread.name for thread in threading.enumerate() if thread.name == "live view"] == []


def test_a_taken_port_and_a_missing_package_are_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(LiveError, match="choose another with --port"):
            LiveView(port=taken.getsockname()[1], show=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(LiveError, match=r"pip install 'rigidgrains\[live\]'"):
        LiveView(show=False)


def test_a_paused_run_goes_on_when_its_viewers_have_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    from rigidgrains.view.live import observer

    monkeypatch.setattr(observer, "ALONE", 0.2)
    run = Running(shaken_box(), 1_000_000)
    with feed(run.address) as viewer:
        viewer.send(json.dumps({"do": "pause"}))
        wait_until(lambda: run.live._feed.state == "paused")
        held = run.simulation.steps
    wait_until(lambda: run.simulation.steps > held)
    run.stop()


def wait_until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_viewer_that_never_reads_does_not_hold_up_the_run(running: Running) -> None:
    """It asks and asks; the run goes on, and knows when it has gone."""
    with socket.create_connection(("127.0.0.1", port_of(running.address))) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(upgrade(running.address))
        wait_until(lambda: running.live._feed.viewers == 1)
        wait_until(lambda: running.live.spent > 0.0, 60.0)  # kernels are compiled by now
        for _ in range(20):
            deaf.sendall(masked(json.dumps({"ready": True}).encode()))
            steps = running.simulation.steps
            wait_until(lambda: running.simulation.steps > steps + 2)  # noqa: B023
    wait_until(lambda: running.live._feed.viewers == 0)


@pytest.mark.parametrize("cost", [1e-4, 0.01, 0.3])
def test_looking_takes_its_share_of_the_time_and_no_more(monkeypatch: pytest.MonkeyPatch, cost: float) -> None:
    """By a clock of its own: steps of 1 ms, looks that cost what they cost, and a viewer that is always hungry."""
    clock = SimpleNamespace(now=0.0)
    tell = SimpleNamespace(perf_counter=lambda: clock.now, thread_time=lambda: clock.now, monotonic=lambda: clock.now)
    simulation = shaken_box(4)
    live = LiveView(show=False, tell=lambda address: None)
    live.start(simulation, 1)
    monkeypatch.setattr(observer, "time", tell)
    monkeypatch.setattr(Feed, "hungry", True)
    of, looks = Frame.of, []

    def take(state: rg.Simulation) -> Frame:
        clock.now += cost
        looks.append(clock.now)
        return of(state)

    monkeypatch.setattr(observer, "Frame", SimpleNamespace(of=take))
    while clock.now < 200.0 * max(cost, 0.01):
        clock.now += 1e-3
        live.look(simulation)
    spent = live.spent
    monkeypatch.undo()
    live.finish(simulation)
    assert spent == pytest.approx(len(looks) * cost, rel=1e-6)
    share = cost / np.diff(looks[1:])  # the first compiles, and is not counted
    assert len(share) > 2
    assert share.max() < 1.01 * SHARE
    assert share.min() > 0.9 * min(SHARE, RATE * cost)  # and no less than it may


def upgrade(address: str) -> bytes:
    own, path = f"127.0.0.1:{port_of(address)}", urlsplit(address).path
    lines = [f"GET {path}feed HTTP/1.1", f"Host: {own}", f"Origin: http://{own}", "Upgrade: websocket"]
    lines += ["Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", ""]
    return "\r\n".join(lines).encode()


def masked(text: bytes) -> bytes:
    """A text message as a client sends it, under a mask of zeros."""
    return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text


def test_a_file_is_followed_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "run.vtkhdf"
    simulation = shaken_box()
    writer = rg.TrajectoryWriter(path)
    simulation.observe(writer, every=10)
    simulation.run(steps=20)
    end, addresses = threading.Event(), []
    words = {"show": False, "tell": addresses.append, "until": end}
    serving = threading.Thread(target=follow, args=(rg.Trajectory(path),), kwargs=words)
    serving.start()
    wait_until(lambda: bool(addresses))
    with feed(addresses[0]) as viewer:
        news = json.loads(viewer.recv(timeout=10))
        assert (len(news["times"]), news["state"]) == (3, "ended")
        viewer.send(json.dumps({"frame": 2}))
        packet = viewer.recv(timeout=10)
        head = json.loads(packet[4 : 4 + int.from_bytes(packet[:4], "little")])
        assert (head["index"], head["step"]) == (2, 20)
        simulation.run(steps=20)
        while len(news["times"]) < 5:
            news = json.loads(viewer.recv(timeout=10))
    end.set()
    serving.join(10)
    assert not serving.is_alive()


def test_ctrl_c_ends_the_command(tmp_path: Path) -> None:
    path = tmp_path / "run.vtkhdf"
    simulation = shaken_box()
    simulation.observe(rg.TrajectoryWriter(path), every=10)
    simulation.run(steps=10)
    program = [sys.executable, "-m", "rigidgrains", "view", str(path), "--live", "--no-open"]
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as command:
        assert command.stdout is not None
        try:
            line = command.stdout.readline()
            address = line.split()[3]
            assert ask(address).status == 200
            command.send_signal(signal.SIGINT)
            _, err = command.communicate(timeout=20)
        finally:
            command.kill()
    assert (command.returncode, err) == (0, "")


def test_many_viewers_are_too_many() -> None:
    """A feed has an end, also for those who hold the address."""
    from rigidgrains.view.live.feed import MOST_VIEWERS, Feed

    feed_ = Feed()
    server = Server(lambda: {"title": "none"}, feed_.serve)
    server.start()
    with ExitStack() as viewers:
        for _ in range(MOST_VIEWERS):
            viewers.enter_context(feed(server.address))
        with pytest.raises(InvalidStatus), feed(server.address):
            pass
    server.stop()
