"""Calls of the API in tests, and its error objects."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from accounts.models import User
from tests.conftest import api_token


class Program:
    """A client with a person's token."""

    def __init__(self, user: User) -> None:
        self.client = Client(headers={"authorization": f"Bearer {api_token(user)}"})

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"/api/v1/{path}", query)

    def post(self, path: str, body: Any = None) -> Any:
        data = body if isinstance(body, str | bytes) else json.dumps(body)
        return self.client.post(f"/api/v1/{path}", data, content_type="application/json")

    def move(self, code: str, move: str, version: int | None = 0, **more: Any) -> Any:
        return self.post(f"games/{code}/moves", {"move": move, "version": version, **more})


def refusal(response: Any) -> tuple[int, str]:
    """Return the status of a refused call, and the code of its error object."""
    answer = response.json()
    assert set(answer) == {"error", "message", "rule", "version"} | ({"view"} if answer["error"] == "stale" else set())
    assert response.headers["Content-Type"].startswith("application/json")
    assert answer["message"].endswith((".", "?")), answer
    return response.status_code, answer["error"]
