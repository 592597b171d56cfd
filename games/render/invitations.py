"""What an invitation link shows elsewhere: its preview in chats, the words to share it with, and its QR code."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from qrcode.main import QRCode

from common.readers_language import say
from games import rules
from games.queries import GameView, Table
from games.render import words

QUIET_ZONE = 4
"""The white border that a scanner needs around a QR code, in modules (ISO/IEC 18004)."""


class Preview(NamedTuple):
    """What chats and social networks show of a link (Open Graph). `url` is absolute.

    `is_invitation`: its address has a secret.
    """

    title: str
    description: str
    url: str
    is_invitation: bool = False

    @property
    def image(self) -> str:
        """The absolute address of the picture."""
        return settings.SITE_URL + static("img/share.png")


def link_of(key: str) -> str:
    """Return the address of the invitation with this key."""
    return settings.SITE_URL + reverse("invite", args=[key])


def invites(table: Table, view: GameView) -> str:
    """Return who invites to which rules, as in "Anna invites you to No Mercy."."""
    return say.text("invitation", "{name} invites you to {game}.", **_who_and_what(table, view))


def preview_of(table: Table, view: GameView) -> Preview | None:
    """Return the preview of a table's invitation link. None where visitors see no tables, and for a closed table."""
    if settings.LOGIN_REQUIRED or not view.seats:
        return None
    if view.view is None:
        if view.ended:
            return None
        free = view.players - len(view.seats)
        left = say.plural("invitation", "{n} seat left.", "{n} seats left.", free)
        title = " ".join([invites(table, view), left])
        description = " ".join([_pace_and_length(view), _where_to_play()])
    elif view.ended:
        title = say.text("invitation", "{name}’s game of {game} is over.", **_who_and_what(table, view))
        description = say.text("invitation", "See how it ended.")
    else:
        title = say.text(
            "invitation", "{name}’s game of {game} has started: every seat is taken.", **_who_and_what(table, view)
        )
        description = say.text("invitation", "You can watch it in your browser.")
    return Preview(title, description, link_of(table.game.invite_key), is_invitation=True)


def _who_and_what(table: Table, view: GameView) -> dict[str, str]:
    return {"name": _host(table), "game": rules.PRESET_TITLES[view.preset]}


def _pace_and_length(view: GameView) -> str:
    pace = say.text("pace", view.terms.label)
    return say.text("invitation", "{pace} pace, {length}.", pace=pace, length=words.length(view))


def _where_to_play() -> str:
    if settings.GUESTS:
        return say.text("invitation", "Play in your browser, without an account.")
    return say.text("invitation", "Play in your browser.")


def _host(table: Table) -> str:
    """Return the host's name. Without a host, whose account was deleted, it is the name of the first player."""
    hosts = (seat.name for seat in table.seats if seat.user_id is not None and seat.user_id == table.game.host_id)
    return next(hosts, table.seats[0].name)


@lru_cache(maxsize=512)
def qr_code(text: str) -> str:
    """Return the QR code of a text, black on white, as an image in a `data:` URL. Takes 20 ms for a link."""
    code = QRCode(border=QUIET_ZONE)
    code.add_data(text)
    rows = code.get_matrix()
    path = "".join(f"M{start} {y}.5h{length}" for y, row in enumerate(rows) for start, length in _runs(row))
    svg = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {len(rows)} {len(rows)}' shape-rendering='crispEdges'>"
        f"<path fill='#fff' d='M0 0h{len(rows)}v{len(rows)}H0z'/><path stroke='#000' d='{path}'/></svg>"
    )
    return "data:image/svg+xml," + quote(svg, safe=" /:='")


def _runs(row: list[bool]) -> list[tuple[int, int]]:
    """Return where runs of black modules start in a row, and their lengths."""
    found: list[tuple[int, int]] = []
    for x, black in enumerate(row):
        if black and found and sum(found[-1]) == x:
            found[-1] = found[-1][0], found[-1][1] + 1
        elif black:
            found.append((x, 1))
    return found
