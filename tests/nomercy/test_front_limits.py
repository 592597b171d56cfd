"""Proxies have the same limits as the servers behind them, and the docs state them."""

from __future__ import annotations

import json
import re
from http import HTTPStatus

import pytest

from games.refusals import Denied
from nomercy.launcher.place import CHECKOUT
from nomercy.server.limits import LIMITS
from nomercy.server.waiting import ENOUGH_FILES

CADDY = (CHECKOUT / "docker" / "Caddyfile").read_text()
OPERATIONS = (CHECKOUT / "docs" / "operations.md").read_text()
NGINX = (CHECKOUT / "docker" / "nginx" / "site.conf").read_text()
CONNECTIONS = (CHECKOUT / "docker" / "nginx" / "connections.conf").read_text()


def number(pattern: str, text: str) -> int:
    """Return the number that the pattern finds. All matches must be equal."""
    (found,) = set(re.findall(pattern, text))
    return int(found)


def test_proxies_accept_bodies_of_the_same_length() -> None:
    assert number(r"max_size (\d+)", CADDY) == LIMITS.body_bytes
    assert number(r"int\(\{header\.Content-Length\}\) > (\d+)", CADDY) == LIMITS.body_bytes
    assert number(r"client_max_body_size (\d+)k;", NGINX) * 1024 == LIMITS.body_bytes


def test_proxies_wait_equally_long_for_headers() -> None:
    assert number(r"read_header (\d+)s", CADDY) == LIMITS.head_seconds
    assert number(r"send_timeout (\d+)s;", NGINX) == LIMITS.write_seconds
    assert number(r"client_header_timeout (\d+)s;", NGINX) == LIMITS.head_seconds


@pytest.mark.parametrize("waits", [number(r"read_body (\d+)s", CADDY), number(r"client_body_timeout (\d+)s;", NGINX)])
def test_servers_refuse_a_slow_body_before_proxies_do(waits: int) -> None:
    assert LIMITS.body_seconds < waits <= 2 * LIMITS.body_seconds
    assert "proxy_request_buffering off;" in NGINX


def test_nginx_has_the_connection_limit_of_the_servers() -> None:
    assert number(r"limit_conn network (\d+);", CONNECTIONS) == LIMITS.waiting_connections


def test_the_docs_state_the_limits() -> None:
    table = OPERATIONS.partition("### Slow and large requests")[2].partition("## ")[0]
    for said in (
        f"{LIMITS.head_seconds:.0f} s from its first byte, {LIMITS.head_bytes // 1024} KB, {LIMITS.head_lines} lines",
        f"{LIMITS.body_seconds:.0f} s more; 2.5 MB ({LIMITS.body_bytes:,} bytes)",
        f"{LIMITS.write_seconds:.0f} s |",
        f"{LIMITS.unsent_bytes >> 20} MB; {LIMITS.unsent_bytes_of_neighbours >> 20} MB of the same",
        f"{LIMITS.open_requests} in each process",
        f"{LIMITS.open_requests_of_neighbours}, with 80 MB, of the same",
        f"at most {LIMITS.few_requests} requests, {LIMITS.few_bytes // 1024} KB of bodies",
        f"{LIMITS.few_unsent_bytes >> 20} MB of\nanswers or {LIMITS.few_connections} new connections",
        f"{LIMITS.new_connections} in {LIMITS.new_seconds:.0f} s, {LIMITS.new_connections_of_neighbours:,} of the same",
        f"{LIMITS.in_threads} of 10, and {LIMITS.in_threads_of_neighbours} of 10 of the same",
        f"{LIMITS.waiting_connections}, at",
        f"websocket | {LIMITS.head_seconds:.0f} s |",
        f"{LIMITS.socket_bytes:,} bytes in {LIMITS.socket_seconds:.0f} s",
        f"{ENOUGH_FILES:,}",
    ):
        assert said in table, said


def test_proxies_do_not_compress() -> None:
    assert "encode" not in CADDY
    assert "gzip off;" in NGINX


@pytest.mark.parametrize("name", ["maintenance.html", "maintenance.json"])
def test_proxies_answer_while_the_site_is_stopped(name: str) -> None:
    assert f"/{name}" in NGINX
    assert "error_page 502 503 504 =503 $maintenance;" in NGINX
    assert f"/{name}" in CADDY
    assert "{http.error.status_code} in [502, 503, 504]" in CADDY
    assert f'"./{name}:/etc/nginx/maintenance/{name}:ro"' in (CHECKOUT / "docker" / "compose.yaml").read_text()
    assert (CHECKOUT / "docker" / name).stat().st_mode & 0o004
    assert "add_header Retry-After 30 always;" in NGINX
    assert "header Retry-After 30" in CADDY


def test_a_call_of_the_api_then_gets_an_error_object() -> None:
    given = json.loads((CHECKOUT / "docker" / "maintenance.json").read_text())
    assert given == Denied(given["error"], given["message"]).to_json()
    assert Denied(given["error"], given["message"]).status == HTTPStatus.SERVICE_UNAVAILABLE


def test_the_page_then_needs_nothing_of_the_site() -> None:
    page = (CHECKOUT / "docker" / "maintenance.html").read_text()
    assert not re.search(r"""(src|href)=["'][^"']""", page)
    assert "games are saved" in page


def test_no_user_of_the_host_can_change_what_caddy_serves() -> None:
    assert "\tadmin off\n" in CADDY


def test_caddy_is_told_to_have_no_limit_by_address() -> None:
    assert "\t\tprotocols h1\n" in CADDY  # or a connection has many requests at once
    for said in ("Caddy has no limit by address", "ip saddr ct count over", "ip6 saddr and ffff:ffff:ffff:ffff::"):
        assert said in OPERATIONS, said
