"""Request every URL of a site with an https address, in a process of its own, because settings are read once.

Run `python -m tests.security.https_answers` with `SITE_URL` and `DATABASE_URL`. Prints one JSON object.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import django
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.test.utils import setup_test_environment


def cookies_of(answer: HttpResponseBase) -> list[dict[str, Any]]:
    return [{"name": name, **{k: v for k, v in morsel.items() if v != ""}} for name, morsel in answer.cookies.items()]


def main() -> None:
    django.setup()
    setup_test_environment()
    logging.disable()
    from tests.security.test_permissions import unrendered  # noqa: PLC0415  # once the settings are there
    from tests.security.urls import addresses  # noqa: PLC0415  # likewise
    from tests.security.world import World  # noqa: PLC0415  # likewise

    cookies: list[dict[str, Any]] = []
    without: list[str] = []
    with transaction.atomic():
        world, visitor = World(), Client()
        for address in addresses():
            for browser, method in ((visitor, "POST"), (world.browsers["seated"], "GET")):
                visitor.cookies.clear()
                # No header depends on what a page shows.
                with transaction.atomic(), unrendered(None if method == "GET" else ()):
                    answer = browser.generic(method, world.url(address), secure=True)
                    transaction.set_rollback(True)
                cookies += cookies_of(answer)
                if "Strict-Transport-Security" not in answer.headers:
                    without.append(f"{method} {address.key}")
        sorting = world.browsers["seated"].get(f"/games/{world.arguments['code']}/?sort=color", secure=True)
        cookies += cookies_of(sorting)
        credentials = {"login": "alice", "password": "alice"}
        guest = Client()
        guest.post("/play-now/", secure=True)
        cookies += cookies_of(guest.post("/accounts/login/", credentials, secure=True))
        cookies += cookies_of(guest.get("/move-seats/", secure=True))
        transaction.set_rollback(True)
    plain, health = Client().get("/rules/?a=1"), Client().get("/healthz")
    told = {
        "cookies": cookies,
        "hsts": sorting.headers["Strict-Transport-Security"],
        "without_hsts": without,
        "plain": [plain.status_code, plain.headers.get("Location"), cookies_of(plain)],
        "health": health.status_code,
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
