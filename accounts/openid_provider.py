"""Talk to the OpenID provider (`OIDC_ISSUER`): read its documents, and find out who somebody is there.

This knows neither sessions nor users. Redirects are not followed, certificates are verified, and a page waits at most
`SECONDS` for the provider, however slowly it answers. At most `AT_ONCE` threads wait at the same time.
"""

from __future__ import annotations

import base64
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote_plus, urlencode, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.crypto import constant_time_compare

from accounts.addresses import LONGEST_ADDRESS, validate_address

if TYPE_CHECKING:
    import jwt

SECONDS: Final = 8.0
"""The longest that one page waits for all that it asks the provider."""
LONGEST: Final = 262_144
"""The most bytes of an answer of the provider."""
AT_ONCE: Final = 5
"""The most threads of a process that make a call to the provider, or wait for the call of another thread, at once.

A slow provider blocks no more than these, half of the threads that serve pages (`HTTP_THREADS`).
"""
LONGEST_WAIT: Final = 1.0
"""The longest that a thread waits for the call of another, in seconds."""
KEPT: Final = 300.0
"""For how many seconds a document of the provider is used again."""
OLD_KEPT: Final = 600.0
"""For how many seconds a document is used while another thread reads it again."""
FAILURE_KEPT: Final = 15.0
"""For how many seconds a document that could not be read is not asked for again."""
KEYS_KEPT: Final = 15.0
"""How old the provider's keys must be, in seconds, before an ID token with an unknown key makes the site ask again."""
ALGORITHMS: Final = ("RS256", "PS256", "ES256", "EdDSA")
"""How an ID token may be signed: with a key pair of the provider, not with the client's secret."""
LEEWAY: Final = 60
"""By how many seconds the provider's clock may differ."""
LONGEST_SUBJECT: Final = 191
"""The most characters of a subject that allauth's column stores."""
LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
REFUSALS: Final = frozenset({"invalid_client", "invalid_request", "invalid_scope", "unauthorized_client"})
"""The errors of a token endpoint (RFC 6749, 5.2) that the log names. An endpoint may send any text."""


class ProviderFailed(Exception):
    """The provider cannot be used now. The message is for the log, and names no person.

    `repeated` is True if no call was made, because the same one has just failed, or others are under way.
    """

    status = HTTPStatus.BAD_GATEWAY
    repeated = False

    def again(self) -> Self:
        """Return the same failure for a call that was not made."""
        same = type(self)(*self.args)
        same.repeated = True
        return same


class BadAnswer(ProviderFailed):
    """The provider answered what no provider may answer, or refused this site."""


