"""Make mails about games, in text and HTML, from what their reader may see. One function per layout.

A mail names only cards that everybody at the table has seen. Every header is a single line, whatever characters a name
contains. Links are signed, and opening one changes nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.mails import headers, host
from accounts.zones import day_and_time
from common.readers_language import say
from common.say import N_
from games import rules
from games.models import Game
from games.notices import inbox, mail_links
from games.notices.kinds import DIGEST, KINDS, NoticeKind, row_title
from games.queries import GameView, LogLine
from games.render import words
from games.render.direction import isolate
from games.render.faces import GLYPHS
from games.render.log_rows import sentences

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


@dataclass(frozen=True, slots=True)
class Turn:
    """A game where it is the reader's turn. `last` is the newest line of its log, None before the first move."""

    view: GameView
    last: LogLine | None = None


class Paint(NamedTuple):
    """The colours of CSS of a card."""

    ground: str
    ink: str


class TopCard(NamedTuple):
    """A card that is drawn without an image, because many mail programs show none.

    `said` is the card in words. `mark` is what it shows in large letters, "" for a card that only has a name. `color`
    is the name of the colour that was chosen for a wild card, with its `color_paint`.
    """

    said: str
    name: str
    mark: str
    paint: Paint
    color: str
    color_paint: Paint


PAINTS: Final = {
    "r": Paint("#a61e2d", "#ffffff"),
    "y": Paint("#ffd54a", "#111111"),
    "g": Paint("#2e9e6b", "#111111"),
    "b": Paint("#17358a", "#ffffff"),
    "o": Paint("#e66a00", "#111111"),
    "p": Paint("#ffb8e2", "#111111"),
    "u": Paint("#6a26b0", "#ffffff"),
    "t": Paint("#00787c", "#ffffff"),
    "w": Paint("#17161d", "#ffffff"),
}
"""The paint of the cards of each colour, and of wild cards. Keep in step with static/css/tokens.css."""


class Mail(EmailMultiAlternatives):
    """A mail whose header lines are not folded: some mail programs do not understand a folded `List-Unsubscribe`."""

    def message(self, **options: Any) -> Any:
        message = super().message(**options)
        message.policy = message.policy.clone(max_line_length=LONGEST_LINE)
        return message


def turn_mail(reader: Reader, kind: NoticeKind, turns: Sequence[Turn], *, now: datetime, unique: str) -> Mail:
    """Return a mail about the reader's turn in these games.

    :param turns: the games, the most urgent first.
    :param unique: see `_message`.
    """
    names = [game_name(turn.view) for turn in turns]
    games, n = "; ".join(names), len(turns)  # the names have commas and "and" themselves
    if kind.reminds:
        one = say.text("mail", "Your time is running out in {game}", game=names[0])
        many = say.text("mail", "Your time is running out in {n} games: {games}", n=n, games=games)
    else:
        one = say.text("mail", "Your turn in {game}", game=names[0])
        many = say.text("mail", "Your turn in {n} games: {games}", n=n, games=games)
    context: dict[str, Any] = {
        "title": say.text("mail", kind.title),
        "games": [_turn(reader, turn, now) for turn in turns],
    }
    if n > 1:
        return _mail(many, context, reader, kind, about=None, now=now, unique=unique)
    if not kind.reminds:
        context["title"] = context["games"][0].pop("task")  # said once, as the heading
    return _mail(one, context, reader, kind, about=turns[0].view, now=now, unique=unique)


def news_mail(reader: Reader, kind: NoticeKind, news: Sequence[EmailItem], *, now: datetime, unique: str) -> Mail:
    """Return a mail about events of one kind. `unique`: see `_message`."""
    first, one = news[0], len(news) == 1
    title = first.text if one else say.plural("mail", kind.title, kind.several, len(news))
    subject, about = title, first.view if one else None
    if about is not None and not kind.names_game:
        subject = say.text("mail", "{game}: {news}", game=game_name(about), news=first.text)
    told = [_news(reader, item) | {"open": _link_text(kind, item)} for item in news]
    return _mail(subject, {"title": title, "news": told, "one": one}, reader, kind, about=about, now=now, unique=unique)


