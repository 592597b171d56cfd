"""The documentation page of the API, made from its OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase

Schema = Mapping[str, Any]
REF: Final = "#/components/schemas/"
REFUSED: Final = 400


class ReadablePage(DocsBase):
    """Shows every call with its parameters, body and responses as a page of the site, without scripts."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        return render(request, "api.html", self._contents(api))

    @cache  # noqa: B019  # there is one API a process
    def _contents(self, api: NinjaAPI) -> dict[str, Any]:
        document = api.get_openapi_schema()
        schemas = document["components"]["schemas"]
        return {
            "calls": list(_calls(document)),
            "objects": list(_objects(document)),
            "options": _fields(schemas["NewGame"]["properties"]["options"]),
            "events": [_event(event) for event in schemas["MoveOut"]["properties"]["events"]["items"]["anyOf"]],
        }


def _calls(document: Schema) -> Iterator[dict[str, Any]]:
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            yield {
                "id": f"{method}-{path.removeprefix('/api/v1/').translate(str.maketrans('/', '-', '{}'))}",
                "method": method.upper(),
                "path": path,
                "summary": call.get("summary", ""),
                "description": call.get("description", ""),
                "parameters": [_parameter(parameter) for parameter in call.get("parameters") or ()],
                "body": _content(call.get("requestBody")),
                "answers": [
                    _answer(status, answer) for status, answer in call["responses"].items() if int(status) < 400
                ],
                "refusals": [int(status) for status in call["responses"] if int(status) >= 400],
            }


def _parameter(parameter: Schema) -> dict[str, Any]:
    about = parameter["schema"]
    if "anyOf" in about:  # a query cannot contain null
        about = about | {"anyOf": [one for one in about["anyOf"] if one.get("type") != "null"]}
    field = _field(parameter["name"], about, required=parameter["required"])
    return field | {"where": "in the path" if parameter["in"] == "path" else "in the query"}


def _answer(status: object, answer: Schema) -> dict[str, Any]:
    return {"status": f"{status} {HTTPStatus(int(str(status))).phrase}", "gives": _content(answer)}


def _content(part: Schema | None) -> dict[str, str] | None:
    """Return the media type of a body (`kind`) and the name of its object, which may be empty. None for no body."""
    for kind, content in (part or {}).get("content", {}).items():
        schema = content.get("schema", {})
        refs = [one["$ref"] for one in (schema, *schema.get("anyOf", ())) if "$ref" in one]
        return {"kind": kind, "object": refs[0].removeprefix(REF) if refs else ""}
    return None


def _objects(document: Schema) -> Iterator[dict[str, Any]]:
    for name, schema in document["components"]["schemas"].items():
        yield {"name": name, "description": schema.get("description", ""), "fields": _fields(schema)}


def _fields(schema: Schema) -> list[dict[str, Any]]:
    required = schema.get("required", ())
    return [_field(name, about, required=name in required) for name, about in schema["properties"].items()]


def _event(schema: Schema) -> dict[str, Any]:
    fields = [
        _field(name, about, required=False) | {"optional": name not in schema["required"]}
        for name, about in schema["properties"].items()
        if name not in ("kind", "seat")  # every event has them
    ]
    return {"kind": schema["title"], "sentence": schema["description"], "fields": fields}


def _field(name: str, about: Schema, *, required: bool) -> dict[str, Any]:
    notes = [one.get("description", "") for one in (about, *about.get("anyOf", ()))]
    notes += [
        str(one["minimum"]) if one.get("minimum") == one.get("maximum") else _range(one)
        for one in (about, *about.get("anyOf", ()))
        if "minimum" in one or "maximum" in one
    ]
    if "maxLength" in about:
        notes.append(f"at most {about['maxLength']} characters")
    if about.get("default") is not None:
        notes.append(
            f"{str(about['default']).lower() if isinstance(about['default'], bool) else about['default']} by default"
        )
    elif required:
        notes.append("required")
    return {"name": name, "type": _type(about), "notes": "; ".join(filter(None, notes))}


def _range(about: Schema) -> str:
    return f"{about.get('minimum', '…')} to {about.get('maximum', '…')}"


def _type(about: Schema) -> str:
    """Return a JSON type in words: `whole number or null`, `list of SeatOut`."""
    if "$ref" in about:
        return str(about["$ref"]).removeprefix(REF)
    if "allOf" in about:
        return " and ".join(map(_type, about["allOf"]))
    if "const" in about.get("properties", {}).get("kind", {}):
        return "event"  # the page has a table of their kinds
    if "anyOf" in about and "type" not in about:
        return " or ".join(dict.fromkeys(map(_type, about["anyOf"])))
    if "enum" in about:
        return " or ".join(map(str, about["enum"]))
    if about.get("type") == "array":
        return f"list of {_type(about.get('items', {}))}"
    words = {"string": "text", "integer": "whole number", "boolean": "true or false", "date-time": "time, ISO 8601"}
    kind = str(about.get("format") or about.get("type") or "anything")
    return words.get(kind, kind)
