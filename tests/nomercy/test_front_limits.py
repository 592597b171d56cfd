"""Proxies have the same limits as the servers behind them, and the docs state them."""

from __future__ import annotations

import json
import re
from http import HTTPStatus

import pytest
from django.conf import settings

from games.refusals import Denied
from nomercy.launcher.place import CHECKOUT
from nomercy.launcher.whole_requests import MOST_BYTES
from nomercy.limited_sockets import MOST, SECONDS
from nomercy.middleware import BODY_SECONDS
from nomercy.waiting_calls import MOST_OF_ONE

CADDY = (CHECKOUT / "docker" / "Caddyfile").read_text()
LIMITS_PAGE = (CHECKOUT / "docs" / "limits.md").read_text()
OPERATIONS = (CHECKOUT / "docs" / "operations.md").read_text()
NGINX = (CHECKOUT / "docker" / "nginx" / "proxy.conf").read_text()
MAPS = (CHECKOUT / "docker" / "nginx" / "proxy_maps.conf").read_text()
CONNECTIONS = (CHECKOUT / "docker" / "nginx" / "connections.conf").read_text()


def number(pattern: str, text: str) -> int:
    """Return the number that the pattern finds. All matches must be equal."""
    (found,) = set(re.findall(pattern, text))
    return int(found)


def test_proxies_accept_bodies_of_the_same_length() -> None:
    assert number(r"max_size (\d+)", CADDY) == MOST_BYTES
    assert number(r"int\(\{header\.Content-Length\}\) > (\d+)", CADDY) == MOST_BYTES
    assert number(r"client_max_body_size (\d+)k;", NGINX) * 1024 == MOST_BYTES
    assert number(r"client_body_buffer_size (\d+)k;", NGINX) * 1024 == settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def test_proxies_wait_equally_long() -> None:
    assert number(r"read_header (\d+)s", CADDY) == number(r"client_header_timeout (\d+)s;", NGINX)
    assert number(r"read_body (\d+)s", CADDY) == number(r"client_body_timeout (\d+)s;", NGINX) == BODY_SECONDS


def test_servers_keep_idle_connections_longer_than_caddy() -> None:
    """Or Caddy would send a request on a connection that is being closed."""
    kept = number(r"keepalive (\d+)s", CADDY)
    assert number(r"keepalive = (\d+)", (CHECKOUT / "gunicorn.conf.py").read_text()) > kept
    assert number(r"--timeout-keep-alive (\d+)", (CHECKOUT / "script" / "serve").read_text()) > kept


def test_proxies_buffer_requests_and_answers() -> None:
    assert "proxy_request_buffering" not in NGINX  # on, as nginx has it
    assert "proxy_buffering" not in NGINX
    for directive in ("buffer_requests", "buffer_responses", "max_buffer_size 16MiB"):  # the names in Debian's Caddy
        assert f"\t{directive}\n" in CADDY


def test_the_docs_state_the_limits() -> None:
    table = LIMITS_PAGE.partition("## Slow and large requests")[2].partition("## ")[0]
    rate = {zone: number(rf"zone={zone}:10m rate=(\d+)r/s", MAPS) for zone in ("reads", "calls")}
    for said in (
        f"{number(r'client_header_timeout (.*)s;', NGINX)} s, two lines of 4 KB",
        f"{number(r'max_headers (.*);', NGINX)} lines |",
        f"{BODY_SECONDS:.0f} s without a byte, {MOST_BYTES // 1024} KB",
        f"{number(r'send_timeout (.*)s;', NGINX)} s without a byte",
        f"{number(r'limit_conn network (.*);', CONNECTIONS)} at once",
        f"{rate['reads']} a second, and twice as many at once",
        f"{rate['calls']} a second, and twice as many at once",
        f"{number(r'limit_conn open (.*);', NGINX)} at once",
        f"{number(r'limit_conn files (.*);', NGINX)} at once",
        f"{number(r'limit_conn websockets (.*);', NGINX):,} of all addresses",
        f"{MOST:,} bytes in {SECONDS:.0f} s",
        f"{MOST_OF_ONE} of one person",
    ):
        assert said in table, said


def test_proxies_do_not_compress() -> None:
    assert "encode" not in CADDY
    assert "gzip off;" in NGINX


@pytest.mark.parametrize("name", ["maintenance.html", "maintenance.json"])
def test_proxies_answer_while_the_site_is_stopped(name: str) -> None:
    assert f"/{name}" in MAPS
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
    assert "Caddy has no limit by address" in OPERATIONS
    rules = (CHECKOUT / "docker" / "nftables.conf").read_text()
    for rule in ("ip saddr ct count over", "ip6 saddr and ffff:ffff:ffff:ffff::"):
        assert rule in rules, rule
