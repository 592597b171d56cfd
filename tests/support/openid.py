"""A small OpenID provider: discovery, authorization, token, keys and userinfo over HTTP, and ID tokens (RS256)."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import secrets
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote_plus, urlencode, urlsplit

import jwt
from allauth.socialaccount.models import SocialAccount
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from django.core.cache import caches
from django.test import Client

from accounts.models import User

CLIENT: Final = "no-mercy"
SECRET: Final = "a secret: with signs & spaces"
NAME: Final = "Village Login"
LOG_IN, CALLBACK, SIGN_UP = "/accounts/oidc/login/", "/accounts/oidc/callback/", "/accounts/oidc/signup/"
PAGE, LINK, UNLINK = "/accounts/oidc/", "/accounts/oidc/link/", "/accounts/oidc/unlink/"
CONFIRM = "/accounts/oidc/confirm/"
DORA: Final[dict[str, Any]] = {
    "sub": "248289761001", "email": "dora@example.org", "email_verified": True, "preferred_username": "dora",
}  # fmt: skip

Handler = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Code:
    """What an authorization code stands for."""

    claims: dict[str, Any]
    nonce: str
    challenge: str
    redirect_uri: str
    auth_time: int | None


@dataclass
class Provider:
    """The provider. `person` is who is logged in there. `faults` replace what a path answers.

    `claims` change the ID token, `header` its header, `discovery` the discovery document, and `userinfo` that answer.
    """

    url: str
    person: dict[str, Any] = field(default_factory=lambda: dict(DORA))
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=lambda: {"kid": "first"})
    discovery: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    keys: list[str] = field(default_factory=lambda: ["first"])
    faults: dict[str, Handler] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    codes: dict[str, Code] = field(default_factory=dict)
    authorizations: list[dict[str, str]] = field(default_factory=list)
    with_page: bool = False
    email_in_token: bool = True
    _private: dict[str, rsa.RSAPrivateKey] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reset(self) -> None:
        """Become as at the beginning, with the same keys."""
        fresh = Provider(self.url)
        for name in ("person", "claims", "header", "discovery", "userinfo", "keys", "faults", "asked", "codes",
                     "authorizations", "with_page", "email_in_token"):  # fmt: skip
            setattr(self, name, getattr(fresh, name))

    def key(self, name: str) -> rsa.RSAPrivateKey:
        with self._lock:
            if name not in self._private:
                self._private[name] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            return self._private[name]

    def document(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize?tenant=village",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            **self.discovery,
        }

    def public_keys(self) -> dict[str, Any]:
        found = []
        for name in self.keys:
            key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key(name).public_key()))
            found.append({**key, "kid": name, "use": "sig", "alg": "RS256"})
        return {"keys": found}

    def authorize(self, query: dict[str, str]) -> str:
        """Return where the person is led to after the log-in here."""
        self.authorizations.append(query)
        assert query["client_id"] == CLIENT
        assert query["response_type"] == "code"
        assert query["tenant"] == "village"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = Code(
            dict(self.person),
            query["nonce"],
            query["code_challenge"],
            query["redirect_uri"],
            # OpenID Connect Core 1.0 (3.1.2.1) requires it after `max_age`. Otherwise many providers leave it out.
            int(time.time()) if "max_age" in query else None,
        )
        assert query["code_challenge_method"] == "S256"
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': self.url})}"

    def tokens(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Return the status and the answer of the token endpoint. A code works once, and only with its verifier."""
        pair = f"{quote_plus(CLIENT)}:{quote_plus(SECRET)}".encode()
        in_form = (form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET)
        if authorization != f"Basic {base64.b64encode(pair).decode()}" and not in_form:
            return 401, {"error": "invalid_client"}
        code = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if code is None or (code.challenge, code.redirect_uri) != (challenge, form.get("redirect_uri")):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        told = code.claims if self.email_in_token else {"sub": code.claims["sub"]}
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": code.nonce,
            "auth_time": code.auth_time,
            **told,
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        algorithm = self.header.get("alg", "RS256")
        keys: dict[str, Any] = {"RS256": self.key(self.header["kid"]), "HS256": SECRET.ljust(32), "none": None}
        token = jwt.encode(claims, keys[algorithm], algorithm, self.header)
        access = f"access-{secrets.token_urlsafe(8)}"
        return 200, {"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": token}

    def calls(self) -> dict[str, int]:
        """Return how often each path was asked for by the site itself."""
        return {path: count for path, count in self.asked.items() if path != "/authorize"}


