"""Check that files, modules and symbols named in the docs exist. After a rename this fails until the docs follow."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from nomercy.launcher.place import CHECKOUT

PAGES: Final = [
    *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(
        CHECKOUT / "docs" / f"{name}.md"
        for name in ("architecture", "by-hand", "limits", "moderation", "operations", "settings")
    ),
    *sorted((CHECKOUT / "docs" / "decisions").glob("[0-9]*.md")),
]
SUFFIXES: Final = (
    ".py", ".html", ".txt", ".js", ".css", ".yaml", ".toml", ".lock", ".md", ".sh", ".conf", ".service", ".target",
)  # fmt: skip
SOURCES: Final = {".py", ".html", ".txt", ".js", ".toml", ".yaml", ".conf", ""}
PATH: Final = re.compile(r"[\w.-]+(/[\w.*-]+)+/?|[\w-]+/")
NOT_OURS: Final = {
    "HttpOnly", "TimeoutStopSec", "nomercy.may_empty_audit", "/.well-known/security.txt", "/robots.txt",
    "cards.example.org", "SSL_CERT_FILE", "synchronous_standby_names",
}  # fmt: skip
"""Names of cookies, systemd, OpenSSL, PostgreSQL and an RFC, and an example."""
MADE: Final = ("var/", ".venv/", "docker/.env", "/etc/")
"""What the site and its scripts make, and the files of a machine."""
DOTTED: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\(\))?")


@cache
def files() -> list[str]:
    """Return the paths of the project's files, relative to the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=CHECKOUT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout: what belongs to the project is not known")
    return [name for name in listed.stdout.decode().split("\0") if name and (CHECKOUT / name).is_file()]


@cache
def read(path: str) -> str:
    return (CHECKOUT / path).read_text(errors="ignore")


@cache
def words_of(path: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", read(path)))


@cache
def sources() -> list[str]:
    """Return the code files in which a symbol must occur: not the docs, and not these tests."""
    return [
        path
        for path in files()
        if Path(path).suffix in SOURCES and not path.startswith(("docs/", "static/vendor/", "tests/docs/"))
    ]


@cache
def all_words() -> frozenset[str]:
    return frozenset().union(*map(words_of, sources()))


def modules(name: str) -> list[str]:
    """Return the module or the package's `__init__.py` of this dotted name, wherever it is in the tree."""
    place = re.escape(name.replace(".", "/"))
    return [path for path in sources() if re.search(rf"(^|/){place}(/__init__)?\.py$", path)]


def exists(name: str) -> bool:
    """Return whether a path or a (dotted) identifier is in the tree."""
    if "/" in name or name.endswith(SUFFIXES):
        pattern = re.escape(name.rstrip("/")).replace(r"\*", "[^/]*")
        return any(re.search(rf"(^|/){pattern}(/|$)", path) for path in files())
    module, _, symbol = name.removesuffix("()").rpartition(".")
    if not module:
        return symbol in all_words() or bool(modules(symbol))
    if modules(name):
        return True
    if inside := modules(module):
        return any(symbol in words_of(path) for path in inside)
    return exists(module) and symbol in all_words()


def named_in(page: str) -> Iterator[str]:
    """Yield the names in code style on a page that look like our files, modules or symbols."""
    chosen, _, _ = page.partition("\n**Rejected.**")  # what was rejected need not exist
    for name in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"(?s)```.*?```", "", chosen)):
        identifier = DOTTED.fullmatch(name) and re.search(r"[._()]|[a-z][A-Z]", name)
        if name in NOT_OURS or name.startswith(MADE):
            continue
        if identifier or PATH.fullmatch(name) or (name.endswith(SUFFIXES) and " " not in name):
            yield name


def missing(page: str) -> list[str]:
    return [name for name in named_in(page) if not exists(name)]


def test_the_check_finds_each_kind_of_missing_name() -> None:
    there = "`games/rules/legal.py` `legal.py` `games/staff/` `rules.apply` `games.rules` `Game.save` `play_move`"
    gone = [
        *("games/rules/gone.py", "gone.py", "games/gone/", "rules.gone_away", "games.gone", "Game.gone_away"),
        *("gone_away", "GoneAway", "turn_clock.view_for"),
    ]

    assert missing(there) == []
    assert missing(" ".join(f"`{name}`" for name in gone)) == gone
    assert missing("`gone_away` is a word.\n**Rejected.** `gone_too`: never made.") == ["gone_away"]


def test_names_in_the_docs_exist() -> None:
    assert len(PAGES) > 50
    assert {page: gone for page in PAGES if (gone := missing(page.read_text()))} == {}


def test_pages_named_in_code_exist() -> None:
    named = {(path, page) for path in sources() for page in re.findall(r"docs/[\w./-]+\.md", read(path))}

    assert len(named) > 20
    assert [pair for pair in sorted(named) if not (CHECKOUT / pair[1]).exists()] == []
