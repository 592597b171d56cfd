"""nginx with the configuration of the project, in front of a small server that says what reached it."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from nomercy.launcher.place import CHECKOUT
from tests.support import waiting
from tests.support.ports import free_port
from tests.support.programs import STREAM_MODULE

FOLDER: Final = CHECKOUT / "docker" / "nginx"
PAGE: Final = 100_000
"""The length of the answer at /long."""

until = partial(waiting.until, patience=20.0)


class Echo(BaseHTTPRequestHandler):
    """Answer with the name of this server, its number of requests, the path and the headers as JSON.

    At /long it answers with a long text.
    """

    protocol_version = "HTTP/1.1"
    name = ""
    count = 0

    def do_GET(self) -> None:
        type(self).count += 1
        # A server that closes a connection without reading all of it resets it, and nginx may lose the answer.
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        told = {
            "count": self.count,
            "server": self.name,
            "path": self.path,
            "headers": {k.lower(): v for k, v in self.headers.items()},
        }
        body = b"x" * PAGE if self.path == "/long" else json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Quiet(ThreadingHTTPServer):
    """A server that does not report connections that are cut off."""

    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, *_: object) -> None:
        """Report nothing."""


@contextmanager
def echo(name: str) -> Iterator[int]:
    """Run a server of this name and return its port."""
    server = Quiet(("127.0.0.1", 0), type("Named", (Echo,), {"name": name}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Proxy:
    """A running nginx."""

    def __init__(self, folder: Path, pages: int, sockets: int) -> None:
        self.folder, self.http, self.https, self.told, inner_http, inner = folder, *(free_port() for _ in range(5))
        self.live, self.used, self.resolver = folder / "live", folder / "used", folder / "resolver.conf"
        for name in ("live", "challenges", "conf.d"):
            (folder / name).mkdir()
        site, connections = ((FOLDER / f"{name}.conf").read_text() for name in ("site", "connections"))
        for port, here in ((8080, inner_http), (8443, inner)):
            site = site.replace(f"127.0.0.1:{port}", f"127.0.0.1:{here}")
            connections = connections.replace(f"127.0.0.1:{port}", f"127.0.0.1:{here}")
        for port, here in ((80, self.http), (443, self.https)):
            connections = connections.replace(f"listen {port} ", f"listen 127.0.0.1:{here} ")
            connections = connections.replace(f"listen [::]:{port} sndbuf=64k;", "")
        told = f"listen 127.0.0.1:{self.told} proxy_protocol; set_real_ip_from 127.0.0.1;"
        connections = connections.replace("proxy_pass", f"{told}\n        proxy_pass", 2).replace(told, "", 1)
        (folder / "conf.d" / "site.conf").write_text(site)
        for name in ("proxy.conf", "proxy_maps.conf"):
            shutil.copy(FOLDER / name, folder)
        (folder / "connections.conf").write_text(connections)
        place = (FOLDER / "place.conf").read_text()
        for old, new in (
            ("web:8000", f"127.0.0.1:{pages}"),
            ("ws:8000", f"127.0.0.1:{sockets}"),
            ("/etc/nginx/maintenance", str(CHECKOUT / "docker")),
            ("/var/www/challenges", str(folder / "challenges")),
            ("/run/certificate", str(self.used)),
            ("/run/site_name.conf", f"{folder}/site_name.conf"),
            ("/run/resolver.conf", str(self.resolver)),
        ):
            assert old in place
            place = place.replace(old, new)
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
            place += f"{kind}_temp_path {folder}/temp_{kind};\n"
        (folder / "conf.d" / "place.conf").write_text(place)
        main = (FOLDER / "nginx.conf").read_text().replace("/etc/nginx/", f"{folder}/")
        main = re.sub("(?m)^user .*", "" if os.geteuid() else "user root;", main)  # tests' folders are private
        main = f"load_module {STREAM_MODULE};\n{main}" if STREAM_MODULE.exists() else main
        (folder / "resolv.conf").write_text("search example.org\nnameserver fd00::1\nnameserver 192.0.2.1\n")
        self.log = folder / "error.log"
        (folder / "nginx.conf").write_text(
            main.replace("/dev/stderr", str(self.log)) + f"pid {folder}/nginx.pid;\nlock_file {folder}/lock;\n"
        )
        self.arguments = ["-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(self.log)]

    @contextmanager
    def running(self) -> Iterator[Proxy]:
        process = subprocess.Popen(
            ["/bin/sh", FOLDER / "serve", *self.arguments],
            env=os.environ
            | {
                "SITE_URL": "https://Cards.example.org:8443/",
                "RESOLV_CONF": str(self.folder / "resolv.conf"),
                "RESOLVER_TO": str(self.resolver),
                "SITE_NAME_TO": str(self.folder / "site_name.conf"),
                "CERTIFICATE_FROM": str(self.live),
                "CERTIFICATE_TO": str(self.used),
                "LOOK_EVERY": "0.2",
            },
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            until("nginx listens", lambda: self._listens() or process.poll() is not None)
            assert process.poll() is None, self.log.read_text()
            yield self
        finally:
            os.killpg(process.pid, 15)  # with the loop that looks at the certificate
            process.wait(20)

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.https)).close()
        except ConnectionRefusedError:
            return False
        return True

    def processes(self) -> list[int]:
        """Return the numbers of nginx's processes."""
        master = int((self.folder / "nginx.pid").read_text())
        return [master, *map(int, Path(f"/proc/{master}/task/{master}/children").read_text().split())]

    def plain(self, source: str) -> socket.socket:
        """Return a TCP connection from this address.

        Of an address of IPv6, which no connection can have here, nginx is told by the PROXY protocol.
        """
        if ":" not in source:
            return socket.create_connection(("127.0.0.1", self.https), 10, source_address=(source, 0))
        plain = socket.create_connection(("127.0.0.1", self.told), 10)
        plain.sendall(f"PROXY TCP6 {source} ::1 40000 443\r\n".encode())
        return plain

    def unsafe(self, source: str) -> socket.socket:
        """Return a connection without TLS from this address of IPv4."""
        return socket.create_connection(("127.0.0.1", self.http), 10, source_address=(source, 0))

    def connect(self, source: str) -> ssl.SSLSocket:
        """Return a connection from this address."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # without the system's certificates, which take long to load
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2", "http/1.1"])
        return context.wrap_socket(self.plain(source), server_hostname="cards.example.org")

    def ask(self, request: str, source: str = "127.0.0.2") -> str:
        """Return the answer to this request, which must ask to close the connection."""
        with closing(self.connect(source)) as connection:
            connection.sendall(request.encode())
            return read(connection)

    def get(self, path: str, *headers: str, source: str = "127.0.0.2", method: str = "GET") -> str:
        lines = [f"{method} {path} HTTP/1.1", "Host: cards.example.org", "Connection: close", *headers]
        return self.ask("\r\n".join([*lines, "", ""]), source)


def read(connection: socket.socket) -> str:
    """Return all that arrives until the connection is closed."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts).decode()


@contextmanager
def proxy(folder: Path) -> Iterator[Proxy]:
    """Run nginx in front of two servers, for pages and for sockets."""
    with echo("pages") as pages, echo("sockets") as sockets, Proxy(folder, pages, sockets).running() as site:
        yield site
