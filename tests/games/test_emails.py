"""Test the texts of mails: which game they are about, the reader's time zone, and only cards that everybody sees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from games import queries, rules
from games.models import Game, Move, Round, Seat
from games.notices import emails
from games.notices.emails import EmailItem, Reader, Turn
from games.notices.kinds import DEADLINE, GAME_OVER, KINDS, TURN
from games.render.log_rows import sentences
from tests.conftest import person
from tests.support.clocks import move
from tests.support.mail import parsed, text_of
from tests.support.tables import NOON, TWO_HANDS, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

FACES = sorted({card for deck in rules.DECKS.values() for card in deck.cards})
DAY = timedelta(days=1)
CLASSIC: Mapping[str, Any] = {
    "hands": [["b1", "r7"], ["r4", "g3"]],
    "discard_pile": ["r3"],
    "turn": 0,
    "draw_pile": ["b2", "y3", "g4", "b6"],
}


def reader(user: User, zone: str = "UTC") -> Reader:
    return Reader(user.pk, user.name, user.email, zone, "key")


def everything_in(mail: Any) -> str:
    message = parsed(mail.message().as_bytes())
    return "\n".join((message["Subject"], text_of(message), text_of(message, "html")))


def cards_in(text: str) -> list[str]:
    """Return the cards that a text names, by name or as the notation writes them."""
    text = re.sub(r"/mail/\w+/[\w.:=-]+", "", text)  # a signed link may spell anything, "wild" too
    named = [card for card in FACES if rules.card_name(card).lower() in text.lower()]
    return named + re.findall(r"\b(?:play|draw|take) [rgbyW][0-9A-Z+]\w*\b", text)


def test_the_scan_finds_a_card() -> None:
    assert cards_in("You drew Red 5.") == ["r5"]
    assert cards_in("http://127.0.0.1/mail/open/WzIsIndiLd/ You drew Red 5.") == ["r5"]
    assert cards_in("play r5 uno") == ["play r5"]


def mails_about(view: queries.GameView, to: Reader, last: queries.LogLine | None = None) -> list[Any]:
    """Return all kinds of mails that say until when a turn is."""
    news, turn = [EmailItem("Bob wins the game.", view)], Turn(view, last)
    return [
        emails.turn_mail(to, KINDS[TURN], [turn], now=NOON, unique="1"),
        emails.turn_mail(to, KINDS[TURN], [turn, turn], now=NOON, unique="1"),
        emails.turn_mail(to, KINDS[DEADLINE], [turn], now=NOON, unique="1"),
        emails.digest_mail(to, [turn], news, now=NOON, unique="1"),
    ]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))  # one for each preset
def test_mails_name_only_cards_that_everybody_sees(alice: User, bob: User, charlie: User, seed: int) -> None:
    people, presets = [alice, bob, charlie], sorted(rules.PRESETS)
    preset = presets[seed % len(presets)]
    table = table_after(people, 5 + 18 * seed, seed, preset=preset, deadline=NOON + DAY)
    last, visitor = queries.last_lines([table])[table.game.pk], queries.view_of(table, None)
    assert visitor.view is not None
    newest = queries.log_of(table, None, last=1)[0]
    seen = cards_in(" ".join([rules.card_name(visitor.view.top), *sentences(visitor, newest)]))
    for user in people:
        view, to = queries.view_of(table, user), reader(user)
        over = emails.news_mail(to, KINDS[GAME_OVER], [EmailItem("Bob wins the game.", view)], now=NOON, unique="1")
        for mail in mails_about(view, to, last):
            assert set(cards_in(everything_in(mail))) <= set(seen)
        assert cards_in(everything_in(over)) == []


def test_the_drawn_card_is_in_the_page_heading_but_in_no_mail(alice: User, bob: User) -> None:
    table = table_at({**CLASSIC, "phase": "drawn", "drawn": "r7"}, [alice, bob], preset="classic", deadline=NOON + DAY)
    move = {"n": 1, "seat": 0, "text": "draw", "at": NOON, "token": "t"}
    drew = rules.Event("drew", 0, amount=1, cards=("r7",), reason="turn")
    Move.objects.create(game=table.game, round=table.started.round, events=[drew.to_json()], **move)
    Game.objects.filter(pk=table.game.pk).update(version=1)
    table = now_of(table)
    turn = Turn(queries.view_of(table, alice), queries.last_lines([table])[table.game.pk])
    mail = emails.turn_mail(reader(alice), KINDS[TURN], [turn], now=NOON, unique="1")

    assert "You draw 1 card." in everything_in(mail)
    assert told(mail)[0] == "Your turn. You drew a card: play or keep?"
    assert cards_in(everything_in(mail)) == cards_in(rules.card_name(table.started.position.top))


@pytest.mark.parametrize(
    ("zone", "when"),
    [
        ("UTC", "Sunday 22 November, 12:00 (UTC)"),
        ("Europe/Helsinki", "Sunday 22 November, 14:00 (Europe/Helsinki)"),
        ("Pacific/Auckland", "Monday 23 November, 01:00 (Pacific/Auckland)"),
        ("Somewhere/Else", "Sunday 22 November, 12:00 (UTC)"),
    ],
)
def test_times_have_the_day_and_the_reader_s_time_zone(alice: User, bob: User, zone: str, when: str) -> None:
    view = queries.view_of(table_at(TWO_HANDS, [alice, bob], deadline=NOON + DAY), alice)
    mail = emails.turn_mail(reader(alice, zone), KINDS[TURN], [Turn(view)], now=NOON, unique="1")

    reminder = emails.turn_mail(reader(alice, zone), KINDS[DEADLINE], [Turn(view)], now=NOON, unique="1")
    for letter in (mail, reminder):
        assert everything_in(letter).count(f"You have until {when}.") == 2  # in text and HTML
    assert timezone.get_current_timezone_name() == "UTC"


@pytest.mark.parametrize("left", [timedelta(minutes=1), timedelta(hours=2), timedelta(hours=20), 10 * DAY])
def test_no_mail_says_a_time_without_its_day_and_zone(alice: User, bob: User, left: timedelta) -> None:
    """A mail may be read a day later."""
    view = queries.view_of(table_at(TWO_HANDS, [alice, bob], deadline=NOON + left), alice)
    for mail in mails_about(view, reader(alice, "Europe/Helsinki")):
        text = everything_in(mail)
        times = re.findall(r"(?<!:)\b\d?\d:\d\d\b(?!:)", text)
        whole = re.findall(r"[SMTWF]\w+day \d+ \w+, \d\d:\d\d \(Europe/Helsinki\)", text)
        assert len(times) == len(whole) > 0
        assert not re.search(r"\bleft\b|yesterday|today|tomorrow", text)


def test_names_are_escaped_in_html(alice: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(display_name="<b>Bob</b> & <script>")
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + DAY)
    mail = emails.turn_mail(reader(alice), KINDS[TURN], [Turn(queries.view_of(table, alice))], now=NOON, unique="1")
    message = parsed(mail.message().as_bytes())

    assert "with <b>Bob</b> & <script>" in text_of(message)
    assert "with &lt;b&gt;Bob&lt;/b&gt; &amp; &lt;script&gt;" in text_of(message, "html")
    assert "<script>" not in text_of(message, "html")


def test_a_retry_keeps_the_message_id_and_another_notice_has_a_new_one(alice: User, bob: User) -> None:
    view = queries.view_of(table_at(TWO_HANDS, [alice, bob]), alice)
    first, second, other = (
        emails.turn_mail(reader(alice), KINDS[TURN], [Turn(view)], now=NOON, unique=unique).extra_headers["Message-ID"]
        for unique in ("1", "1", "2")
    )
    assert first == second != other


def test_a_mail_loads_nothing_from_other_servers(alice: User, bob: User) -> None:
    view = queries.view_of(table_at(TWO_HANDS, [alice, bob]), alice)
    html = text_of(
        parsed(emails.turn_mail(reader(alice), KINDS[TURN], [Turn(view)], now=NOON, unique="1").message().as_bytes()),
        "html",
    )

    assert set(re.findall(r'(?:href|src)="(https?://[^/"]+)', html)) == {"http://127.0.0.1:8000"}
    assert not re.search(r"<(img|link|script|iframe)|url\(|@import", html)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\r\nb", "a b"),
        (" a \t b ", "a b"),
        ("a\u2028b\u2029c", "a b c"),
        ("\u202ea\u2066b\ufeff", "ab"),
        ("👩\u200d🚀 Ève", "👩\u200d🚀 Ève"),
    ],
)
def test_texts_are_put_on_one_line(text: str, line: str) -> None:
    assert emails.one_line(text) == line


def told(mail: Any) -> list[str]:
    """Return the lines of a mail's text above those of its foot, without links."""
    text = text_of(parsed(mail.message().as_bytes()))
    return [line.partition(": http")[0] for line in text.partition("\n-- \n")[0].splitlines() if line]


