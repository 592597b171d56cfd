"""Talk to the OpenID provider (`OIDC_ISSUER`): read its documents, and find out who somebody is there.

This knows neither sessions nor users. Redirects are not followed, and certificates are verified.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, cast
from urllib.parse import quote_plus, urlsplit

import jwt
import requests
from django.conf import settings
from django.core.cache import caches
from django.core.exceptions import ValidationError
from django.utils.crypto import constant_time_compare

from mail.addresses import LONGEST_ADDRESS, validate_address

SECONDS: Final = (3.0, 8.0)
"""How long a call waits for the connection, and then for each part of the answer."""
LONGEST: Final = 262_144
"""The most bytes of an answer of the provider."""
KEPT: Final = 300
"""For how many seconds a document of the provider is used again."""
FAILURE_KEPT: Final = 15
"""For how many seconds a document that could not be read is not asked for again."""
ALGORITHMS: Final = ("RS256", "PS256", "ES256", "EdDSA")
"""How an ID token may be signed: with a key pair of the provider, not with the client's secret."""
LEEWAY: Final = 60
"""By how many seconds the provider's clock may differ."""
LONGEST_SUBJECT: Final = 191
"""The most characters of a subject that allauth's column stores."""
LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
REFUSALS: Final = frozenset({"invalid_client", "invalid_request", "invalid_scope", "unauthorized_client"})
"""The errors of a token endpoint (RFC 6749, 5.2) that the log names. An endpoint may send any text."""

Document = dict[str, Any]


class ProviderFailed(Exception):
    """The provider cannot be used now. The message is for the log, and names no person.

    `repeated` is True if no call was made, because the same one has just failed.
    """

    status = HTTPStatus.BAD_GATEWAY
    repeated = False


class BadAnswer(ProviderFailed):
    """The provider answered what no provider may answer, or refused this site."""


