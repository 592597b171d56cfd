"""docs/limits.md lists every limit with its numbers."""

from collections.abc import Mapping

import pytest

from common import limits
from common.limits import Limit
from games.live.socket_limits import MAX_OPEN
from nomercy.launcher.place import CHECKOUT

WHO = {
    "person": "a person",
    "session": "a session",
    "token": "a token",
    "visitor": "all visitors of an address",
    "address": "an address",
    "name": "a name or mail address",
    "browser": "a browser",
    "mailbox": "a mailbox",
}
WINDOWS = {60: "a minute", 300: "5 minutes", 3_600: "an hour", 86_400: "a day"}


def rows() -> dict[str, list[Limit]]:
    """Return the limits by name, in the order of the table."""
    found: dict[str, list[Limit]] = {}
    for value in vars(limits).values():
        for limit in value.values() if isinstance(value, Mapping) else [value]:
            if isinstance(limit, Limit):
                found.setdefault(limit.name, []).append(limit)
    return found


def cells(limits_of_one_name: list[Limit]) -> str:
    most = ", ".join(f"{limit.most:,} {WHO[limit.who]}" for limit in limits_of_one_name)
    return f"| {most} | {WINDOWS[limits_of_one_name[0].seconds]} |"


@pytest.mark.parametrize("name", rows())
def test_the_docs_list_every_limit(name: str) -> None:
    lines = (CHECKOUT / "docs" / "limits.md").read_text().splitlines()
    assert [line for line in lines if line.endswith(f"| `{name}` {cells(rows()[name])}")]


def test_the_docs_list_no_other_limit_and_the_open_sockets() -> None:
    page = (CHECKOUT / "docs" / "limits.md").read_text()
    table = page[page.index("| `limit` in the log |") :].split("\n\n")[0]
    assert len(table.splitlines()) == 2 + len(rows())
    assert f"have {MAX_OPEN} live sockets open" in page
