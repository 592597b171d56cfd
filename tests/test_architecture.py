"""Only `actions`, `queries` and the modules of a package for that write and read rows. Views and tasks do neither."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from allauth.account import app_settings

from nomercy.launcher.place import CHECKOUT
from tests.support.modules import modules

MANAGERS = {"objects", "_default_manager", "_base_manager"}
WRITES = {"save", "delete", "create", "get_or_create", "update_or_create", "bulk_create", "bulk_update"}
NEITHER = (
    "accounts/forms.py",
    "accounts/middleware.py",
    "accounts/views.py",
    "games/alarm.py",
    "games/announce.py",
    "games/api",
    "games/live",
    "games/notices/emails.py",
    "games/notices/kinds.py",
    "games/notices/mail_links.py",
    "games/notices/render.py",
    "games/render",
    "games/staff/acts.py",
    "games/staff/forms.py",
    "games/tasks.py",
    "games/templatetags",
    "games/web",
)
"""Modules that neither read nor write rows themselves."""
NO_WRITES = (
    "accounts/admin.py",
    "accounts/queries.py",
    "games/admin",
    "games/management",
    "games/models/log_rows.py",
    "games/models/rows.py",
    "games/notices/inbox.py",
    "games/queries",
    "games/staff/queue.py",
)
"""Modules that do not write rows. Django's admin and commands read by their own querysets."""


def reads(code: str) -> Iterator[int]:
    """Yield the lines that query the database by a model's manager."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Attribute) and node.attr in MANAGERS:
            yield node.lineno


def writes(code: str) -> Iterator[int]:
    """Yield the lines that write rows by a manager, a queryset (`update` by keywords only) or an instance."""
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
    "table = queries.load_for(code, viewer)",
    "play.play_move(code=code, viewer=viewer, text=text, version=3, now=now)",
    "context.update({'page': page})",
    "digest.update(secret)",
    "games = lists.games_of(user)[:20]",
)


@pytest.mark.parametrize("line", BAD)
def test_writes_are_detected(line: str) -> None:
    assert list(writes(line)) == [1]


@pytest.mark.parametrize("line", GOOD)
def test_other_calls_are_not_detected(line: str) -> None:
    assert (list(writes(line)), list(reads(line))) == ([], [])


def test_reads_are_detected() -> None:
    assert list(reads("game = Game.objects.get(code=code)")) == [1]


def linted() -> list[dict[str, Any]]:
    """Return the contracts of import-linter in pyproject.toml."""
    contracts: list[dict[str, Any]] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    return contracts


def unlocked(code: str) -> Iterator[int]:
    """Yield the lines that `load` the table of a game row that is not visibly locked."""
    tree = ast.parse(code)
    locked = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _locks(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "load":
            of = node.func.value
            row = node.args[0] if node.args else None
            held = _locks(row) or (isinstance(row, ast.Name) and row.id in locked)
            if isinstance(of, ast.Name) and of.id == "queries" and not held:
                yield node.lineno


def _locks(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("lock_game", "claim")


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("table = queries.load(game)", [1]),
        ("table = queries.load(queries.game_named(code))", [1]),
        ("table = queries.load(lock_game(pk=pk), token=token)", []),
        ("game = claim(now)\ntable = queries.load(game)", []),
        ("table = queries.find(game.pk)", []),
        ("fields = json.load(file)", []),
    ],
)
def test_loading_an_unlocked_row_is_detected(code: str, lines: list[int]) -> None:
    assert list(unlocked(code)) == lines


def found_in(paths: Iterable[str], *checks: Callable[[str], Iterable[object]]) -> dict[str, list[object]]:
    """Return what these checks find in the code of the modules at these paths. Modules without faults are left out."""
    codes = modules(paths)
    assert codes
    found = {module: [fault for check in checks for fault in check(code)] for module, code in codes.items()}
    return {module: faults for module, faults in found.items() if faults}


def test_the_picture_of_the_layers_shows_what_import_linter_checks() -> None:
    packages, inside = (contract["layers"] for contract in linted()[:2])
    picture = re.findall(r"```text\n(.*?)```", (CHECKOUT / "docs/architecture.md").read_text(), re.DOTALL)[0]
    names = [re.split(r"   ", line)[0] for line in picture.replace("  |   ", "").splitlines() if line.strip() != "|"]
    beside = {"templatetags", "apps", "migrations"}
    rows = [set(layer.split(" : ")) - beside for layer in inside]

    assert [set(name.split()) for name in names] == [{"nomercy"}, {"games"}, *rows, {"accounts"}, {"mail"}, {"common"}]
    assert packages == ["nomercy", "games", "accounts", "mail", "common"]


def test_tables_are_loaded_only_under_their_lock() -> None:
    assert found_in(("games", "accounts", "common", "mail", "nomercy"), unlocked) == {}


def test_doors_neither_read_nor_write_rows() -> None:
    assert found_in(NEITHER, reads, writes) == {}


def test_read_modules_do_not_write() -> None:
    assert found_in(NO_WRITES, writes) == {}


def test_a_page_is_a_typed_object_made_without_a_request() -> None:
    untyped = re.compile(r"HttpRequest|dict\[str, (?:Any|object)\]")
    assert found_in(("games/render", "games/notices/render.py"), untyped.findall) == {}


LOG_IN = {"login", "aauthenticate", "authenticate", "alogin", "force_login", "perform_login"}
MAY_LOG_IN = {
    "accounts/adapter.py",
    "accounts/backends.py",
    "accounts/openid.py",
    "accounts/sign_up.py",
    "games/api/auth.py",
    "games/web/idempotent_forms.py",
    "nomercy/staff.py",
}
"""The modules of the table in docs/decisions/0072-every-way-to-log-in.md. A new one needs a line there."""


def logs_in(code: str) -> bool:
    """Return True if this code imports, calls or defines a function that logs in, or writes a session's user."""
    for node in ast.walk(ast.parse(code)):
        names: set[str] = set()
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
        elif isinstance(node, ast.Call):
            names = {ast.unparse(node.func).rpartition(".")[2]}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {node.name}
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            names = {"login"} if "SESSION_KEY" in ast.unparse(node.slice) else set()
        if names & LOG_IN:
            return True
    return False


@pytest.mark.parametrize(
    "code",
    [
        "from django.contrib.auth import login",
        "auth.login(request, user)",
        "class Backend:\n    def authenticate(self): ...",
        "request.session[SESSION_KEY] = user.pk",
    ],
)
def test_log_ins_are_detected(code: str) -> None:
    assert logs_in(code)


def test_only_the_listed_modules_log_in() -> None:
    ours = modules(("games", "accounts", "common", "mail", "nomercy"))
    found = {module for module, code in ours.items() if logs_in(code)}
    assert found == MAY_LOG_IN


def test_no_link_in_a_mail_logs_in() -> None:
    assert not app_settings.LOGIN_ON_EMAIL_CONFIRMATION
    assert not app_settings.LOGIN_ON_PASSWORD_RESET
    assert not app_settings.LOGIN_BY_CODE_ENABLED
