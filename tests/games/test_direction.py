"""Names in right-to-left scripts do not move the words and numbers around them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.template import Context, Template

from accounts import actions
from accounts.models import User
from games.actions import lobby
from games.actions.play import play_move
from games.notices.emails import one_line
from games.queries import Viewer
from games.render.direction import isolate
from tests.conftest import logged_in
from tests.support.tables import TWO_HANDS, table_at

MUHAMMAD, ALI, DAVID = "\u0645\u062d\u0645\u062f", "\u0639\u0644\u06cc", "\u05d3\u05d5\u05d3"
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Bob plays Red 7.", "Bob plays Red 7."),
        ("Zo\u00eb\u2019s turn", "Zo\u00eb\u2019s turn"),
        (f"{MUHAMMAD} plays Red 7.", f"[{MUHAMMAD}] plays Red 7."),
        (f"{MUHAMMAD}\u2019s turn", f"[{MUHAMMAD}]\u2019s turn"),
        (f"{MUHAMMAD} 7, {ALI} 9", f"[{MUHAMMAD}] 7, [{ALI}] 9"),
        (f"{MUHAMMAD} {ALI} and {DAVID}", f"[{MUHAMMAD} {ALI}] and [{DAVID}]"),
        ("\U0001e900 x", "[\U0001e900] x"),
    ],
)
def test_a_right_to_left_name_is_isolated(text: str, found: str) -> None:
    assert isolate(text, "[", "]") == found


def test_the_filter_escapes_text() -> None:
    page = Template("{{ text|bdi }}").render(Context({"text": f"<b>{MUHAMMAD}</b> & \u2019"}))
    assert page == f"&lt;b&gt;<bdi>{MUHAMMAD}</bdi>&lt;/b&gt; &amp; \u2019"
    assert Template("{{ text|bdi }}").render(Context({"text": "<b>Bob</b>\u2019s"})) == "&lt;b&gt;Bob&lt;/b&gt;\u2019s"


@pytest.mark.long
@pytest.mark.django_db
def test_game_pages_isolate_right_to_left_names(alice: User, bob: User) -> None:
    actions.update_profile(user=bob, display_name=MUHAMMAD, time_zone="UTC", now=NOW)
    table = lobby.create_table(user=bob, choices=lobby.TableChoices(players=2), now=NOW)
    page = logged_in(alice).get(f"/games/{table.game.code}/").content.decode()
    assert f"<bdi>{MUHAMMAD}</bdi>\u2019s table: 1 seat is free" in page
    playing = table_at(TWO_HANDS, [bob, alice])
    play_move(code=playing.game.code, viewer=Viewer(bob), text="play r5", version=0, now=NOW)
    for path in ("", "log/"):
        page = logged_in(alice).get(f"/games/{playing.game.code}/{path}").content.decode()
        assert f"<bdi>{MUHAMMAD}</bdi> plays Red 5." in page
        assert f"{MUHAMMAD}</bdi>" not in page.partition("</title>")[0]


def test_a_plain_text_mail_isolates_right_to_left_names_only() -> None:
    assert one_line(f"{MUHAMMAD}\u2019s turn\n7") == f"\u2068{MUHAMMAD}\u2069\u2019s turn 7"
    assert one_line(one_line(f"\u202e{MUHAMMAD}\u2066 x")) == f"\u2068{MUHAMMAD}\u2069 x"
    assert one_line("Bob\u2068\u2019s turn") == "Bob\u2019s turn"
