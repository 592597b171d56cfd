"""Make mails about games, in text and HTML, from what their reader may see. One function per layout.

No mail names a card. Every header is a single line, whatever characters a name contains. Links are signed, and opening
one changes nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.mails import headers, host
from accounts.zones import day_and_time
from common.readers_language import say
from games.models import Game
from games.notices import inbox, mail_links
from games.notices.kinds import DIGEST, KINDS, NoticeKind
from games.queries import GameView
from games.render import words
from games.render.direction import isolate

LONGEST_SUBJECT: Final = 180
LONGEST_LINE: Final = 990
ZERO_WIDTH_JOINER: Final = "\u200d"  # joins emoji


@dataclass(frozen=True, slots=True)
class Reader:
    """The person that a mail is for. `key` is their mail key, which is part of the links that stop mails."""

    user_id: int
    name: str
    address: str
    zone: str
    key: str


@dataclass(frozen=True, slots=True)
class EmailItem:
    """One event in a mail."""

    text: str
    view: GameView | None  # the table, if it is about one
    page: str = ""  # else the path of the page that says more


class Mail(EmailMultiAlternatives):
    """A mail whose header lines are not folded: some mail programs do not understand a folded `List-Unsubscribe`."""

    def message(self, **options: Any) -> Any:
        message = super().message(**options)
        message.policy = message.policy.clone(max_line_length=LONGEST_LINE)
        return message


def turn_mail(reader: Reader, kind: NoticeKind, views: Sequence[GameView], *, now: datetime, unique: str) -> Mail:
    """Return a mail about the reader's turn in these games.

    :param views: the games, the most urgent first.
    :param unique: see `_message`.
    """
    first, count = views[0], len(views)
    title = headline_without_card(first, reader, now)
    if count > 1:
        by = f", the first by {day_and_time(first.deadline, reader.zone)}" if first.deadline else ""
        title = f"Your turn in {count} games{by}."
    if kind.reminds and first.deadline:
        title = f"Reminder. {title}"
    context = {"title": title, "games": [_game(reader, view, now) for view in views], "one": count == 1}
    return _mail(context, reader, kind, now=now, unique=unique)


def news_mail(reader: Reader, kind: NoticeKind, news: Sequence[EmailItem], *, now: datetime, unique: str) -> Mail:
    """Return a mail about events of one kind. `unique`: see `_message`."""
    title = news[0].text if len(news) == 1 else f"{kind.title}: {len(news)} {kind.several}."
    told = [_news(reader, item, now) | {"open": _link_text(kind, item)} for item in news]
    return _mail({"title": title, "news": told, "one": len(news) == 1}, reader, kind, now=now, unique=unique)


def digest_mail(
    reader: Reader, waiting: Sequence[GameView], news: Sequence[EmailItem], *, now: datetime, unique: str
) -> Mail:
    """Return the daily summary: the games where it is the reader's turn, and the events of the last 24 hours."""
    some = words.counted(len(waiting), "game is", "games are") if waiting else "No game is"
    context = {
        "title": f"{some} waiting for you.",
        "games": [_game(reader, view, now) for view in waiting],
        "news": [_news(reader, item, now) for item in news],
        "since": day_and_time(now - inbox.A_DAY, reader.zone),
    }
    return _mail(context, reader, KINDS[DIGEST], now=now, unique=unique)


def works_mail(reader: Reader, *, now: datetime, unique: str) -> Mail:
    """Return a mail that asks whether a bounced address works again. `unique`: see `_message`."""
    link = mail_links.link_url(mail_links.WORKS, user_id=reader.user_id, target=reader.address, key=reader.key)
    until = day_and_time(now + mail_links.LIFETIMES[mail_links.WORKS], reader.zone)
    context = {"title": "Does this address work again?", "link": link, "address": reader.address, "until": until}
    return _message("works", context, reader, now=now, unique=unique)


def headline_without_card(view: GameView, reader: Reader, now: datetime) -> str:
    """Return the heading of the game page and the deadline, without naming the card that the reader has drawn."""
    seen = view.view
    shown = view if seen is None else replace(view, view=replace(seen, drawn=None))
    told = [words.spoken_headline(shown)]
    if view.turn is not None and view.deadline is not None and not view.paused:
        told.append(say.text("mail", "You have until {time}.", time=day_and_time(view.deadline, reader.zone)))
    return " ".join(told)


def one_line(text: str) -> str:
    """Return this text on one line, without control, format and separator characters, and with single spaces.

    Names in right-to-left scripts are isolated.
    """
    shown = (" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    plain = "".join(c for c in shown if unicodedata.category(c) != "Cf" or c == ZERO_WIDTH_JOINER)
    return isolate(" ".join(plain.split()))


def _game(reader: Reader, view: GameView, now: datetime) -> dict[str, Any]:
    """Return the context of `emails/_game.html` for one game."""
    others = [seat.name for seat in view.seats if seat.seat != view.you]
    return {
        "sentence": one_line(headline_without_card(view, reader, now)),
        "table": one_line(words.table_name(view)),
        "others": one_line(words.listed(others)),
        "length": words.length(view),
        "link": mail_links.link_url(mail_links.OPEN, user_id=reader.user_id, target=view.id),
    }


def _news(reader: Reader, news: EmailItem, now: datetime) -> dict[str, Any]:
    game = None if news.view is None else _game(reader, news.view, now)
    page = settings.SITE_URL + news.page if news.page else ""
    return {"text": one_line(news.text), "game": game, "page": page}


def _link_text(kind: NoticeKind, news: EmailItem) -> str:
    """Return the text of the link to the table."""
    playing = news.view is not None and news.view.status == Game.Status.PLAYING
    return kind.link if playing else "Open the table"


def _mail(context: dict[str, Any], reader: Reader, kind: NoticeKind, *, now: datetime, unique: str) -> Mail:
    """Return a mail of this kind, with headers that let the reader stop such mails with one click."""
    stop = mail_links.link_url(mail_links.STOP, user_id=reader.user_id, target=kind.name, key=reader.key)
    more = {"stop": stop, "kind": kind.title, "settings": settings.SITE_URL + reverse("notice-settings")}
    message = _message(kind.template, context | more, reader, now=now, unique=unique)
    message.extra_headers |= {
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "List-Id": f"<{kind.name.replace('_', '-')}.{host()}>",
    }
    return message


def _message(name: str, context: dict[str, Any], reader: Reader, *, now: datetime, unique: str) -> Mail:
    """Render the three templates of this name. A retry with the same `unique` name has the same Message-ID."""
    context = {"name": one_line(reader.name), "site": settings.SITE_URL, "host": host(), **context}
    context["title"] = one_line(context["title"])
    # Mail programs decode "=?" as the start of an encoded word, so a name must not contain it.
    subject = one_line(render_to_string(f"emails/{name}_subject.txt", context)).replace("=?", "= ?")
    message = Mail(
        subject=subject if len(subject) <= LONGEST_SUBJECT else f"{subject[: LONGEST_SUBJECT - 1]}…",
        body=render_to_string(f"emails/{name}_body.txt", context).strip() + "\n",
        to=[reader.address],
        headers=headers(f"{name}.{unique}", to=reader.address, now=now),
    )
    message.attach_alternative(render_to_string(f"emails/{name}_body.html", context), "text/html")
    return message
