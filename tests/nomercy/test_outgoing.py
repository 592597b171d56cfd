"""Requests go to public addresses only, whatever a URL, a resolver or a server does."""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pytest_django.fixtures import Settings

from common import outgoing
from common.outgoing import OutgoingError, Rule, check, post

OK = b"HTTP/1.1 204 No Content\r\n\r\n"
LOOPBACK = "127.0.0.1"


def _request(link: socket.socket) -> bytes:
    """Read a request, or less if the other side sends no more."""
    found = b""
    while part := link.recv(65_536):
        found += part
        head, _, body = found.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        if length and len(body) == int(length[1]):
            break
    return found


class Server:
    """Counts the connections to a port of this machine, by default at all its addresses, and answers each."""

    def __init__(self, answer: Callable[[socket.socket], None], tls: ssl.SSLContext | None, address: str) -> None:
        both = not address and socket.has_dualstack_ipv6()
        family = socket.AF_INET6 if both else socket.AF_INET
        self._socket = socket.create_server((address, 0), family=family, dualstack_ipv6=both)
        self.port: int = self._socket.getsockname()[1]
        self.connections = 0
        self.requests: list[bytes] = []
        self._answer, self._tls = answer, tls
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._talk, args=[link], daemon=True).start()

    def _talk(self, link: socket.socket) -> None:
        try:
            with link if self._tls is None else self._tls.wrap_socket(link, server_side=True) as talking:
                self.requests.append(_request(talking))
                self._answer(talking)
        except OSError:
            pass  # the other side has left, which some tests are about

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def serving(
    answer: bytes | Callable[[socket.socket], None] = OK, tls: ssl.SSLContext | None = None, address: str = ""
) -> Iterator[Server]:
    server = Server(answer if callable(answer) else lambda link: link.sendall(answer), tls, address)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture
def allowed(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = [ipaddress.ip_network(LOOPBACK)]


def refused(url: str, resolve: outgoing.Resolve = outgoing.addresses_of) -> Rule:
    """Return the rule by which a request to this URL is refused, and the same when it is saved."""
    with pytest.raises(OutgoingError) as stopped:
        post(url, b"", {}, resolve=resolve)
    with pytest.raises(OutgoingError) as not_saved:
        check(url, resolve=resolve)
    assert stopped.value.kind == not_saved.value.kind == "address"
    assert stopped.value.rule == not_saved.value.rule
    return stopped.value.rule


SPELLINGS = (
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "017700000001", "0177.0.0.1", "0x7f000001", "0x7f.0.0.1", "0X7F.1",
    "127.0.0.01", "127.0.0.1.", "127.00000000000000000001", "0", "192.168.0.1", "169.254.169.254", "4294967297",
    "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::1%25lo]", "[fe80::1%lo]", "localhost", "LOCALHOST", "localhost.",
    "①②⑦.⓪.⓪.①", "１２７.0.0.1", "127。0。0。1", "loc%61lhost", "127.0.0.1%2f.example.org", "example.org@127.0.0.1",
    "user:word@localhost", "127.0.0.1\\@example.org", "127.0.0.1\t", "\x00localhost",
)  # fmt: skip
"""Hosts of this machine or its network, as resolvers or parsers of URLs may read them."""


@pytest.mark.parametrize("allow", [[], [ipaddress.ip_network("10.9.8.7")]], ids=["none", "another"])
def test_no_spelling_of_a_private_address_is_connected_to(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, allow: list[ipaddress.IPv4Network]
) -> None:
    settings.OUTGOING_ALLOW = allow
    with serving() as server:
        monkeypatch.setattr(outgoing, "PORTS", (server.port,))
        for host in SPELLINGS:
            assert refused(f"https://{host}:{server.port}/")
        assert server.connections == 0


NOT_PUBLIC = (
    "0.0.0.0",  # noqa: S104  # nothing listens there
    "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.0.1", "169.254.169.254", "172.16.0.1", "192.0.0.8",
    "192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1",
    "::ffff:8.8.8.8", "::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1",
    "2001:0:7f00:1::1", "2001:2::1", "2001:10::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1",
    "4000::1", "5f00::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%lo", "fec0::1", "ff02::1", "ff0e::1",
)  # fmt: skip


def resolver(answers: Sequence[str]) -> outgoing.Resolve:
    return lambda host: answers


def test_a_name_with_any_address_that_is_not_public_is_refused() -> None:
    public = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]
    check("https://hook.example/", resolve=lambda host: public)
    for address in NOT_PUBLIC:
        for answers in ([address], [*public, address], [address, *public]):
            assert refused("https://hook.example/", resolver(answers)) == "private", answers
    assert refused("https://hook.example/", lambda host: []) == "private"


