"""Test hostile names, written straight into rows, in every kind of mail and every list of the staff.

A mail with such a name must have the same headers, lines, tags and links as one with a plain name.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from django.urls import reverse

from accounts.models import FOR_GOOD, User
from games.actions import lobby
from games.models import Case, Notice, Report, Seat
from games.notices import player_notices, preferences
from games.notices.kinds import BOT_TOOK_OVER, DIGEST, INVITED, KINDS, SUSPENDED
from games.queries import Table
from mail import outbox
from tests.conftest import person
from tests.support.codes import staff_browser
from tests.support.mail import MailServer, parsed, text_of
from tests.support.notices import won
from tests.support.tables import NOON, TWO_HANDS, table_at
from tests.support.worlds import undone

pytestmark = pytest.mark.django_db

HOSTILE = {
    "markup": "</p><b id=c>E</b>\" a='x' `<!--</a><script>a()</script>&lt;b&gt;",
    "template and encoded word": "{{ stop }}=?utf-8?q?e=0D=0ABcc:_v?={% include 'about.txt' %}",
    "lines and directions": (
        "E\r\nBcc: v\r\n\r\n\u2028o\u2029t\x85\x0bf\x0c\u202e\u2066\u200f\u061c\u200b\ufeff\u00ad"
        "\n-- \nStop these emails: x"
    ),
    "address and long": f'"Eve" <victim@example.org>, {"M" * 36}',
}
"""Names of at most 64 characters. Of each, 30 are the name that is displayed."""
PLAIN = "Eve"
HEADERS = {
    "content-type", "mime-version", "subject", "from", "to", "date", "message-id", "auto-submitted",
    "x-auto-response-suppress", "list-unsubscribe", "list-unsubscribe-post", "list-id", "references", "in-reply-to",
}  # fmt: skip
LATER, TOMORROW = NOON + timedelta(hours=1), NOON + timedelta(days=1)
DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Outline(HTMLParser):
    """The tags of a document with the names of their attributes, and every attribute that is not text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[object] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, [(name, None if name == "href" else value) for name, value in attrs]))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(tag)

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", data))


def named(user: User, name: str) -> None:
    """Give this person a name without any validation."""
    User.objects.filter(pk=user.pk).update(display_name=name[:30], username=name)
    user.refresh_from_db()
    Seat.objects.filter(user=user).update(name=name)


Tables = dict[tuple[str, str], Table]
"""A table for each notice that is about one, by kind and reader."""


def tables_of(alice: User, eve: User) -> Tables:
    """Return a table for a notice of each kind to either about the other."""
    kinds = [kind for kind in KINDS if kind not in (DIGEST, INVITED)]
    pairs = [(kind, user, other) for user, other in ((alice, eve), (eve, alice)) for kind in kinds]
    return {(kind, user.email): table_at(TWO_HANDS, [user, other], deadline=TOMORROW) for kind, user, other in pairs}


def mails_of(server: MailServer, people: tuple[User, User], tables: Tables, name: str) -> dict[str, list[str]]:
    """Return subject, text, HTML and header names of a mail of every kind to and about a person with this name.

    All rows are rolled back: with those of every name, counting a person's turns would take seconds.
    """
    server.taken.clear()
    with undone():
        send_every_kind(*people, tables, name)
    found: dict[str, list[str]] = {}
    for envelope in server.taken:
        mail = parsed(envelope.original_content or b"")
        kind = (mail["List-Id"] or "<works.").strip("<").split(".")[0]
        assert ([mail["To"]], mail.defects) == (envelope.rcpt_tos, []), name
        assert max(map(len, (envelope.original_content or b"").split(b"\r\n\r\n")[0].splitlines())) < 998, name
        headers = "\n".join(mail.keys())
        found[f"{kind} to {mail['To']}"] = [str(mail["Subject"]), text_of(mail), text_of(mail, "html"), headers]
    return found


def send_every_kind(alice: User, eve: User, tables: Tables, name: str) -> None:
    """Send a mail of every kind to and about Eve with this name."""
    named(eve, name)
    User.objects.update(is_staff=True)  # some kinds are for staff
    for user, other in ((alice, eve), (eve, alice)):
        for kind in KINDS:
            if kind not in (DIGEST, SUSPENDED):
                news(kind, user, other, tables, name)
        named(eve, name)
        preferences.choose(user=user, choices={f"{kind}.email": True for kind in KINDS}, digest_hour=13, now=NOON)
    Notice.objects.filter(state="dropped", reason="off").update(state="waiting", reason="")
    outbox.deliver(clock=lambda: NOON + timedelta(minutes=5))
    User.objects.update(suspended_until=FOR_GOOD)
    for user, other in ((alice, eve), (eve, alice)):
        news(SUSPENDED, user, other, tables, name)
    outbox.deliver(clock=lambda: NOON + timedelta(minutes=10))
    User.objects.update(suspended_until=None)
    preferences.write_digests(now=LATER)
    outbox.deliver(clock=lambda: LATER)
    preferences.mark_bounced(address="eve@example.org", now=LATER)
    preferences.ask_whether_it_works(user=eve, now=LATER)
    outbox.deliver(clock=lambda: LATER)