def test_a_turn_mail_says_which_game_what_happened_what_to_do_and_until_when(alice: User, bob: User) -> None:
    hands = [["b1", "r7"], ["r4", "g3", "g5"], ["g1", "g2"], ["y1", "y2"]]
    table = table_at(
        {**CLASSIC, "hands": hands, "turn": 1},
        [alice, bob, "careful", "careful"], preset="house-party", deadline=NOON + DAY,
    )  # fmt: skip
    move(table, bob, "play r4")
    table = now_of(table)
    Game.objects.filter(pk=table.game.pk).update(deadline=NOON + DAY)
    Round.objects.filter(game=table.game).update(turn=0)
    table = now_of(table)
    turn = Turn(queries.view_of(table, alice), queries.last_lines([table])[table.game.pk])
    mail = emails.turn_mail(reader(alice), KINDS[TURN], [turn], now=NOON, unique="1")
    several = emails.turn_mail(reader(alice), KINDS[TURN], [turn, turn], now=NOON, unique="1")
    block = [
        "House Party with bob (+2 bots)",
        "bob plays Red 4.",
        "You have until Sunday 22 November, 12:00 (UTC).",
        "Your table: a single round.",
        "Top card: Red 4",
        "Play your turn",
    ]
    task = "Your turn."
    assert (mail.subject, told(mail)) == ("Your turn in House Party with bob (+2 bots)", [task, *block])
    both = "House Party with bob (+2 bots); House Party with bob (+2 bots)"
    assert several.subject == f"Your turn in 2 games: {both}"
    assert told(several) == ["Your turn", *[block[0], task, *block[1:]] * 2]