def test_a_name_that_points_elsewhere_after_it_was_saved_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([["93.184.215.14"], [LOOPBACK]])
    with serving() as server:
        monkeypatch.setattr(outgoing, "PORTS", (server.port,))
        url = f"https://hook.example:{server.port}/"
        check(url, resolve=lambda host: next(answers))
        with pytest.raises(OutgoingError) as stopped:
            post(url, b"", {}, resolve=lambda host: next(answers))
        assert stopped.value.rule == "private"
        assert server.connections == 0


@pytest.mark.usefixtures("allowed")
def test_a_host_is_looked_up_once_for_a_request() -> None:
    asked = []

    def rebinding(host: str) -> Sequence[str]:
        asked.append(host)
        return [LOOPBACK] if len(asked) == 1 else ["127.0.0.2"]

    with serving() as server:
        assert post(f"http://hook.example:{server.port}/a?b=1#c", b"body", {"X": "y"}, resolve=rebinding).status == 204
    assert asked == ["hook.example"]
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"POST /a?b=1 HTTP/1.1"
    assert {b"Host: hook.example:%d" % server.port, b"X: y", b"Content-Length: 4"} <= set(head.split(b"\r\n"))
    assert body == b"body"


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://hook.example/", "https"),
        ("ftp://hook.example/", "https"),
        ("file:///etc/passwd", "url"),
        ("https:///path", "url"),
        ("hook.example", "url"),
        ("", "url"),
        ("https://hook.example:80/", "port"),
        ("https://hook.example:22/", "port"),
        ("https://hook.example:99999/", "url"),
        ("https://hook.example:-1/", "url"),
        ("https://hook.example:4４3/", "url"),
        ("https://hook.example/\r\nX: y", "url"),
        ("https://hook.example/ a", "url"),
        ("https://bücher.example/", "url"),
        ("https://hook.example/\N{LATIN SMALL LETTER LONG S}", "url"),
        ("https://hoo\N{KELVIN SIGN}.example/", "url"),
        ("https://hook.example/" + "a" * 2048, "url"),
        ("https://-hook.example/", "name"),
        ("https://hook..example/", "name"),
        ("https://" + "a" * 64 + ".example/", "name"),
        ("https://" + "a." * 127 + "example/", "name"),
        ("https://a@hook.example/", "user"),
        ("https://@hook.example/", "user"),
    ],
)
def test_the_rule_that_refuses_a_url_is_told(url: str, rule: Rule) -> None:
    assert refused(url, lambda host: ["93.184.215.14"]) == rule


def test_a_host_without_an_address_is_refused() -> None:
    def unknown(host: str) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    assert refused("https://hook.example/", unknown) == "host"


def test_nothing_goes_out_where_it_is_off(settings: Settings) -> None:
    settings.OUTGOING = False
    assert refused("https://hook.example/", lambda host: ["93.184.215.14"]) == "off"


@pytest.mark.usefixtures("allowed")
def test_a_redirect_is_not_followed() -> None:
    with serving() as inner, serving(b"HTTP/1.1 307 x\r\nLocation: http://127.0.0.1:%d/\r\n\r\n" % inner.port) as outer:
        with pytest.raises(OutgoingError) as stopped:
            post(f"http://{LOOPBACK}:{outer.port}/", b"", {})
        assert stopped.value.kind == "redirect"
        assert (outer.connections, inner.connections) == (1, 0)


def drip(data: bytes) -> Callable[[socket.socket], None]:
    """Return an answer of this data, a byte every 0.1 s, for ever."""

    def answer(link: socket.socket) -> None:
        link.sendall(data)
        while True:
            link.sendall(b"a")
            time.sleep(0.1)

    return answer