class Unreachable(ProviderFailed):
    """There is no connection, or the provider has an error of its own."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


class Busy(Unreachable):
    """No call was made, because of those of other threads that are under way."""

    repeated = True


class TooSlow(ProviderFailed):
    """The provider did not answer in time."""

    status = HTTPStatus.GATEWAY_TIMEOUT


class CodeRefused(Exception):
    """The provider does not accept the code: it was used before, or it has expired."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What the site needs of the provider's discovery document. `userinfo` is "" if there is none.

    `posts_secret` says whether the secret of this site is sent in the form and not in a header.
    """

    authorization: str
    token: str
    keys: str
    userinfo: str
    posts_secret: bool


@dataclass(frozen=True, slots=True)
class Person:
    """Who somebody is at the provider. Only `subject` never changes there; `email` and `username` may be "".

    `authenticated_at` is when the provider last asked the person to log in, in seconds since 1970, or None.
    """

    subject: str
    email: str
    email_verified: bool
    username: str
    authenticated_at: int | None


class Deadline:
    """The time until which everything must be done, `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left.

        :raises TooSlow: none are.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TooSlow("did not answer in time")
        return left


def provider_name() -> str:
    """Return what the provider is called here. Of a former provider nothing is known."""
    return str(settings.OIDC_NAME) or "another site"


def read_endpoints(deadline: Deadline | None = None) -> Endpoints:
    """Return the endpoints from the provider's discovery document (OpenID Connect Discovery 1.0).

    :raises ProviderFailed: it cannot be read, or is not that of `OIDC_ISSUER`.
    """
    url = f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration"
    document = _documents.read(url, deadline or Deadline(SECONDS), _check_discovery)
    methods = document.get("token_endpoint_auth_methods_supported")
    return Endpoints(
        authorization=document["authorization_endpoint"],
        token=document["token_endpoint"],
        keys=document["jwks_uri"],
        userinfo=document.get("userinfo_endpoint") or "",
        posts_secret=isinstance(methods, list) and "client_secret_post" in methods,
    )


def redeem(*, code: str, verifier: str, nonce: str, redirect_uri: str) -> Person:
    """Exchange the code of a callback for the provider's word on who the person is.

    :param verifier: the PKCE code verifier (RFC 7636) with which the log-in began.
    :param nonce: the nonce with which it began.
    :param redirect_uri: the address of the callback, as at the beginning.
    :raises CodeRefused: the code was used before, has expired, or was not made for this log-in.
    :raises ProviderFailed: the provider cannot be reached, is too slow, or its answer proves nothing.
    """
    deadline = Deadline(SECONDS)
    endpoints = read_endpoints(deadline)
    tokens = _tokens(endpoints, code, verifier, redirect_uri, deadline)
    claims = _verified_claims(tokens.get("id_token"), endpoints, deadline)
    sent = str(claims.get("nonce", ""))
    if not (sent.isascii() and constant_time_compare(sent, nonce)):
        raise BadAnswer("sent an ID token with another nonce")
    subject = claims["sub"]
    if not (isinstance(subject, str) and 0 < len(subject) <= LONGEST_SUBJECT and subject.isprintable()):
        raise BadAnswer(f"sent a subject that is no text of at most {LONGEST_SUBJECT} characters")
    facts = claims  # all from one source: an address is not confirmed because another one is
    if "email" not in claims and endpoints.userinfo:
        facts = _userinfo(endpoints.userinfo, tokens.get("access_token"), subject, deadline)
    at = claims.get("auth_time")
    return Person(
        subject=subject,
        email=_usable_address(facts.get("email")),
        email_verified=facts.get("email_verified") is True,
        username=str(facts.get("preferred_username") or ""),
        authenticated_at=at if isinstance(at, int) else None,
    )


def _usable_address(email: object) -> str:
    """Return this mail address, or "" if this site could not send a mail to it."""
    # Half of a surrogate pair, which UTF-8 cannot encode, is not printable either.
    if not isinstance(email, str) or len(email) > LONGEST_ADDRESS or not email.isprintable():
        return ""
    try:
        validate_address(email)
    except ValidationError:
        return ""
    return email


def forget_documents() -> None:
    """Forget what this process knows of the provider."""
    _documents.known.clear()


def is_safe(url: str) -> bool:
    """Return True for an https URL, or an http one of this machine, without user, password and fragment."""
    if not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises ValueError if the port is not a number
    except ValueError:
        return False
    if not parts.hostname or "@" in parts.netloc or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOCAL)


Document = dict[str, Any]


class _Documents:
    """The provider's JSON documents by URL, each read by one thread at a time. A failure is remembered, too.

    They are in the memory of the process, because the shared cache is empty while Redis is down.
    """

    def __init__(self) -> None:
        self.known: dict[str, tuple[float, Document | ProviderFailed]] = {}
        self._lock = threading.Lock()

    def read(self, url: str, deadline: Deadline, check: Callable[[Document], None], *, fresh: bool = False) -> Document:
        """Return a document that is at most `KEPT` seconds old, or `OLD_KEPT` while another thread reads it again.

        :param check: a function that raises `BadAnswer` for a document that cannot be used.
        :param fresh: whether it must be at most `KEYS_KEPT` seconds old, also while another thread reads it.
        :raises ProviderFailed: it cannot be read, or could not a moment ago.
        """
        kept = KEYS_KEPT if fresh else KEPT
        if (known := self._recent(url, kept)) is not None:
            return known
        old = None if fresh else self._recent(url, OLD_KEPT)
        try:
            with _waiting(), self._locked(min(LONGEST_WAIT, deadline.left()) if old is None else 0):
                if (known := self._recent(url, kept)) is not None:  # another thread has read it meanwhile
                    return known
                try:
                    document = _json_object(*_send(url, deadline))
                    check(document)
                except ProviderFailed as failure:
                    self.known[url] = time.monotonic(), failure.again()
                    raise
                self.known[url] = time.monotonic(), document
                return document
        except Busy:
            if old is None:
                raise
            return old

    def _recent(self, url: str, kept: float) -> Document | None:
        """Return a known document that is less than `kept` seconds old, or None.

        :raises ProviderFailed: it could not be read a moment ago.
        """
        read_at, known = self.known.get(url, (0.0, None))
        age = time.monotonic() - read_at
        if isinstance(known, ProviderFailed) and age < FAILURE_KEPT:
            raise known.again()
        return known if isinstance(known, dict) and age < kept else None

    @contextmanager
    def _locked(self, seconds: float) -> Iterator[None]:
        """Let no other thread read a document inside this `with` block.

        :raises Busy: another thread reads one for longer than these seconds.
        """
        if not self._lock.acquire(timeout=seconds):
            raise Busy("is answering another request")
        try:
            yield
        finally:
            self._lock.release()


_documents: Final = _Documents()
_threads: Final = threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def _waiting() -> Iterator[None]:
    """Count this thread as one that waits for the provider, or for the call of another thread.

    :raises Busy: `AT_ONCE` threads wait already.
    """
    # To wait until one of them is done would block this thread, too.
    if not _threads.acquire(blocking=False):
        raise Busy(f"has {AT_ONCE} calls under way")
    try:
        yield
    finally:
        _threads.release()


def _check_discovery(document: Document) -> None:
    if document.get("issuer") != settings.OIDC_ISSUER:
        raise BadAnswer("has a discovery document of another issuer: OIDC_ISSUER must be the same, letter by letter")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"):
        url = document.get(name)
        if url is None and name == "userinfo_endpoint":
            continue
        if not isinstance(url, str) or not is_safe(url):
            raise BadAnswer(f"has a discovery document whose {name} is no https URL")


def _check_keys(document: Document) -> None:
    if not isinstance(document.get("keys"), list):
        raise BadAnswer("has keys that are no JSON Web Key Set")


def _tokens(endpoints: Endpoints, code: str, verifier: str, redirect_uri: str, deadline: Deadline) -> Document:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    headers = {}
    if endpoints.posts_secret:
        form |= {"client_id": settings.OIDC_CLIENT_ID, "client_secret": settings.OIDC_CLIENT_SECRET}
    else:
        # Both are encoded like a form first (RFC 6749, 2.3.1).
        pair = f"{quote_plus(settings.OIDC_CLIENT_ID)}:{quote_plus(settings.OIDC_CLIENT_SECRET)}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    with _waiting():
        status, content = _send(endpoints.token, deadline, form=form, headers=headers)
    if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED):
        error = _json_object(HTTPStatus.OK, content).get("error")
        if error == "invalid_grant":
            raise CodeRefused
        raise BadAnswer(f"did not exchange a code: {error if error in REFUSALS else 'for another reason'}")
    return _json_object(status, content)


def _verified_claims(token: object, endpoints: Endpoints, deadline: Deadline) -> Document:
    """Return the claims of an ID token whose signature, issuer, audience and times are right."""
    import jwt  # noqa: PLC0415  # takes megabytes, and most sites have no provider

    if not isinstance(token, str):
        raise BadAnswer("sent no ID token")
    try:
        header = jwt.get_unverified_header(token)
        key = _key(header, endpoints.keys, deadline) or _key(header, endpoints.keys, deadline, fresh=True)
        if key is None:
            raise BadAnswer("sent an ID token that is signed by none of its keys")
        claims: Document = jwt.decode(
            token,
            key,
            algorithms=list(ALGORITHMS),
            audience=settings.OIDC_CLIENT_ID,
            issuer=settings.OIDC_ISSUER,
            leeway=LEEWAY,
            options={"require": ["iss", "sub", "aud", "exp", "iat"]},
        )
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
        raise BadAnswer(f"sent an ID token that is not valid: {type(error).__name__}") from error
    # With a single audience, which is this site, the provider may leave `azp` out.
    alone = claims["aud"] in (settings.OIDC_CLIENT_ID, [settings.OIDC_CLIENT_ID])
    if claims.get("azp", settings.OIDC_CLIENT_ID if alone else None) != settings.OIDC_CLIENT_ID:
        raise BadAnswer("sent an ID token for another client")
    return claims


def _key(header: Mapping[str, Any], url: str, deadline: Deadline, *, fresh: bool = False) -> jwt.PyJWK | None:
    """Return the provider's key for an ID token with this header, or None. Without a `kid` the only one will do."""
    import jwt  # noqa: PLC0415  # as above

    algorithm, kid = header.get("alg"), header.get("kid")
    document = _documents.read(url, deadline, _check_keys, fresh=fresh)
    fitting = [
        key
        for key in document["keys"]
        if isinstance(key, dict)
        and (kid is None or key.get("kid") == kid)
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
    ]
    if algorithm not in ALGORITHMS or len(fitting) != 1:
        return None
    return jwt.PyJWK(fitting[0], algorithm)


def _userinfo(url: str, access_token: object, subject: str, deadline: Deadline) -> Document:
    """Return what the provider says of the person besides the ID token (OpenID Connect Core 1.0, 5.3)."""
    if not isinstance(access_token, str) or not access_token.isascii() or not access_token.isprintable():
        raise BadAnswer("sent no access token")
    with _waiting():
        claims = _json_object(*_send(url, deadline, headers={"Authorization": f"Bearer {access_token}"}))
    if claims.get("sub") != subject:
        raise BadAnswer("sent facts about another person than that of the ID token")
    return claims


def _json_object(status: int, content: bytes) -> Document:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise Unreachable(f"answered {status}")
    if status != HTTPStatus.OK:
        raise BadAnswer(f"answered {status}")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadAnswer("answered what is not JSON") from error
    if not isinstance(found, dict):
        raise BadAnswer("answered what is no JSON object")
    return found


@cache
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()  # reading all authorities takes longer than a page


def _send(
    url: str, deadline: Deadline, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    """Send a GET, or a POST with a form, and return the status and the body of the answer. Call it inside `_waiting`.

    :raises Unreachable: no connection.
    :raises TooSlow: the answer was not complete in time.
    :raises BadAnswer: it is not HTTP, or longer than `LONGEST`.
    """
    parts = urlsplit(url)
    assert parts.hostname is not None
    done, connection = threading.Event(), _connection(parts.scheme, parts.hostname, parts.port, deadline)
    # A timeout of the socket starts again with each byte, so a slow server could hold the thread for hours.
    threading.Thread(target=_cut_off, args=(connection, done, deadline.left()), daemon=True).start()
    try:
        body = None if form is None else urlencode(form)
        sent = {"Accept": "application/json", "User-Agent": "no-mercy", **(headers or {})}
        if form is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET" if form is None else "POST", path, body, sent)
        answer = connection.getresponse()
        content = answer.read(LONGEST + 1)
    except (OSError, HTTPException, ValueError) as error:
        deadline.left()  # if it is over, the error is only the end of the connection
        if isinstance(error, TimeoutError):
            raise TooSlow("did not answer in time") from error
        if isinstance(error, OSError):
            raise Unreachable(f"cannot be reached: {type(error).__name__}") from error
        raise BadAnswer(f"answered what is not HTTP: {type(error).__name__}") from error
    finally:
        done.set()
        connection.close()
    deadline.left()
    if len(content) > LONGEST:
        raise BadAnswer(f"answered more than {LONGEST} bytes")
    return answer.status, content


def _connection(scheme: str, host: str, port: int | None, deadline: Deadline) -> HTTPConnection:
    connection = HTTPConnection(host, port, timeout=deadline.left())
    if scheme == "https":
        connection = HTTPSConnection(host, port, timeout=deadline.left(), context=_certificates())
    connection._create_connection = partial(_connect, deadline)  # type: ignore[attr-defined]  # missing in the stubs
    return connection


def _connect(deadline: Deadline, address: tuple[str, int], *timeout_and_source: object) -> socket.socket:
    """Connect to the first of a host's addresses that answers. Python's own function gives each the whole time.

    :raises OSError: none answers.
    :raises TooSlow: the time is over.
    """
    found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
    for at, (family, kind, protocol, _, where) in enumerate(found):
        one = socket.socket(family, kind, protocol)
        try:
            one.settimeout(deadline.left() / (len(found) - at))
            one.connect(where)
        except BaseException as error:
            one.close()
            if not isinstance(error, OSError) or at == len(found) - 1:
                raise
        else:
            one.settimeout(deadline.left())
            return one
    raise OSError("the host has no address")


def _cut_off(connection: HTTPConnection, done: threading.Event, seconds: float) -> None:
    """End a connection that is not `done` after some seconds, also one that is only being made then."""
    wait = seconds
    while not done.wait(wait):
        wait = 0.1
        if connection.sock is not None:
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)  # the thread that reads gets the end of the answer