def digest_mail(
    reader: Reader, waiting: Sequence[Turn], news: Sequence[EmailItem], *, now: datetime, unique: str
) -> Mail:
    """Return the daily summary: the games where it is the reader's turn, and the events of the last 24 hours."""
    n = len(waiting)
    some = say.plural("mail", "{n} game is waiting for you.", "{n} games are waiting for you.", n)
    title = some if n else say.text("mail", "No game needs you.")
    context = {
        "title": title,
        "games": [_turn(reader, turn, now) for turn in waiting],
        "news": [_news(reader, item) for item in news],
        "since": day_and_time(now - inbox.A_DAY, reader.zone),
    }
    return _mail(title, context, reader, KINDS[DIGEST], about=None, now=now, unique=unique)


def works_mail(reader: Reader, *, now: datetime, unique: str) -> Mail:
    """Return a mail that asks whether a bounced address works again. `unique`: see `_message`."""
    link = mail_links.link_url(mail_links.WORKS, user_id=reader.user_id, target=reader.address, key=reader.key)
    until = day_and_time(now + mail_links.LIFETIMES[mail_links.WORKS], reader.zone)
    title = say.text("mail", "Does this address work again?")
    context = {"title": title, "link": link, "address": reader.address, "until": until}
    return _message("works", title, context, reader, now=now, unique=unique)


def headline_without_card(view: GameView) -> str:
    """Return the heading of the game page as sentences, without naming the card that the reader has drawn."""
    seen = view.view
    return words.spoken_headline(view if seen is None else replace(view, view=replace(seen, drawn=None)))


def game_name(view: GameView) -> str:
    """Return the rules of a game and who plays it besides the reader, like "No Mercy with Ben (+2 bots)"."""
    title = rules.PRESET_TITLES[view.preset]
    others = [seat for seat in view.seats if seat.seat != view.you]
    names = [seat.name for seat in others if seat.owner or not seat.bot]
    people, bots = words.listed(names), len(others) - len(names)
    if people and bots:
        one, many = N_("{rules} with {people} (+{n} bot)"), N_("{rules} with {people} (+{n} bots)")
        return say.plural("mail", one, many, bots, rules=title, people=people)
    if people:
        return say.text("mail", "{rules} with {people}", rules=title, people=people)
    return say.plural("mail", "{rules} with {n} bot", "{rules} with {n} bots", bots, rules=title) if bots else title


def top_card(seen: rules.View) -> TopCard:
    """Return the picture of the top card of the discard pile, and the current colour. Everybody sees both."""
    face, name, color = rules.face_of(seen.top), words.card_name(seen.top), ""
    said = say.text("mail", "Top card: {card}", card=name)
    if seen.color and not face.color:
        color = words.color(seen.color)
        said = say.text("mail", "Top card: {card}, colour: {color}", card=name, color=color)
    mark = GLYPHS[seen.side][face.symbol].corner
    return TopCard(said, name, mark, PAINTS[face.color or "w"], color, PAINTS[seen.color or "w"])


