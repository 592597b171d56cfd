"""The mails: one function each, from what its reader may see to a message in text and HTML.

No mail names a card. Headers are single lines whatever a name holds; links are signed, and opening one changes nothing.
"""

from __future__ import annotations

import unicodedata
import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from accounts.mails import headers, host
from games.models import Game
from games.notices import mail_links
from games.notices.kinds import DIGEST, KINDS, NoticeKind
from games.queries import GameView
from games.render import words
from games.render.direction import isolate

LONGEST_SUBJECT: Final = 180
LONGEST_LINE: Final = 990
ZERO_WIDTH_JOINER: Final = "\u200d"  # holds emoji together


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom a mail is for; `key` makes the links that stop mails."""

    user_id: int
    name: str
    address: str
    zone: str
    key: str


@dataclass(frozen=True, slots=True)
class EmailItem:
    """Something that happened, at a table or elsewhere: then `page` is the name of the page that tells more."""

    text: str
    view: GameView | None
    page: str = ""


class Mail(EmailMultiAlternatives):
    """A mail whose addresses in headers stay in one piece: a folded `List-Unsubscribe` is not understood everywhere."""

    def message(self, **options: Any) -> Any:
        message = super().message(**options)
        message.policy = message.policy.clone(max_line_length=LONGEST_LINE)
        return message


def turn_mail(reader: Reader, kind: NoticeKind, views: Sequence[GameView], *, now: datetime, number: int) -> Mail:
    """Return a mail about the reader's turn in these games, the most urgent first. `number` makes the Message-ID."""
    with timezone.override(zoneinfo.ZoneInfo(reader.zone)):
        first, count = views[0], len(views)
        title = sentence(first, now)
        if count > 1:
            by = f", the first by {words.due(first.deadline, now)}" if first.deadline else ""
            title = f"Your turn in {count} games{by}."
        if kind.time_left_first and first.deadline:
            title = f"{words.time_left(first.deadline, now)}. {title}"
        games = [_game(reader, view, now) for view in views]
        if kind.time_left_first and count == 1:
            games[0]["left"] = ""  # the title says it
        context = {"title": title, "games": games, "one": count == 1}
        return _mail(context, reader, kind, now=now, number=number)


def news_mail(reader: Reader, kind: NoticeKind, news: Sequence[EmailItem], *, now: datetime, number: int) -> Mail:
    """Return a mail about what happened while the reader was away, all of one kind."""
    with timezone.override(zoneinfo.ZoneInfo(reader.zone)):
        title = news[0].text if len(news) == 1 else f"{kind.title}: {len(news)} {kind.several}."
        told = [_news(reader, item, now) | {"open": _link_text(kind, item)} for item in news]
        context = {"title": title, "news": told, "one": len(news) == 1}
        return _mail(context, reader, kind, now=now, number=number)


def digest_mail(
    reader: Reader, waiting: Sequence[GameView], news: Sequence[EmailItem], *, now: datetime, number: int
) -> Mail:
    """The day's summary: the games that wait for the reader, and what happened since."""
    with timezone.override(zoneinfo.ZoneInfo(reader.zone)):
        count = len(waiting)
        some = words.counted(count, "game is", "games are") if count else "No game is"
        title = f"{some} waiting for you."
        context = {
            "title": title,
            "games": [_game(reader, view, now) for view in waiting],
            "news": [_news(reader, item, now) for item in news],
        }
        return _mail(context, reader, KINDS[DIGEST], now=now, number=number)


def works_mail(reader: Reader, *, now: datetime, number: int) -> Mail:
    """Ask whether mail arrives again at an address that mails came back from. `number` makes the Message-ID."""
    link = mail_links.address_of(mail_links.WORKS, user_id=reader.user_id, what=reader.address, key=reader.key)
    context = {"title": "Does this address work again?", "link": link, "address": reader.address}
    return _message("works", context, reader, now=now, number=number)


def sentence(view: GameView, now: datetime) -> str:
    """The game page's heading, without the card that its reader has drawn."""
    seen = view.view
    return words.headline(view if seen is None else replace(view, view=replace(seen, drawn=None)), now)


def one_line(text: str) -> str:
    """Return this text on one line, without control, format and separator characters, and with single spaces.

    Names in right-to-left scripts are isolated.
    """
    shown = (" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    plain = "".join(c for c in shown if unicodedata.category(c) != "Cf" or c == ZERO_WIDTH_JOINER)
    return isolate(" ".join(plain.split()))


def _game(reader: Reader, view: GameView, now: datetime) -> dict[str, Any]:
    """A game as a mail shows it."""
    others = [seat.name for seat in view.seats if seat.seat != view.you]
    return {
        "sentence": one_line(sentence(view, now)),
        "table": one_line(words.table_name(view)),
        "others": one_line(words.listed(others)),
        "length": words.length(view),
        "left": words.time_left(view.deadline, now) if view.deadline and view.my_turn else "",
        "link": mail_links.address_of(mail_links.OPEN, user_id=reader.user_id, what=view.id),
    }


def _news(reader: Reader, news: EmailItem, now: datetime) -> dict[str, Any]:
    game = None if news.view is None else _game(reader, news.view, now)
    page = settings.SITE_URL + reverse(news.page) if news.page else ""
    return {"text": one_line(news.text), "game": game, "page": page}


def _link_text(kind: NoticeKind, news: EmailItem) -> str:
    """Return what the link to the table says."""
    playing = news.view is not None and news.view.status == Game.Status.PLAYING
    return kind.link if playing else "Open the table"


def _mail(context: dict[str, Any], reader: Reader, kind: NoticeKind, *, now: datetime, number: int) -> Mail:
    """Return a mail of this kind, which its reader can stop with one click."""
    stop = mail_links.address_of(mail_links.STOP, user_id=reader.user_id, what=kind.name, key=reader.key)
    more = {"stop": stop, "kind": kind.title, "settings": settings.SITE_URL + reverse("notice-settings")}
    message = _message(kind.template, context | more, reader, now=now, number=number)
    message.extra_headers |= {
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "List-Id": f"<{kind.name.replace('_', '-')}.{host()}>",
    }
    return message


def _message(name: str, context: dict[str, Any], reader: Reader, *, now: datetime, number: int) -> Mail:
    """The triple of templates of this name, rendered. The same `number` gives the same Message-ID, for a second try."""
    context = {"name": one_line(reader.name), "site": settings.SITE_URL, "host": host(), **context}
    context["title"] = one_line(context["title"])
    # A name must not read as an encoded word, which a mail program would decode to what it likes.
    subject = one_line(render_to_string(f"emails/{name}_subject.txt", context)).replace("=?", "= ?")
    message = Mail(
        subject=subject if len(subject) <= LONGEST_SUBJECT else f"{subject[: LONGEST_SUBJECT - 1]}…",
        body=render_to_string(f"emails/{name}_body.txt", context).strip() + "\n",
        to=[reader.address],
        headers=headers(f"{name}.{number}.{reader.user_id}", now=now),
    )
    message.attach_alternative(render_to_string(f"emails/{name}_body.html", context), "text/html")
    return message