class Unreachable(ProviderFailed):
    """There is no connection, or the provider has an error of its own."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


class TooSlow(ProviderFailed):
    """The provider did not answer in time."""

    status = HTTPStatus.GATEWAY_TIMEOUT


class CodeRefused(Exception):
    """The provider does not accept the code: it was used before, or it has expired."""


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


def read_endpoints() -> Document:
    """Return the provider's discovery document (OpenID Connect Discovery 1.0), with URLs that are safe to use.

    :raises ProviderFailed: it cannot be read, or is not that of `OIDC_ISSUER`.
    """
    return _document(f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration", _check_endpoints)


def _check_endpoints(document: Document) -> None:
    if document.get("issuer") != settings.OIDC_ISSUER:
        raise BadAnswer("has a discovery document of another issuer: OIDC_ISSUER must be the same, letter by letter")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"):
        url = document.get(name)
        if not is_safe(url) and not (url is None and name == "userinfo_endpoint"):
            raise BadAnswer(f"has a discovery document whose {name} is no https URL")


def _check_keys(document: Document) -> None:
    try:
        jwt.PyJWKSet.from_dict(document)
    except (jwt.PyJWTError, AttributeError) as error:
        raise BadAnswer("has keys that are no JSON Web Key Set") from error


def redeem(*, code: str, verifier: str, nonce: str, redirect_uri: str) -> Person:
    """Exchange the code of a callback for the provider's word on who the person is.

    :param verifier: the PKCE code verifier (RFC 7636) with which the log-in began.
    :param nonce: the nonce with which it began.
    :param redirect_uri: the address of the callback, as at the beginning.
    :raises CodeRefused: the code was used before, has expired, or was not made for this log-in.
    :raises ProviderFailed: the provider cannot be reached, is too slow, or its answer proves nothing.
    """
    endpoints = read_endpoints()
    tokens = _tokens(endpoints, {"code": code, "redirect_uri": redirect_uri, "code_verifier": verifier})
    claims = _verified_claims(tokens.get("id_token"), endpoints["jwks_uri"])
    sent = str(claims.get("nonce", ""))
    if not (sent.isascii() and constant_time_compare(sent, nonce)):
        raise BadAnswer("sent an ID token with another nonce")
    subject = claims["sub"]
    if not (isinstance(subject, str) and 0 < len(subject) <= LONGEST_SUBJECT and subject.isprintable()):
        raise BadAnswer(f"sent a subject that is no text of at most {LONGEST_SUBJECT} characters")
    facts = claims  # all from one source: an address is not confirmed because another one is
    if "email" not in claims and endpoints.get("userinfo_endpoint"):
        facts = _userinfo(endpoints["userinfo_endpoint"], tokens.get("access_token"), subject)
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


def is_safe(url: object) -> bool:
    """Return True for an https URL, or an http one of this machine, without user, password and fragment."""
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises ValueError if the port is not a number
    except ValueError:
        return False
    if not parts.hostname or "@" in parts.netloc or parts.fragment:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOCAL)


def _document(url: str, check: Callable[[Document], None], *, fresh: bool = False) -> Document:
    """Return a document of the provider that is at most `KEPT` seconds old, or just read if it must be `fresh`.

    :param check: a function that raises `BadAnswer` for a document that cannot be used.
    :raises ProviderFailed: it cannot be read, or could not a moment ago.
    """
    kept = caches["process"].get(url)
    if isinstance(kept, str):
        failure = {one.__name__: one for one in (BadAnswer, Unreachable, TooSlow)}[kept]("failed just now")
        failure.repeated = True
        raise failure
    if kept is not None and not fresh:
        return cast("Document", kept)
    try:
        document = _json_object(*_call("GET", url))
        check(document)
    except ProviderFailed as error:
        caches["process"].set(url, type(error).__name__, FAILURE_KEPT)
        raise
    caches["process"].set(url, document, KEPT)
    return document


def _tokens(endpoints: Document, form: Mapping[str, str]) -> Document:
    client = {"client_id": settings.OIDC_CLIENT_ID, "client_secret": settings.OIDC_CLIENT_SECRET}
    methods = endpoints.get("token_endpoint_auth_methods_supported")
    in_form = isinstance(methods, list) and "client_secret_post" in methods
    status, content = _call(
        "POST",
        endpoints["token_endpoint"],
        data={"grant_type": "authorization_code", **form, **(client if in_form else {})},
        # Both are encoded like a form first (RFC 6749, 2.3.1).
        auth=None if in_form else (quote_plus(client["client_id"]), quote_plus(client["client_secret"])),
    )
    if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED):
        error = _json_object(HTTPStatus.OK, content).get("error")
        if error == "invalid_grant":
            raise CodeRefused
        raise BadAnswer(f"did not exchange a code: {error if error in REFUSALS else 'for another reason'}")
    return _json_object(status, content)


def _verified_claims(token: object, keys_url: str) -> Document:
    """Return the claims of an ID token whose signature, issuer, audience and times are right."""
    if not isinstance(token, str):
        raise BadAnswer("sent no ID token")
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        key = _key(kid, keys_url) or _key(kid, keys_url, fresh=True)
        if key is None:
            raise BadAnswer("sent an ID token that is signed by none of its keys")
        claims: Document = jwt.decode(
            token,
            key.key,
            algorithms=ALGORITHMS,
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


def _key(kid: object, url: str, *, fresh: bool = False) -> jwt.PyJWK | None:
    """Return the provider's key of this id, or None. Without an id the only one will do."""
    found = jwt.PyJWKSet.from_dict(_document(url, _check_keys, fresh=fresh)).keys
    keys = [key for key in found if kid in (None, key.key_id)]
    return keys[0] if len(keys) == 1 else None


def _userinfo(url: str, access_token: object, subject: str) -> Document:
    """Return what the provider says of the person besides the ID token (OpenID Connect Core 1.0, 5.3)."""
    if not isinstance(access_token, str) or not access_token.isascii() or not access_token.isprintable():
        raise BadAnswer("sent no access token")
    claims = _json_object(*_call("GET", url, headers={"Authorization": f"Bearer {access_token}"}))
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


def _call(method: str, url: str, **more: Any) -> tuple[int, bytes]:
    """Call the provider, and return the status and the body of its answer. `more` is as for `requests.request`.

    :raises Unreachable: no connection, the answer stopped, or it is not HTTP.
    :raises TooSlow: no answer began in time.
    :raises BadAnswer: it is longer than `LONGEST`.
    """
    content = b""
    with requests.Session() as session:
        session.trust_env = False  # no proxy, and no password of ~/.netrc in place of ours
        # The machine's authorities, where the operator can add one. Those of the library are those of browsers.
        authorities = ssl.get_default_verify_paths()
        session.verify = authorities.cafile or authorities.capath or True
        try:
            answer = session.request(method, url, timeout=SECONDS, allow_redirects=False, stream=True, **more)
            for part in answer.iter_content(65_536):
                content += part
                if len(content) > LONGEST:
                    raise BadAnswer(f"answered more than {LONGEST} bytes")
        except requests.Timeout as error:
            raise TooSlow("did not answer in time") from error
        except requests.RequestException as error:
            raise Unreachable(f"cannot be reached: {_cause(error)}") from error
    return answer.status_code, content


def _cause(error: BaseException) -> str:
    """Return the name of the first error in the chain, like `ConnectionRefusedError`."""
    while error.__context__ is not None:
        error = error.__context__
    return type(error).__name__