def wait(link: socket.socket) -> None:
    """Answer nothing until the other side leaves."""
    link.recv(1)


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize(
    "answer",
    [
        *(wait, drip(b""), drip(b"HTTP/1.1 200 OK\r\nA: "), b"", b"SSH-2.0\r\n\r\n"),
        b"HTTP/1.1 200 OK\r\nA: " + b"a" * 70_000 + b"\r\n\r\n",
    ],
    ids=["nothing", "slow status", "slow header", "closed", "not HTTP", "long header"],
)
def test_a_server_that_does_not_answer_holds_nobody(answer: bytes | Callable[[socket.socket], None]) -> None:
    with serving(answer) as server:
        begun = time.monotonic()
        with pytest.raises(OutgoingError) as stopped:
            post(f"http://{LOOPBACK}:{server.port}/", b"", {}, seconds=0.2)
        assert stopped.value.kind == "silent"
        assert time.monotonic() - begun < 2


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize(
    "length",
    [b"Content-Length: 1000000000000", b"Transfer-Encoding: chunked\r\n\r\nffffffffff", b""],
)
def test_no_more_than_a_part_of_a_huge_answer_is_read(length: bytes) -> None:
    sent = 0

    def flood(link: socket.socket) -> None:
        nonlocal sent
        link.sendall(b"HTTP/1.1 503 x\r\nRetry-After: 120\r\n" + length + b"\r\n\r\n")
        for _ in range(1000):
            link.sendall(b"a" * 65_536)
            sent += 65_536

    with serving(flood) as server:
        assert post(f"http://{LOOPBACK}:{server.port}/", b"", {}) == outgoing.Answer(503, "120")
    assert sent < 65_536_000 / 2  # what fits into the buffers of two sockets


@pytest.mark.usefixtures("allowed")
def test_the_status_counts_if_the_rest_is_slow() -> None:
    with serving(drip(b"HTTP/1.1 200 OK\r\n\r\n")) as server:
        assert post(f"http://{LOOPBACK}:{server.port}/", b"", {}, seconds=0.2).status == 200


def test_a_resolver_that_does_not_answer_holds_nobody() -> None:
    stop = threading.Event()
    begun = time.monotonic()
    with pytest.raises(OutgoingError) as stopped:
        post("https://hook.example/", b"", {}, resolve=lambda host: [str(stop.wait(5))], seconds=0.2)
    stop.set()
    assert (stopped.value.kind, stopped.value.rule) == ("address", "host")
    assert time.monotonic() - begun < 2


def test_a_host_with_a_dead_address_is_reached_at_another(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = [ipaddress.ip_network("127.0.0.0/8")]
    with serving(address=LOOPBACK) as server:
        url = f"http://hook.example:{server.port}/"
        assert post(url, b"", {}, resolve=lambda host: ["127.0.0.9", LOOPBACK]).status == 204
        assert server.connections == 1


def tls_for(name: str, folder: Path) -> ssl.SSLContext:
    """Return what a server with a certificate for this name needs. Its authority is `folder/name.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = folder / f"{name}.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = folder / f"{name}.key"
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, private)
    return context


@pytest.mark.usefixtures("allowed")
def test_the_certificate_must_be_that_of_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = list[str | None]()
    tls = tls_for("hook.example", tmp_path)
    tls.sni_callback = lambda link, name, context: names.append(name)
    with serving(tls=tls) as server:

        def sent_to(host: str) -> int | str:
            try:
                return post(f"https://{host}:{server.port}/", b"", {}, resolve=lambda host: [LOOPBACK]).status
            except OutgoingError as error:
                return error.kind

        assert sent_to("hook.example") == "certificate"  # of an unknown authority
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "hook.example.pem"))
        outgoing.tls_context.cache_clear()
        assert sent_to("hook.example") == 204
        assert sent_to("other.example") == "certificate"
        assert sent_to(LOOPBACK) == "certificate"
        assert names == ["hook.example", "hook.example", "other.example", None]
        assert len(server.requests) == 1
    outgoing.tls_context.cache_clear()


@pytest.mark.usefixtures("allowed")
def test_a_server_that_does_not_speak_tls_is_silent() -> None:
    with serving(b"HTTP/1.1 200 OK\r\n\r\n") as plain, serving(drip(b"")) as slow:
        outgoing.tls_context()  # takes a part of the time
        for server in (plain, slow):
            with pytest.raises(OutgoingError) as stopped:
                post(f"https://{LOOPBACK}:{server.port}/", b"", {}, seconds=0.5)
            assert stopped.value.kind == "silent"


@pytest.mark.usefixtures("allowed")
def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as proxy, serving() as server:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{LOOPBACK}:{proxy.port}")
        assert post(f"http://{LOOPBACK}:{server.port}/", b"", {}).status == 204
        assert proxy.connections == 0