def news(kind: str, user: User, other: User, tables: Tables, name: str) -> None:
    """Write a notice of this kind to `user` about a table with `other`, with that name in its text."""
    if kind == INVITED:
        game = lobby.create_table(user=other, choices=lobby.TableChoices(players=3), now=NOON).game
        player_notices.invited(game, [user.pk], asker=other, now=NOON)
        return
    table = tables[kind, user.email]
    if kind == BOT_TOOK_OVER:
        Seat.objects.filter(pk=table.seats[0].pk).update(bot="careful")
    notice = player_notices.NewNotice(user.pk, kind) if KINDS[kind].turn else won(user.pk, name, kind)
    player_notices.write(table.game, [notice], now=NOON, occasion=int(TOMORROW.timestamp()))


@pytest.mark.long
def test_no_name_changes_the_structure_of_a_mail(server: MailServer, alice: User) -> None:
    people = alice, person("eve")
    tables = tables_of(*people)
    plain = mails_of(server, people, tables, PLAIN)
    kinds = {name.split(" to ")[0].replace("-", "_") for name in plain}
    # So that no kind escapes this test.
    assert kinds == {*(kind.name for kind in KINDS.values() if not kind.only_in), "works"}
    assert sorted(plain["turn to alice@example.org"][3].lower().splitlines()) == sorted(HEADERS)
    for what, name in HOSTILE.items():
        hostile = mails_of(server, people, tables, name)
        assert hostile.keys() == plain.keys(), what
        found = {kind: differences(mail, plain[kind]) for kind, mail in hostile.items()}
        assert found == {kind: [] for kind in plain}, what


def differences(mail: list[str], plain: list[str]) -> list[str]:
    """Return what a name changes in a mail besides text."""
    (subject, text, html, headers), (_, plain_text, plain_html, plain_headers) = mail, plain
    found = {
        "a header": headers != plain_headers,
        "a line in the subject": "\n" in subject,
        "a line": len(text.splitlines()) != len(plain_text.splitlines()),
        "a tag": Outline(html).tags != Outline(plain_html).tags,
        "a direction": any(DIRECTIONS.search(part) for part in mail),
        "a control": any(unicodedata.category(c) == "Cc" and c not in "\n\r" for part in mail for c in part),
    }
    return [what for what, there in found.items() if there]


@pytest.mark.parametrize(
    ("mail", "seen"),
    [
        (["Eve plays", "Eve\nplays", "<p class='a'>Eve</p>", "To"], []),
        (["&lt;b&gt; plays", "<b>\nplays", "<p class='a'>&lt;b&gt;</p>", "To"], []),
        (["Eve\nBcc: v", "Eve\nplays", "<p class='a'>Eve</p>", "To"], ["a line in the subject"]),
        (["Eve plays", "Eve\nplays", "<p class='a'>Eve</p>", "To\nBcc"], ["a header"]),
        (["Eve plays", "Eve\nStop: x\nplays", "<p class='a'>Eve</p>", "To"], ["a line"]),
        (["Eve plays", "Eve\u2028one\nplays", "<p class='a'>Eve</p>", "To"], ["a line"]),
        (["Eve plays", "Eve\nplays", "<p class='a'><b>Eve</b></p>", "To"], ["a tag"]),
        (["Eve plays", "Eve\nplays", "<p class='a' onclick='b'>Eve</p>", "To"], ["a tag"]),
        (["Eve plays", "Eve\nplays", "<p class='a'><!-- Eve --></p>", "To"], ["a tag"]),
        (["\u202eevE plays", "Eve\nplays", "<p class='a'>Eve</p>", "To"], ["a direction"]),
        (["Eve plays", "Eve\nplays", "<p class='a'>Eve\x07</p>", "To"], ["a control"]),
    ],
)
def test_the_comparison_finds_everything_that_a_name_can_inject(mail: list[str], seen: list[str]) -> None:
    assert differences(mail, ["Eve plays", "Eve\nplays", "<p class='a'>Eve</p>", "To"]) == seen


LISTS = ("games_game", "games_round", "games_move", "games_notice", "games_report", "games_case", "accounts_user")


@pytest.mark.long
def test_no_name_changes_the_structure_of_a_staff_list(ann: User, alice: User, bob: User) -> None:
    browser = staff_browser(ann)

    def outlines() -> dict[str, list[object]]:
        pages = {page: browser.get(reverse(f"admin:{page}_changelist")) for page in LISTS}
        assert {page: answer.status_code for page, answer in pages.items()} == dict.fromkeys(LISTS, 200)
        assert letters_of(pages["accounts_user"].content.decode())
        return {page: letters_of(answer.content.decode()) for page, answer in pages.items()}

    table = table_at(TWO_HANDS, [alice, bob])
    player_notices.write(table.game, [player_notices.NewNotice(alice.pk, "turn")], now=NOON)
    case = Case.objects.create(person=alice, kind="name", opened_at=NOON)
    Report.objects.create(case=case, reporter=bob, game=table.game, at=NOON, text="Look at this.")
    named(alice, PLAIN)
    before = outlines()
    named(alice, HOSTILE["markup"])
    assert outlines() == before


def letters_of(html: str) -> list[object]:
    """Return the outline of a page without parts that differ between answers."""
    return [
        (tag[0], [attr for attr in tag[1] if attr[0] not in ("value", "nonce")]) if isinstance(tag, tuple) else tag
        for tag in Outline(html).tags
    ]
