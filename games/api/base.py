"""The API object: how it parses bodies and turns every error into the error object."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, wraps
from http import HTTPStatus
from inspect import signature
from typing import Any, Final, NoReturn

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException, UnreadablePostError
from ninja import NinjaAPI, Router
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.parser import Parser

from games import refusals
from games.api.auth import SessionAuth, TokenAuth
from games.api.page import ReadablePage
from games.refusals import RETRY_SECONDS, Denied

BODY_TYPES: Final = frozenset({"application/json", "application/x-www-form-urlencoded", ""})
"""The content types of a JSON body: the right one, and what programs send without being told."""
REFUSALS: Final = (400, 401, 403, 404, 409, 413, 422, 429, 503)
"""The statuses with which any call may be refused."""


class StrictJson(Parser):
    """Parses JSON as in RFC 8259: UTF-8, no NaN, no half of a surrogate pair."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Parse the body.

        :raises Denied: `malformed`. The framework raises an `HttpError` with it as the cause.
        """
        if request.content_type not in BODY_TYPES:
            raise Denied("malformed", "Send the body as JSON, with the header Content-Type: application/json.")
        try:
            data = json.loads(request.body.decode(), parse_constant=_no_number)
            json.dumps(data, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise Denied("malformed", "The body is not valid JSON in UTF-8.") from error
        return data


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


class DocumentedAPI(NinjaAPI):
    """Caches its OpenAPI document, which takes 0.4 s to make, and adds the refusals to each call."""

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        return self._document(self.get_root_path(path_params or {}) if path_prefix is None else path_prefix)

    @cache  # noqa: B019  # there is one API a process
    def _document(self, path_prefix: str) -> OpenAPISchema:
        document = super().get_openapi_schema(path_prefix=path_prefix)
        content = {"application/json": {"schema": {"$ref": REF_TEMPLATE.format(model="ErrorOut")}}}
        # As responses of the calls, they would be a class for each call and status: 0.2 s at the start of each process.
        refused = {status: {"description": HTTPStatus(status).phrase, "content": content} for status in REFUSALS}
        for calls in document["paths"].values():
            for call in calls.values():
                call["responses"] = dict(sorted((call["responses"] | refused).items()))
        return document


api = DocumentedAPI(
    title="No Mercy",
    version="1",
    urls_namespace="api-v1",
    auth=[TokenAuth(), SessionAuth()],
    parser=StrictJson(),
    docs=ReadablePage(),
    default_router=Router(exclude_unset=True),  # for fields that are `LEFT_OUT`
    description="Play turn-based games from a program. Moves and cards are written as at /notation/.",
)


def known_query(view: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse query fields that the call does not have, after authentication and parsing of the body."""
    fields = set(signature(view).parameters)

    @wraps(view)
    def handle(request: HttpRequest, **values: Any) -> Any:
        match = request.resolver_match
        known = fields - set(match.kwargs if match else ()) - {"request", "payload"}
        unknown = sorted(set(request.GET) - known)
        if unknown:
            sentence = "Unknown query field {field}: this call takes {fields}."
            fields_taken = ", ".join(sorted(known)) or "none"
            raise Denied("malformed", sentence, field=repr(unknown[0][:40]), fields=fields_taken)
        return view(request, **values)

    return handle


api.add_decorator(known_query)


def refuse(request: HttpRequest, denied: Denied) -> HttpResponse:
    """Return the error object, with `Retry-After` or `WWW-Authenticate` where the status needs it."""
    response = api.create_response(request, denied.to_json(), status=denied.status)
    if denied.status == 503:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
        response._has_been_logged = True  # type: ignore[attr-defined]  # or Django logs the path, as in `try_again`
    if denied.code == "unauthorized":
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(Denied)
def _denied(request: HttpRequest, denied: Denied) -> HttpResponse:
    return refuse(request, denied)


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, invalid: ValidationError) -> HttpResponse:
    fault = invalid.errors[0]
    where = ".".join(str(part) for part in fault["loc"] if part not in ("body", "payload", "query"))
    denied = Denied("malformed", "{where}: {fault}.", where=where[:60] or "The body", fault=fault["msg"])
    return refuse(request, denied)


@api.exception_handler(AuthenticationError)
def _unauthorized(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return refuse(request, Denied("unauthorized", "Log in, or send a valid token: Authorization: Bearer <token>."))


@api.exception_handler(HttpError)
def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, Denied):
        return refuse(request, error.__cause__)
    code = {400: "malformed", 403: "forbidden"}.get(error.status_code, "malformed")
    return refuse(request, Denied(code, "{error}.", error=str(error).removesuffix(".")))


@api.exception_handler(DatabaseError)
@api.exception_handler(InterfaceError)
def _passing(request: HttpRequest, error: Exception) -> HttpResponse:
    denied = refusals.temporary_refusal(error)
    if denied is None:
        raise error
    return refuse(request, denied)


def _unreadable(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    return refuse(request, Denied("malformed", "The body could not be read. Send it as JSON."))


for _fault in (BadRequest, MultiPartParserError, RawPostDataException, SuspiciousOperation, UnreadablePostError):
    api.add_exception_handler(_fault, _unreadable)
