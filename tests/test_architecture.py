"""Writes are made in `actions`, reads in `queries`: doors parse, ask, act and render."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from nomercy.place import CHECKOUT

MANAGERS = {"objects", "_default_manager", "_base_manager"}
WRITES = {"save", "delete", "create", "get_or_create", "update_or_create", "bulk_create", "bulk_update"}
NEITHER = (
    "accounts/forms.py",
    "accounts/middleware.py",
    "accounts/views.py",
    "games/alarm.py",
    "games/announce.py",
    "games/api",
    "games/emails.py",
    "games/live",
    "games/render",
    "games/tasks.py",
    "games/templatetags",
    "games/web",
)
"""What neither reads nor writes by itself."""
NO_WRITES = (
    "accounts/admin.py",
    "accounts/queries.py",
    "games/admin",
    "games/management",
    "games/models/rows.py",
    "games/queries",
)
"""What does not write. Django's admin and the shell's commands read by querysets of their own."""


def modules(places: tuple[str, ...]) -> list[str]:
    """The Python files of these places, as paths in the checkout."""
    found = [path for place in places for path in (CHECKOUT / place).rglob("*.py")]
    found += [CHECKOUT / place for place in places if place.endswith(".py")]
    return sorted(str(path.relative_to(CHECKOUT)) for path in found)


def reads(code: str) -> Iterator[int]:
    """The lines that ask the database by a model's manager."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and node.attr in MANAGERS:
            yield node.lineno


def writes(code: str) -> Iterator[int]:
    """The lines that write rows: by a manager, a queryset (whose `update` takes names only) or a row's own methods."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            updates = node.func.attr == "update" and isinstance(node.func.value, ast.Call) and not node.args
            if node.func.attr in WRITES or updates:
                yield node.lineno


BAD = (
    "Game.objects.filter(pk=1).update(version=2)",
    "seat.save(update_fields=['name'])",
    "notices.filter(user=user).delete()",
    "Report.objects.create(case=case)",
)
GOOD = (
    "table = queries.load_for(code, user)",
    "play.play_move(code=code, user=user, text=text, version=3, now=now)",
    "context.update({'page': page})",
    "digest.update(secret)",
    "games = lists.games_of(user)[:20]",
)


@pytest.mark.parametrize("line", BAD)
def test_a_write_is_seen(line: str) -> None:
    assert list(writes(line)) == [1]


@pytest.mark.parametrize("line", GOOD)
def test_what_is_none_is_not(line: str) -> None:
    assert (list(writes(line)), list(reads(line))) == ([], [])


def test_a_read_is_seen() -> None:
    assert list(reads("game = Game.objects.get(code=code)")) == [1]


@pytest.mark.parametrize("module", modules(NEITHER))
def test_a_door_asks_queries_and_calls_actions(module: str) -> None:
    code = Path(CHECKOUT / module).read_text()
    assert (list(reads(code)), list(writes(code))) == ([], [])


@pytest.mark.parametrize("module", modules(NO_WRITES))
def test_who_reads_writes_nothing(module: str) -> None:
    assert list(writes(Path(CHECKOUT / module).read_text())) == []
