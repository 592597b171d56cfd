"""Test notices, mails and "Since your last move" where variants have phases of their own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import pytest

from accounts.models import User
from games import queries
from games.actions.standing_orders import set_orders
from games.models import Notice
from games.notices import emails
from games.notices.emails import Reader, Turn
from games.notices.kinds import GAME_OVER, KINDS, OUT, ROUND_OVER, TURN
from games.queries import Table, Viewer
from games.render import news
from tests.support.clocks import SECOND, move, swept
from tests.support.notices import texts_of
from tests.support.races import RACE, RACING
from tests.support.tables import NOON, now_of, table_at

pytestmark = pytest.mark.django_db

DAY: Final = timedelta(days=1)
PLAIN: Final[Mapping[str, Any]] = {
    "hands": [["W4", "r5", "b9"], ["g1", "g2", "y+2"], ["b4", "b3", "W"]],
    "turn": 0,
    "discard_pile": ["r3"],
    "draw_pile": ["b1", "b2", "y3", "g4", "b6", "y8", "g9", "r2", "y1", "g1"],
}
"""Seat 0 is on turn on a red 3. Its Wild Draw Four is a bluff, because it holds a red 5."""
BEFORE_THE_RACE: Final = {**RACE, "phase": "play", "buzz": None, "discard_pile": ["r3"]}


@pytest.fixture
def three(alice: User, bob: User, charlie: User) -> list[User]:
    return [alice, bob, charlie]


def over_days(people: list[User], *hands: str, preset: str = "classic", **fields: Any) -> Table:
    """Return a table in `PLAIN`, or with these hands, that is played over days."""
    position = {**PLAIN, **({"hands": [hand.split() for hand in hands]} if hands else {})}
    return table_at(position, people, preset=preset, **{"deadline": NOON + DAY, **fields})


def told(**which: Any) -> list[tuple[str, str, int, str]]:
    """Return person, kind, version and text of each notice on the site that waits."""
    rows = Notice.objects.filter(channel="site", state=Notice.State.WAITING, **which).order_by("pk")
    return [(row.user.username, row.kind, row.version, text) for row, text in zip(rows, texts_of(rows), strict=True)]


def task_of(table: Table, user: User) -> str:
    """Return what the mail about a person's turn says that they have to do."""
    view = queries.view_of(now_of(table), user)
    to = Reader(user.pk, user.name, user.email, "UTC", "key")
    mail = emails.turn_mail(to, KINDS[TURN], [Turn(view)], now=NOON, unique="1")
    return str(mail.body).splitlines()[0]


def time_runs_out(table: Table) -> None:
    deadline = now_of(table).game.deadline
    assert deadline is not None
    swept(deadline)


def news_of(table: Table, user: User) -> list[str]:
    here = now_of(table)
    return [step.text for step in news.since_your_move(queries.view_of(here, user), queries.log_of(here, user))]


def test_the_mail_about_a_right_to_challenge_says_so(three: list[User]) -> None:
    table = over_days(three)
    move(table, three[0], "play W4 color g")
    assert told() == [("bob", TURN, 1, "")]
    assert task_of(table, three[1]) == "Your turn. Challenge alice or take 4."
    assert news_of(table, three[1]) == ["alice: Wild Draw Four, green."]


def test_a_bluffer_who_was_away_reads_the_verdict(three: list[User]) -> None:
    table = over_days(three)
    move(table, three[0], "play W4 color g")
    move(table, three[1], "challenge")
    assert told() == [("bob", TURN, 2, "")]  # the debt is gone, and bob has a whole turn
    verdict = "bob challenges you and catches your bluff. You draw 4: 2 blue, 1 yellow, 1 green."
    assert news_of(table, three[0]) == [verdict]
    assert news_of(table, three[1]) == []


def test_a_bluffer_who_is_knocked_out_by_the_verdict_is_notified(three: list[User]) -> None:
    table = over_days(three, "W4 r5 b9 b8 b7 b6 b5", "g1 g2", "b4 b3", options={"mercy_limit": 10})
    move(table, three[0], "play W4 color g")
    move(table, three[1], "challenge")
    sentence = "You reach the mercy limit and are out of the round."
    assert told() == [("alice", OUT, 2, sentence), ("bob", TURN, 2, "")]
    assert news_of(table, three[0])[0].endswith("1 green. No mercy: you are out.")


@pytest.mark.long
def test_who_let_a_right_to_challenge_lapse_reads_what_the_clock_did(three: list[User]) -> None:
    table = over_days(three)
    move(table, three[0], "play W4 color g")
    time_runs_out(table)
    assert told() == [("charlie", TURN, 2, "")]
    assert {row.reason for row in Notice.objects.filter(user=three[1])} == {"moved_on"}
    assert news_of(table, three[1]) == [
        "alice: Wild Draw Four, green.",
        "Time ran out. You draw 4: 2 blue, 1 yellow, 1 green.",
    ]