def one_line(text: str) -> str:
    """Return this text on one line, without control, format and separator characters, and with single spaces.

    Names in right-to-left scripts are isolated.
    """
    shown = (" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    plain = "".join(c for c in shown if unicodedata.category(c) != "Cf" or c == ZERO_WIDTH_JOINER)
    return isolate(" ".join(plain.split()))


def _game(reader: Reader, view: GameView) -> dict[str, Any]:
    """Return the context of `emails/_game.html` and `emails/_game.txt` for one game."""
    table = say.text("mail", "{table}: {length}.", table=words.table_name(view), length=words.length(view))
    link = mail_links.link_url(mail_links.OPEN, user_id=reader.user_id, target=view.id)
    return {"name": one_line(game_name(view)), "table": one_line(table), "link": link}


def _turn(reader: Reader, turn: Turn, now: datetime) -> dict[str, Any]:
    """Return the same for a game where it is the reader's turn."""
    view = turn.view
    # Also where only bots wait, whose page shows none: who reads a mail is away, and can lose the seat to a bot.
    until = "" if view.deadline is None else day_and_time(view.deadline, reader.zone)
    return _game(reader, view) | {
        "task": one_line(headline_without_card(view)),
        "last": one_line(_last(turn)),
        "until": until and say.text("mail", "You have until {time}.", time=until),
        "card": None if view.view is None else top_card(view.view),
    }


def _last(turn: Turn) -> str:
    """Return what the last move of the round did."""
    if turn.last is not None and turn.last.round == turn.view.round:
        return " ".join(sentences(turn.view, turn.last))
    if turn.view.round > 1:
        return say.text("mail", "Round {n} has been dealt.", n=turn.view.round)
    return say.text("mail", "Nobody has played yet.")


def _news(reader: Reader, news: EmailItem) -> dict[str, Any]:
    game = None if news.view is None else _game(reader, news.view)
    page = settings.SITE_URL + news.page if news.page else ""
    return {"text": one_line(news.text), "game": game, "page": page}


def _link_text(kind: NoticeKind, news: EmailItem) -> str:
    """Return the text of the link to the table."""
    if news.view is not None and news.view.status == Game.Status.PLAYING:
        return say.text("mail", kind.link)
    return say.text("mail", "Open the table")


def _mail(
    subject: str,
    context: dict[str, Any],
    reader: Reader,
    kind: NoticeKind,
    *,
    about: GameView | None,
    now: datetime,
    unique: str,
) -> Mail:
    """Return a mail of this kind. If it does not always come, its headers let the reader stop such mails by one click.

    :param about: the one game that the mail is about, or None.
    """
    more = {"settings": settings.SITE_URL + reverse("notice-settings")}
    headers_of_kind = {"List-Id": f"<{kind.name.replace('_', '-')}.{host()}>"}
    if kind.group:
        stop = mail_links.link_url(mail_links.STOP, user_id=reader.user_id, target=kind.name, key=reader.key)
        more |= {"stop": stop, "row": row_title(kind.name)}
        headers_of_kind |= {"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    message = _message(kind.template, subject, context | more, reader, now=now, unique=unique)
    message.extra_headers |= headers_of_kind
    if about is not None:
        # Mail programs show mails with a common reference as one conversation. Gmail wants the same subject, too, so
        # that of a turn says which game it is about but not what to do there. No mail has this Message-ID.
        thread = f"<{about.id}.{reader.user_id}.game@{host()}>"
        message.extra_headers |= {"In-Reply-To": thread, "References": thread}
    return message


def _message(name: str, subject: str, context: dict[str, Any], reader: Reader, *, now: datetime, unique: str) -> Mail:
    """Render the two templates of this name. A retry with the same `unique` name has the same Message-ID."""
    context = {"name": one_line(reader.name), "site": settings.SITE_URL, "host": host(), **context}
    context["title"] = one_line(context["title"])
    # Mail programs decode "=?" as the start of an encoded word, so a name must not contain it.
    subject = one_line(subject).replace("=?", "= ?")
    message = Mail(
        subject=subject if len(subject) <= LONGEST_SUBJECT else f"{subject[: LONGEST_SUBJECT - 1]}…",
        body=render_to_string(f"emails/{name}.txt", context).strip() + "\n",
        to=[reader.address],
        headers=headers(f"{name}.{unique}", to=reader.address, now=now),
    )
    message.attach_alternative(render_to_string(f"emails/{name}.html", context), "text/html")
    return message
