"""What is logged about requests, and how little of it a client can choose."""

from __future__ import annotations

import io
import json
import re
from http import HTTPStatus
from typing import Any

import pytest
import structlog
from django.test import Client

from nomercy.log_throttle import ThrottleFilter
from nomercy.logs import LONGEST_TRACEBACK, LONGEST_VALUE, lines
from tests.nomercy.conftest import written_log

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("log_of_a_site")]
LONG = "a" * 16_000


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return what the site's handler writes. It has logged nothing yet."""
    return written_log(monkeypatch, ThrottleFilter())


def test_unknown_hosts_log_one_short_line_a_minute(written: io.StringIO) -> None:
    for number in range(5):
        assert Client().get("/rules/", headers={"host": f"{LONG}{number}"}).status_code == 400
    logged = written.getvalue().splitlines()
    (refusal,) = [line for line in logged if "DisallowedHost" in line]
    assert "[warning" in refusal
    assert "Traceback" not in written.getvalue()
    assert "Invalid HTTP_HOST header: 'aaaa" in refusal
    assert max(map(len, logged)) < 500


def test_an_unknown_method_is_logged_as_other(written: io.StringIO) -> None:
    Client().generic(LONG, "/rules/")
    Client().generic("PATCH", "/rules/")
    methods = [line for line in written.getvalue().splitlines() if "method=" in line]
    assert ["method=other" in line for line in methods] == [True, False]
    assert "method=PATCH" in methods[1]
    assert max(map(len, methods)) < 500


def test_the_front_page_has_a_route(written: io.StringIO) -> None:
    Client().get("/")
    assert "route=/ " in written.getvalue()


@pytest.mark.long
def test_the_status_of_a_request_is_logged_as_a_number(written: io.StringIO) -> None:
    assert Client().post("/play-now/").status_code == HTTPStatus.SEE_OTHER
    assert Client().post("/tables/new/", {"players": "9"}).status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert re.findall(r"status=(\S+)", written.getvalue()) == ["303", "422"]


def rendered(form: str, **event: Any) -> str:
    """Return the log line of this event."""
    values: Any = event
    for processor in lines(form).processors[1:]:
        values = processor(None, "info", values)
    return str(values)


@pytest.mark.parametrize("form", ["console", "json"])
@pytest.mark.parametrize("value", [LONG, LONG.encode(), [LONG], ValueError(LONG)])
def test_a_long_value_is_cut(form: str, value: object) -> None:
    line = rendered(form, event=LONG, value=value)
    assert len(line) < 2 * LONGEST_VALUE + 300
    assert "characters left out" in line


def test_short_values_are_not_changed() -> None:
    event = {"event": "request", "ms": 1.5, "user": 7, "route": None, "codes": ["a", "b"]}
    assert json.loads(rendered("json", **event)) == event


def fail() -> None:
    raise ValueError(100 * LONG + "the end")


@pytest.mark.parametrize("form", ["console", "json"])
def test_both_ends_of_a_long_traceback_are_logged(form: str) -> None:
    with pytest.raises(ValueError, match="the end") as raised:
        fail()
    line = rendered(form, event="broken", exc_info=raised.value)
    assert "Traceback (most recent call last)" in line
    assert line.rstrip('"}').endswith("the end")
    assert len(line) < LONGEST_TRACEBACK + 1_000


def test_long_values_are_cut_in_the_lines_of_the_site(written: io.StringIO) -> None:
    structlog.get_logger("games").info("moved", value=LONG)
    assert len(written.getvalue()) < LONGEST_VALUE + 300
