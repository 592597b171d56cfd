"""Test the texts of mails: the heading of the game page, the reader's time zone, text and HTML, and no card."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from games import queries, rules
from games.notices import emails
from games.notices.emails import EmailItem, Reader
from games.notices.kinds import DEADLINE, GAME_OVER, KINDS, TURN
from tests.support.mail import parsed, text_of
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at

pytestmark = pytest.mark.django_db

FACES = sorted({card for deck in rules.DECKS.values() for card in deck.cards})
DAY = timedelta(days=1)


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


def mails_about(view: queries.GameView, to: Reader) -> list[Any]:
    """Return all kinds of mails that say until when a turn is."""
    news = [EmailItem("Bob wins the game.", view)]
    return [
        emails.turn_mail(to, KINDS[TURN], [view], now=NOON, unique="1"),
        emails.turn_mail(to, KINDS[TURN], [view, view], now=NOON, unique="1"),
        emails.turn_mail(to, KINDS[DEADLINE], [view], now=NOON, unique="1"),
        emails.digest_mail(to, [view], news, now=NOON, unique="1"),
    ]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_no_mail_names_a_card(alice: User, bob: User, charlie: User, seed: int) -> None:
    people = [alice, bob, charlie]
    table = table_after(people, 5 + 9 * seed, seed, deadline=NOON + DAY)
    for user in people:
        view, to = queries.view_of(table, user), reader(user)
        over = emails.news_mail(to, KINDS[GAME_OVER], [EmailItem("Bob wins the game.", view)], now=NOON, unique="1")
        for mail in (*mails_about(view, to), over):
            assert cards_in(everything_in(mail)) == []


def test_the_drawn_card_is_in_the_page_heading_but_in_no_mail(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["b1", "r7"], ["r4", "g3"]], "phase": "drawn", "drawn": "r7"}
    view = queries.view_of(table_at(position, [alice, bob], deadline=NOON + DAY), alice)
    mail = emails.turn_mail(reader(alice), KINDS[TURN], [view], now=NOON, unique="1")

    assert mail.subject == "Your turn. You drew a card: play it. You have until Sunday 22 November, 12:00 (UTC)."
    assert cards_in(everything_in(mail)) == []


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
    mail = emails.turn_mail(reader(alice, zone), KINDS[TURN], [view], now=NOON, unique="1")

    assert mail.subject == f"Your turn. You have until {when}."
    reminder = emails.turn_mail(reader(alice, zone), KINDS[DEADLINE], [view], now=NOON, unique="1")
    assert reminder.subject == f"Reminder. {mail.subject}"
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
    mail = emails.turn_mail(reader(alice), KINDS[TURN], [queries.view_of(table, alice)], now=NOON, unique="1")
    message = parsed(mail.message().as_bytes())

    assert "with <b>Bob</b> & <script>" in text_of(message)
    assert "with &lt;b&gt;Bob&lt;/b&gt; &amp; &lt;script&gt;" in text_of(message, "html")
    assert "<script>" not in text_of(message, "html")


def test_a_retry_keeps_the_message_id_and_another_notice_has_a_new_one(alice: User, bob: User) -> None:
    view = queries.view_of(table_at(TWO_HANDS, [alice, bob]), alice)
    first, second, other = (
        emails.turn_mail(reader(alice), KINDS[TURN], [view], now=NOON, unique=unique).extra_headers["Message-ID"]
        for unique in ("1", "1", "2")
    )
    assert first == second != other


def test_a_mail_loads_nothing_from_other_servers(alice: User, bob: User) -> None:
    view = queries.view_of(table_at(TWO_HANDS, [alice, bob]), alice)
    html = text_of(
        parsed(emails.turn_mail(reader(alice), KINDS[TURN], [view], now=NOON, unique="1").message().as_bytes()), "html"
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
