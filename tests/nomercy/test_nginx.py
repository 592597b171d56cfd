"""nginx with the files of docker/nginx, as compose.yaml and docs/by-hand.md use them."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography import x509

from common import limits
from nomercy.launcher.place import CHECKOUT
from tests.conftest import Figure
from tests.support.programs import STREAM_MODULE
from tests.support.proxy import FOLDER, Proxy, echo, proxy, read, until

pytestmark = pytest.mark.nginx

ATTACKER: Final = "127.0.0.3"
CONNECTIONS_OF_ONE: Final = 300


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxy(tmp_path_factory.mktemp("nginx")) as running:
        yield running


def told(answer: str) -> dict[str, Any]:
    head, _, body = answer.partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 "), head
    found: dict[str, Any] = json.loads(body)
    return found


def test_pages_and_sockets_go_to_their_servers(site: Proxy) -> None:
    assert told(site.get("/tables/new/?a=%2F"))["server"] == "pages"
    assert told(site.get("/tables/new/?a=%2F"))["path"] == "/tables/new/?a=%2F"
    for path in ("/ws/table/1/", "/api/v1/wait/events", "/api/v1/wait/games/abc?after=1"):
        assert told(site.get(path))["server"] == "sockets"
    for path in ("/api/v1/games", "/api/v1/waiter", "/static/site.css"):
        assert told(site.get(path))["server"] == "pages"


def test_only_sockets_are_upgraded(site: Proxy) -> None:
    for path, upgrade, connection in (("/ws/x", "websocket", "upgrade"), ("/x", None, "close")):
        headers = told(site.ask(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nUpgrade: websocket\r\n\r\n"))[
            "headers"
        ]
        assert (headers.get("upgrade"), headers["connection"]) == (upgrade, connection)


def test_what_a_client_says_about_its_address_is_replaced(site: Proxy) -> None:
    forged = ("X-Forwarded-For: 9.9.9.9", "X-Forwarded-Proto: http", "X-Forwarded-Host: evil", "Forwarded: for=9.9.9.9")
    headers = told(site.get("/", *forged, "X_Forwarded_For: 9.9.9.9", "X-Forwarded-Port: 1"))["headers"]
    assert (headers["x-forwarded-for"], headers["x-forwarded-proto"]) == ("127.0.0.2", "https")
    assert headers["host"] == "cards.example.org"
    assert not headers.keys() & {"x-forwarded-host", "x-forwarded-port", "forwarded", "x_forwarded_for"}


def test_a_body_that_is_too_long_is_refused_with_a_sentence(site: Proxy) -> None:
    page = site.get("/x", "Content-Length: 131073", method="POST")
    assert page.startswith("HTTP/1.1 413 ")
    assert "Go back and send less." in page
    call = site.get("/api/v1/games", "Content-Length: 131073", method="POST")
    assert call.startswith("HTTP/1.1 413 ")
    assert json.loads(call.partition("\r\n\r\n")[2])["error"] == "too_large"


def test_while_the_servers_are_stopped_there_is_a_page(tmp_path: Path) -> None:
    with echo("gone") as port:
        pass
    with Proxy(tmp_path, port, port).running() as site:
        for path, said in (
            ("/", "All games are saved."),
            ("/api/v1/games", '"error": "unavailable"'),
            ("/ws/a", "All"),
        ):
            answer = site.get(path)
            assert answer.startswith("HTTP/1.1 503 ")
            assert said in answer
            assert "\r\nRetry-After: 30\r\n" in answer
            assert "\r\nCache-Control: no-store\r\n" in answer


@pytest.mark.parametrize(
    ("sent", "status", "location"),
    [
        ("GET /a?b HTTP/1.1\r\nHost: cards.example.org", 301, "https://cards.example.org:8443/a?b"),
        (
            "GET //evil.example HTTP/1.1\r\nHost: CARDS.example.org:80",
            301,
            "https://cards.example.org:8443//evil.example",
        ),
        ("GET / HTTP/1.1\r\nHost: evil.example", 400, None),
        ("GET / HTTP/1.1\r\nHost: evil.example@x", 400, None),
        ("GET / HTTP/1.1\r\nHost: cards.example.org.evil.example", 400, None),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1", 400, None),
        ("GET http://evil.example/ HTTP/1.1\r\nHost: cards.example.org", 400, None),
        ("GET / HTTP/1.0", 400, None),
    ],
)
def test_http_redirects_only_to_the_site(site: Proxy, sent: str, status: int, location: str | None) -> None:
    with closing(site.unsafe("127.0.0.2")) as connection, closing(HTTPResponse(connection)) as answer:
        connection.sendall(f"{sent}\r\nConnection: close\r\n\r\n".encode())
        answer.begin()
        assert (answer.status, answer.headers["Location"]) == (status, location)


def test_names_are_asked_of_the_name_server_of_the_network(site: Proxy) -> None:
    """A second one would not know the names of the containers."""
    assert site.resolver.read_text() == "resolver [fd00::1] valid=5s;\n"


def test_http_serves_a_challenge(site: Proxy) -> None:
    place = site.folder / "challenges" / ".well-known" / "acme-challenge"
    place.mkdir(parents=True)
    (place / "abc").write_text("proof")
    with closing(HTTPConnection("127.0.0.1", site.http, timeout=10)) as connection:
        connection.request("GET", "/.well-known/acme-challenge/abc", headers={"Host": "cards.example.org"})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"proof")


def test_few_answers_are_kept_for_a_client_that_does_not_read(site: Proxy) -> None:
    """The kernel would take 4 MB for each of two connections."""

    def asked() -> int:
        return int(told(site.get("/"))["count"])

    def at_rest() -> bool:
        before = asked()
        time.sleep(0.3)
        return asked() == before + 1

    before = asked()
    with closing(site.connect(ATTACKER)) as connection:
        connection.sendall(LONG * 100)
        until("nginx asks for no more", at_rest)
        assert 1 < asked() - before < 25


LONG: Final = b"GET /long HTTP/1.1\r\nHost: a\r\n\r\n"
HALF: Final = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 3900 + b"\r\nX: " + b"a" * 3900
MANY_LINES: Final = b"GET / HTTP/1.1\r\nHost: a\r\n" + b"a:\n" * 90


@pytest.mark.parametrize("sent", [LONG, HALF, MANY_LINES], ids=["not read", "half", "many lines"])
def test_one_address_cannot_fill_the_memory(site: Proxy, figure: Figure, sent: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(CONNECTIONS_OF_ONE):
            # The TLS of so many half requests would take longer than one may be late.
            connection = site.connect(ATTACKER) if sent == LONG else site.unsafe(ATTACKER)
            stack.enter_context(closing(connection)).sendall(sent)
        fill(site, ATTACKER, stack)
        slowest = 0.0
        for _ in range(10):
            before = time.monotonic()
            assert told(site.get("/"))["server"] == "pages"
            slowest = max(slowest, time.monotonic() - before)
        memory = sum(
            int(re.findall(r"Pss:\s+(\d+)", Path(f"/proc/{one}/smaps_rollup").read_text())[0])
            for one in site.processes()
        )
    figure(f"another address waited {slowest * 1000:.0f} ms at most, nginx had {memory // 1024} MB")
    assert slowest < 2
    assert memory < 160 * 1024


def test_there_is_no_http_2(site: Proxy) -> None:
    with closing(site.connect(ATTACKER)) as connection:
        assert connection.selected_alpn_protocol() == "http/1.1"


def fill(site: Proxy, source: str, stack: ExitStack) -> None:
    """Open connections of this address until nginx closes a new one before TLS begins, and close them with the stack.

    nginx may have given up on earlier ones, and it does not take connections in their order.
    """

    def is_full() -> bool:
        try:
            stack.enter_context(closing(site.connect(source)))
        except OSError:
            return True
        return False

    until("the limit is reached", is_full)


def is_refused(site: Proxy, source: str) -> bool:
    """Return True if nginx closes a new connection of this address before TLS begins."""
    try:
        with closing(site.connect(source)):
            return False
    except OSError:
        return True


def lower(site: Proxy, file: str, name: str, limit: int, to: int) -> None:
    """Lower a limit of connections in the configuration of an nginx that does not run yet."""
    path = site.folder / file
    before = f"limit_conn {name} {limit};"
    assert before in path.read_text()
    path.write_text(path.read_text().replace(before, f"limit_conn {name} {to};"))


def test_addresses_of_one_ipv6_network_count_together(tmp_path: Path) -> None:
    """An IPv6 address counts as its /64, here also with bytes that are a line feed, a NUL and no UTF-8."""
    with echo("pages") as port, ExitStack() as stack:
        small = Proxy(tmp_path, port, port)
        lower(small, "connections.conf", "network", CONNECTIONS_OF_ONE, to=10)
        site = stack.enter_context(small.running())
        for _ in range(10):
            stack.enter_context(closing(site.plain("2001:db8:a:ff00::1")))
        fill(site, "2001:db8:a:ff00:ffff::2", stack)
        for other in ("2001:db8:a:ff01::1", "2001:db8:b::1", "127.0.0.2"):
            assert not is_refused(site, other)


def test_a_flood_of_one_address_is_refused(tmp_path: Path) -> None:
    with echo("pages") as port, ExitStack() as stack:
        small = Proxy(tmp_path, port, port)
        for file, before, now in (
            ("proxy_maps.conf", "rate=200r/s", "rate=1r/m"), ("proxy_maps.conf", "rate=600r/s", "rate=1r/m"),
            ("proxy.conf", "burst=400 ", "burst=3 "), ("proxy.conf", "burst=1200 ", "burst=3 "),
        ):  # fmt: skip
            text = (small.folder / file).read_text()
            assert before in text
            (small.folder / file).write_text(text.replace(before, now))
        site = stack.enter_context(small.running())
        for path in ("/", "/api/v1/games"):
            seen = [site.get(path)[9:12] for _ in range(6)]
            assert seen == [*["200"] * 4, *["429"] * 2]
            assert site.get(path, source="127.0.0.4").startswith("HTTP/1.1 200 ")
        page, call = site.get("/"), site.get("/api/v1/games")
        assert "\r\nRetry-After: 5\r\n" in page
        assert "\r\nRetry-After: 5\r\n" in call
        assert "Nothing was changed." in page
        assert json.loads(call.partition("\r\n\r\n")[2])["error"] == "too_many_requests"
        assert [site.get("/static/site.css")[9:12] for _ in range(6)] == ["200"] * 6


@pytest.mark.parametrize(("zone", "most", "path"), [("open", 20, "/x"), ("files", 100, "/static/x")])
def test_an_address_has_few_requests_that_wait_for_an_answer(tmp_path: Path, zone: str, most: int, path: str) -> None:
    """They stand in one line for the threads of the site, so that all others would wait behind them."""
    with echo("pages") as port, socket.create_server(("127.0.0.1", 0)) as silent, ExitStack() as stack:
        small = Proxy(tmp_path, silent.getsockname()[1], port)
        lower(small, "proxy.conf", zone, most, to=2)
        silent.settimeout(10)
        site = stack.enter_context(small.running())
        for _ in range(2):
            asking = stack.enter_context(closing(site.connect(ATTACKER)))
            asking.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            stack.enter_context(closing(silent.accept()[0]))
        assert site.get(path, source=ATTACKER).startswith("HTTP/1.1 429 ")
        assert told(site.get("/api/v1/wait/events", source=ATTACKER))["server"] == "pages"  # whose echo it is here
        stack.enter_context(closing(site.connect("127.0.0.2"))).sendall(
            f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
        )
        stack.enter_context(closing(silent.accept()[0]))


def test_the_limits_of_requests_are_those_of_the_site() -> None:
    """Nobody whom the site serves is refused by nginx."""
    maps, passed = ((FOLDER / name).read_text() for name in ("proxy_maps.conf", "proxy.conf"))
    for zone, limit in (("reads", limits.READS), ("calls", limits.API_CALLS)):
        rate = int(re.findall(rf"zone={zone}:10m rate=(\d+)r/s", maps)[0])
        bursts = set(map(int, re.findall(rf"zone={zone} burst=(\d+) nodelay", passed)))
        assert rate == limit["address"].most / limit["address"].seconds
        assert bursts == {2 * rate}


def test_a_body_reaches_the_server_as_a_whole(site: Proxy) -> None:
    """A server has one thread for each of a few requests, and would wait there for the rest."""

    def asked() -> int:
        return int(told(site.get("/"))["count"])

    before = asked()
    with closing(site.connect("127.0.0.2")) as connection:
        connection.sendall(b"GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n" + b"a")
        time.sleep(0.3)
        assert asked() == before + 1
        connection.sendall(b"a" * 99_999)
        assert told(read(connection))["headers"]["content-length"] == "100000"


def test_a_body_in_chunks_reaches_the_server_with_its_length(site: Proxy) -> None:
    chunked = "Host: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    headers = told(site.ask(f"GET /x HTTP/1.1\r\n{chunked}"))["headers"]
    assert headers["content-length"] == "3"
    assert "transfer-encoding" not in headers


def test_a_long_answer_leaves_the_server_before_its_client_reads(tmp_path: Path) -> None:
    size = 8_000_000
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as stack:
        port = server.getsockname()[1]
        site = stack.enter_context(Proxy(tmp_path, port, port).running())
        client = stack.enter_context(closing(site.connect("127.0.0.2")))
        client.sendall(b"GET /record HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        server.settimeout(10)
        answering = stack.enter_context(closing(server.accept()[0]))
        answering.settimeout(10)
        answering.recv(4096)
        answering.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size)
        assert read(client).endswith("x" * size)


def test_all_websockets_together_leave_connections_to_pages(tmp_path: Path) -> None:
    handshake = b"GET /ws/x HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    with echo("pages") as port, socket.create_server(("127.0.0.1", 0)) as silent, ExitStack() as stack:
        small = Proxy(tmp_path, port, silent.getsockname()[1])
        lower(small, "proxy.conf", "websockets", 2000, to=2)
        silent.settimeout(10)
        site = stack.enter_context(small.running())
        for number in (1, 2):
            stack.enter_context(closing(site.connect(f"127.0.9.{number}"))).sendall(handshake)
            stack.enter_context(closing(silent.accept()[0]))
        assert site.get("/ws/x", source="127.0.8.1").startswith("HTTP/1.1 429 ")
        assert told(site.get("/", source="127.0.9.1"))["server"] == "pages"


def closed(connections: Sequence[socket.socket]) -> int:
    """Return how many of these nginx has closed. It says nothing before the client does."""
    readable, _, _ = select.select(connections, [], [], 0.1)
    return len(readable)


def test_an_address_has_few_connections(site: Proxy) -> None:
    """They end after 10 seconds without a request, but meanwhile others come in."""
    with ExitStack() as stack:
        held = [stack.enter_context(closing(site.plain(ATTACKER))) for _ in range(CONNECTIONS_OF_ONE + 5)]
        until("some are closed", lambda: closed(held) >= 5)
        assert closed(held) == 5
        assert told(site.get("/"))["server"] == "pages"
        assert len(held) - closed(held) == CONNECTIONS_OF_ONE
    until("there is room again", lambda: site.get("/", source=ATTACKER)[9:12] == "200")


def test_a_renewed_certificate_is_loaded(site: Proxy) -> None:
    def subject() -> str:
        pem = ssl.get_server_certificate(("127.0.0.1", site.https))
        return x509.load_pem_x509_certificate(pem.encode()).subject.rfc4514_string()

    assert subject() == "CN=not-yet-certified"
    for name in ("first", "renewed"):
        certificate(site.live, name)
        until(f"{name} is loaded", lambda name=name: subject() == f"CN={name}")  # type: ignore[misc]
    for file in site.used.iterdir():
        assert file.stat().st_mode & 0o077 == 0


def certificate(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}"]
    files = ["-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")]
    subprocess.run([*command, *files], check=True, capture_output=True)


CERTBOT: Final = """#!/bin/sh
echo "$*" >>"{calls}"
[ "$(wc -l <"{calls}")" -gt 1 ]
"""


def test_certbot_is_asked_for_the_name_of_the_site_again_and_again(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    (tmp_path / "certbot").write_text(CERTBOT.format(calls=calls))
    (tmp_path / "certbot").chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "SITE_URL": "https://cards.example.org:443/", "PAUSE": "0.1",
    }  # fmt: skip
    process = subprocess.Popen(["/bin/sh", FOLDER / "certify"], env=environment, stderr=subprocess.PIPE, text=True)
    until("certbot ran three times", lambda: calls.exists() and len(calls.read_text().splitlines()) > 2)
    process.terminate()
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 0
    assert errors.splitlines() == ["There is no new certificate for cards.example.org. The next try is in an hour."]
    for call in set(calls.read_text().splitlines()):
        assert call.startswith("certonly --webroot --webroot-path /var/www/challenges --cert-name nomercy")
        assert "--domain cards.example.org --keep-until-expiring --non-interactive" in call


@pytest.mark.long
@pytest.mark.parametrize("place", ["docker/nginx/place.conf", "docs/by-hand.md"])
def test_nginx_accepts_the_files_as_they_are(tmp_path: Path, place: str) -> None:
    certificate(tmp_path, "x")
    (tmp_path / "site_name.conf").write_text("cards.example.org $host;\n")
    (tmp_path / "resolver.conf").write_text("resolver 192.0.2.1;\n")
    (tmp_path / "conf.d").mkdir()
    shutil.copy(FOLDER / "site.conf", tmp_path / "conf.d")
    for name in ("connections.conf", "proxy.conf", "proxy_maps.conf"):
        shutil.copy(FOLDER / name, tmp_path)
    text = (CHECKOUT / place).read_text().rpartition("place.conf\n")[2].partition("```")[0]
    text = re.sub(r"(/run|/etc)/(\S+/)?(?=(fullchain|privkey|resolver|site_name)\.)", f"{tmp_path}/", text)
    (tmp_path / "conf.d" / "place.conf").write_text(text)
    main = (FOLDER / "nginx.conf").read_text().replace("/etc/nginx/", f"{tmp_path}/").replace("user nginx;", "")
    module = f"load_module {STREAM_MODULE};\n" if STREAM_MODULE.exists() else ""
    (tmp_path / "nginx.conf").write_text(module + main + f"pid {tmp_path}/pid;\n")
    command = ["nginx", "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "bind() to" in done.stderr, done.stderr  # another program may have the ports
    for name in ("site.conf", "proxy.conf", "proxy_maps.conf"):
        assert (FOLDER / name).stat().st_mode & 0o004