def text(status: int, body: str | bytes, kind: str = "application/json") -> Handler:
    """Return a fault: this answer."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        content = body.encode() if isinstance(body, str) else body
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def slow(seconds: float = 30.0) -> Handler:
    """Return a fault: a byte of an endless header line now and then, so that no single read takes long."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        until = time.monotonic() + seconds
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while time.monotonic() < until:
                handler.wfile.write(b"x")
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:  # the site has hung up
            handler.close_connection = True

    return answer


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Answers(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Write nothing."""

        def _json(self, status: int, found: object) -> None:
            text(status, json.dumps(found))(self)

        def _redirect(self, to: str) -> None:
            self.send_response(302)
            self.send_header("Location", to)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            provider.asked[parts.path] += 1
            pages: dict[str, Handler] = {
                "/.well-known/openid-configuration": lambda to: self._json(200, provider.document()),
                "/keys": lambda to: self._json(200, provider.public_keys()),
                "/userinfo": lambda to: self._userinfo(),
                "/authorize": lambda to: self._authorize(parts.query, query),
                "/allow": lambda to: self._redirect(provider.authorize(query)),
                **provider.faults,
            }
            pages.get(parts.path, text(404, "{}"))(self)

        def _userinfo(self) -> None:
            known = self.headers.get("Authorization", "").startswith("Bearer access-")
            self._json(200 if known else 401, {**provider.person, **provider.userinfo} if known else {})

        def _authorize(self, written: str, query: dict[str, str]) -> None:
            if not provider.with_page:
                self._redirect(provider.authorize(query))
                return
            link = f"/allow?{written}".replace("&", "&amp;")
            page = f"<!doctype html><html lang=en><title>Village</title><a href='{link}'>I am Dora</a></html>"
            text(200, page, "text/html; charset=utf-8")(self)

        def do_POST(self) -> None:
            provider.asked[self.path] += 1
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            if fault := provider.faults.get(self.path):
                fault(self)
            else:
                sent = {name: values[0] for name, values in form.items()}
                self._json(*provider.tokens(sent, self.headers.get("Authorization", "")))

    return Answers


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Write nothing: the site may hang up at any time."""


def make_certificate(file: Path) -> Path:
    """Write a certificate for this machine that nobody has signed, and its key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(secret + made.public_bytes(pem))
    return file


@contextmanager
def running_provider(certificate: Path | None = None) -> Iterator[Provider]:
    """Run a provider at a free port of this machine until the end of the block.

    :param certificate: a file with a certificate and its key, for https.
    """
    provider = Provider("")
    server = _Server(("127.0.0.1", 0), _handler(provider))
    scheme = "http"
    if certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate)
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        scheme = "https"
    provider.url = f"{scheme}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def set_up(settings: Any, provider: Provider) -> None:
    """Make this provider that of the site."""
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = provider.url, CLIENT, SECRET
    settings.OIDC_NAME = NAME
    caches["process"].clear()


def at_provider(location: str) -> str:
    """Log in at the provider by the address that the site led to. Return the path of the callback with its query."""
    parts = urlsplit(location)
    line: http.client.HTTPConnection
    if parts.scheme == "https":
        anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
        line = http.client.HTTPSConnection(parts.netloc, timeout=20, context=anybody)
    else:
        line = http.client.HTTPConnection(parts.netloc, timeout=20)
    try:
        line.request("GET", f"{parts.path}?{parts.query}")
        back = urlsplit(line.getresponse().getheader("Location", ""))
    finally:
        line.close()
    return f"{back.path}?{back.query}"


def begin(browser: Client, path: str = LOG_IN, **form: str) -> str:
    """Press the button in this browser and log in at the provider. Return the address of the callback."""
    answer = browser.post(path, form)
    return at_provider(sent_to(answer))


def sent_to(answer: Any) -> str:
    """Return the address at the provider to which a page leads by itself."""
    assert answer.status_code == 200, answer.content
    seconds, _, url = answer["Refresh"].partition("; url=")
    assert seconds == "0"
    return str(url)


def go_through(browser: Client, path: str = LOG_IN, **form: str) -> Any:
    """Press the button, log in at the provider, and come back. Return the answer of the callback."""
    return browser.get(begin(browser, path, **form))


def linked(user: User, provider: Provider, subject: str = DORA["sub"]) -> SocialAccount:
    """Link this person with an account of the provider, by default Dora's."""
    return SocialAccount.objects.create(user=user, provider=provider.url, uid=subject)