@pytest.mark.parametrize(
    ("people", "name"),
    [
        (["ann"], "Flip with ann"),
        (["ann", "careful"], "Flip with ann (+1 bot)"),
        (["careful"], "Flip with 1 bot"),
        (["careful", "careful"], "Flip with 2 bots"),
    ],
)
def test_a_game_is_named_after_its_rules_and_people(alice: User, people: list[str], name: str) -> None:
    seats = [person(who) if who == "ann" else who for who in people]
    table = table_after([alice, *seats], 0, seed=1, preset="flip")
    assert emails.game_name(queries.view_of(table, alice)) == name
    if "careful" in people:  # a bot that keeps the seat of a person is none of the game's
        Seat.objects.filter(game=table.game, index=0).update(bot="careful")
        assert "alice" in emails.game_name(queries.view_of(now_of(table), None))


def test_a_wild_card_is_told_with_the_colour_that_was_chosen(alice: User, bob: User) -> None:
    wild = table_at({**CLASSIC, "discard_pile": ["r3", "W4"], "color": "g"}, [alice, bob], preset="classic")
    mail = emails.turn_mail(reader(alice), KINDS[TURN], [Turn(queries.view_of(wild, alice))], now=NOON, unique="1")
    assert "Top card: Wild Draw Four, colour: Green" in told(mail)


def test_mails_about_one_game_are_one_conversation(alice: User, bob: User) -> None:
    one, other = (queries.view_of(table_at(TWO_HANDS, [alice, bob], deadline=NOON + DAY), alice) for _ in range(2))
    over = [EmailItem("Bob wins the game.", one)]
    mails = [
        emails.turn_mail(reader(alice), KINDS[TURN], [Turn(one)], now=NOON, unique="1"),
        emails.turn_mail(reader(alice), KINDS[DEADLINE], [Turn(one)], now=NOON, unique="2"),
        emails.news_mail(reader(alice), KINDS[GAME_OVER], over, now=NOON, unique="3"),
        emails.turn_mail(reader(alice), KINDS[TURN], [Turn(other)], now=NOON, unique="4"),
        emails.turn_mail(reader(bob), KINDS[TURN], [Turn(one)], now=NOON, unique="5"),
        emails.turn_mail(reader(alice), KINDS[TURN], [Turn(one), Turn(other)], now=NOON, unique="6"),
    ]
    found = [(mail.extra_headers.get("References"), mail.extra_headers.get("In-Reply-To")) for mail in mails]
    assert found[0] == found[1] == found[2]
    assert len({*found[2:]}) == 4
    assert found[0][0] == found[0][1] != mails[0].extra_headers["Message-ID"]
    assert found[5] == (None, None)


class Words(HTMLParser):
    """What a person reads of a mail in HTML: its text, pictures in words, and links after their texts."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[str] = []
        self._inside: list[tuple[str, bool]] = []  # the open elements, and whether each is left out
        self._link = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("meta", "br"):
            self.said.append(" ")
            return
        picture, brand = given.get("role") == "img", "brand" in (given.get("class") or "")
        if picture:
            self.said.append(given["aria-label"] or "")
        self._inside.append((tag, picture or brand or tag in ("title", "style")))
        if tag == "li":
            self.said.append(" - ")
        if tag == "a":
            self._link = given["href"] or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and not self._is_left_out():
            self.said.append(f": {self._link}")
        assert self._inside.pop()[0] == tag
        self.said.append(" " if tag != "b" else "")

    def handle_data(self, data: str) -> None:
        if not self._is_left_out():
            self.said.append(data)

    def _is_left_out(self) -> bool:
        return any(left_out for _, left_out in self._inside)


def test_text_and_html_say_the_same_in_every_mail(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], 4, seed=2, deadline=NOON + DAY)
    view, to = queries.view_of(table, alice), reader(alice)
    last = queries.last_lines([table])[table.game.pk]
    mails = [*mails_about(view, to, last), emails.works_mail(to, now=NOON, unique="1")]
    for kind in KINDS.values():
        page = kind.path(occasion=1)
        news = [EmailItem("It happened & was seen.", None if page else view, page), EmailItem("It is gone.", None)]
        if kind.template == "news":
            mails += [emails.news_mail(to, kind, some, now=NOON, unique="1") for some in (news[:1], news[1:], news)]
    mails.append(emails.digest_mail(to, [], [EmailItem("A report.", None, "/reports/"), *news], now=NOON, unique="1"))
    for mail in mails:
        message = parsed(mail.message().as_bytes())
        text = text_of(message).replace("\n-- \n", "\n")
        assert "".join(Words(text_of(message, "html")).said).split() == text.split(), mail.subject