def test_who_still_has_a_turn_after_the_clock_took_a_debt_is_notified(three: list[User]) -> None:
    table = over_days(three, preset="house-party")
    move(table, three[0], "play W4 color g")
    time_runs_out(table)
    assert told() == [("bob", TURN, 2, "")]
    assert news_of(table, three[1])[1] == "Time ran out. You draw 4: 2 blue, 1 yellow, 1 green."


def test_a_debt_that_was_passed_on_is_in_the_mail_and_the_news(three: list[User]) -> None:
    table = over_days(three, "r+2 r5 b9", "g1 g2 y+2", "b4 b3 W", preset="house-party")
    for user, text in zip(three, ("play r+2", "play y+2", "play W color b"), strict=True):
        move(table, user, text)
    assert told() == [("alice", TURN, 3, "")]
    assert task_of(table, three[0]) == "Your turn. Take 4."
    assert news_of(table, three[0]) == ["bob: Yellow Draw Two.", "charlie: Wild, blue."]


def test_a_race_for_a_buzzer_writes_no_notice_and_its_player_reads_how_the_clock_ended_it(three: list[User]) -> None:
    hands = [["BZ", "r4", "r5"], ["r1", "g2"], ["b4", "b3"]]
    table = table_at({**BEFORE_THE_RACE, "hands": hands}, three, **RACING, deadline=NOON + 20 * SECOND)
    move(table, three[0], "play BZ")
    move(table, three[2], "buzz", at=NOON + SECOND)
    assert told() == []
    swept(NOON + 9 * SECOND)
    assert told() == []
    over = "Time ran out. bob was slowest: +2."
    assert news_of(table, three[0]) == ["charlie presses the buzzer.", over]
    assert news_of(table, three[2]) == [over]


def test_who_is_knocked_out_or_beaten_by_a_buzzer_is_notified(three: list[User]) -> None:
    hands = [["BZ"], ["g1"] * 8, ["b4", "b3"]]
    options = {"buzzers": "race", "mercy_limit": 10}
    table = table_at(
        {**BEFORE_THE_RACE, "hands": hands}, three, preset="house-party", options=options, pace="live", deadline=NOON
    )
    move(table, three[0], "play BZ", at=NOON - SECOND)
    for user in (three[2], three[0]):
        move(table, user, "buzz", at=NOON)
    assert told() == [
        ("bob", OUT, 3, "You reach the mercy limit and are out of the round."),
        ("bob", GAME_OVER, 3, "alice wins the game."),
        ("charlie", GAME_OVER, 3, "alice wins the game."),
    ]


def test_an_owner_who_was_away_is_notified_that_a_standing_order_won(three: list[User]) -> None:
    table = over_days(three, "r5 b1 b2", "y1 y2", "r5", options={"interceptions": "super"})
    set_orders(code=table.game.code, viewer=Viewer(three[2]), fields={"intercept": "card"}, now=NOON)
    move(table, three[0], "play r5")
    assert told() == [("bob", GAME_OVER, 2, "charlie wins the game."), ("charlie", GAME_OVER, 2, "You win the game.")]
    assert news_of(table, three[2]) == [
        "alice: Red 5.",
        "A standing order plays. You intercept bob. You: Red 5. You win the round. That’s 6 points.",
    ]


def test_a_debt_that_a_standing_order_made_is_a_turn_of_its_debtor(three: list[User]) -> None:
    """Bob owes Alice's two cards, Charlie's order answers for him, and Alice owes the four."""
    table = over_days(three, "r+2 b1 b2", "y1 y2", "g+2 b9 b8", preset="house-party")
    set_orders(code=table.game.code, viewer=Viewer(three[2]), fields={"intercept": "face"}, now=NOON)
    move(table, three[0], "play r+2")
    assert told() == [("alice", TURN, 2, "")]
    assert task_of(table, three[0]) == "Your turn. Take 4."
    assert news_of(table, three[0]) == ["charlie intercepts bob. charlie: Green Draw Two."]


def test_who_is_out_of_a_round_reads_that_its_points_decided_the_match(alice: User, bob: User) -> None:
    """Bob is worth 250 points to himself (ELIM-2), which is more than the target, so the fewest points win."""
    position = {
        **PLAIN,
        "hands": [["r+2", "r5", "b2"], ["g1"] * 23],
        "draw_pile": ["b1", "b2", "y3", "g4", "b6", "y8"] * 2,
    }
    table = table_at(position, [alice, bob], preset="playroom-no-mercy", target=200, deadline=NOON + DAY)
    move(table, alice, "play r+2")
    time_runs_out(table)
    assert [seat.score for seat in now_of(table).seats] == [0, 250]
    assert told(user=bob) == [
        ("bob", OUT, 2, "You reach the mercy limit and are out of the round."),
        ("bob", GAME_OVER, 2, "alice wins the match."),
    ]
    assert told(user=alice) == [("alice", GAME_OVER, 2, "You win the match.")]
    assert not Notice.objects.filter(kind=ROUND_OVER).exists()
