"""The first line of the end of a round or of a game, its story, and its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest
from django.test import Client

from accounts.models import User
from games import rules
from games.actions.commit import commit
from games.models import Move
from games.queries import LastHand, Table
from games.queries.game_page import LastRound
from games.render.round_end import EndedRound, round_end
from games.render.round_story import EndForReader
from games.rules import Blow, Feats, KeyMoment
from tests.games.test_render import OVER, PLAIN, seen
from tests.support.pages import text_of
from tests.support.tables import NOON, TWO_HANDS, change_position, now_of, table_at

HELD: Final = [LastHand((), out=False, left=False)] + [LastHand(("r4", "g3"), out=False, left=False)] * 2
NOTHING: Final = (Feats(), Feats(), Feats())
WON: Final = Blow(40, "r5", 0)
TOOK_12: Final = KeyMoment(17, 1, "took_stack", 1, 12)
SINGLE: Final[Mapping[str, Any]] = {"status": "over", "winner": 0}
MATCH: Final[Mapping[str, Any]] = {**SINGLE, "target": 500}


def end(
    you: int | None,
    game: Mapping[str, Any] = SINGLE,
    *,
    outs: Mapping[int, Blow] | None = None,
    win: Blow | None = WON,
    moments: Sequence[KeyMoment] = (),
    feats: Sequence[Feats] = NOTHING,
    scores: Sequence[int] = (0, 0, 0),
) -> EndForReader:
    """Return the end of a round that Ann, in seat 0, has won; by default it is a single round."""
    view = seen(OVER, you, **game)
    seats = tuple(replace(seat, score=score) for seat, score in zip(view.seats, scores, strict=True))
    ended = LastRound(1, rules.Outcome(0, 10), HELD)
    return EndForReader(replace(view, seats=seats), ended, moments, rules.RoundStory(outs or {}, win, tuple(feats)))


@pytest.mark.parametrize(
    ("shown", "first_line", "story"),
    [
        # Won
        (end(0), "You win!", "Your last card was Red 5, on move 40."),
        (end(0, outs={1: Blow(17, "W6", 0, 12)}), "You win!", "Your stack of 12 knocked out Bob."),
        (end(0, outs={1: Blow(17, "W6", 0, 12), 2: Blow(3, "WC", 0)}), "You win!", "You knocked out Bob and Chen."),
        (end(0, outs={1: Blow(17)}), "You win!", "Bob went out on move 17."),
        (end(0, moments=[TOOK_12._replace(seat=0)]), "You win!", "You took a stack of 12 and won anyway."),
        (end(0, feats=[Feats(sent=14), *NOTHING[1:]]), "You win!", "You sent a stack of 14 on the way."),
        (end(0, win=Blow(40)), "You win!", ""),
        # Knocked out by the winner, and otherwise
        (end(1, outs={1: Blow(17, "W6", 0, 12)}), "Ann got you", "You went out on move 17, to a stack of 12."),
        (end(1, outs={1: Blow(17, "WC", 0)}), "Ann got you", "You went out on move 17."),
        (
            end(1, outs={1: Blow(17, "W6", 2, 12)}),
            "You went out on move 17, to a stack of 12",
            "Chen sent you that stack.",
        ),
        (
            end(1, outs={1: Blow(17, "WC", 2)}),
            "You went out on move 17",
            "Chen played the Wild Color Roulette that finished you.",
        ),
        (end(1, outs={1: Blow(17, by=2)}), "You went out on move 17", "Chen caught you not calling UNO."),
        (end(1, outs={1: Blow(17)}), "You went out on move 17", "You held too many cards."),
        # With cards in hand
        (end(1), "Ann wins, and you were 2 cards short", "Ann’s last card was Red 5, on move 40."),
        (end(1, moments=[TOOK_12]), "Ann wins, and you were 2 cards short", "You took a stack of 12 on move 17."),
        (
            end(2, outs={1: Blow(17, "W6", 0, 12)}, moments=[TOOK_12]),
            "Ann wins, and you were 2 cards short",
            "Ann knocked out Bob with a stack of 12.",
        ),
        (
            end(2, outs={1: Blow(17, "W6", 2, 12)}, moments=[TOOK_12]),
            "Ann wins, and you were 2 cards short",
            "Your stack of 12 knocked out Bob.",
        ),
        (end(2, outs={1: Blow(17, "WC", 2)}), "Ann wins, and you were 2 cards short", "You knocked out Bob."),
        # Watched
        (end(None), "Ann wins", "Ann’s last card was Red 5, on move 40."),
        (end(None, outs={1: Blow(17, "WC", 2)}), "Ann wins", "Chen knocked out Bob."),
        (end(None, moments=[TOOK_12]), "Ann wins", "Bob took a stack of 12 on move 17."),
        # A match
        (end(0, MATCH), "You win the match!", "Nobody ever took the lead from you."),
        (
            end(1, MATCH, moments=[KeyMoment(90, 3, "lead", 0, 300)], scores=(520, 400, 0)),
            "Ann wins the match, 120 points ahead of you",
            "Ann took the lead in round 3 and kept it.",
        ),
        (
            end(1, MATCH, moments=[KeyMoment(90, 3, "lead", 2, 300)]),
            "Ann wins the match",
            "Ann’s last card was Red 5, on move 40.",
        ),
        (
            end(
                1,
                MATCH,
                outs={1: Blow(17, "W6", 2, 12)},
                moments=[KeyMoment(90, 3, "lead", 2, 0)],
                scores=(520, 120, 0),
            ),
            "Ann wins the match, 400 points ahead of you",
            "You went out on move 17, to a stack of 12.",
        ),
        # A round of a match
        (end(0, {"target": 500}), "You win round 1", "Your last card was Red 5, on move 40."),
        (
            end(1, {"target": 500}),
            "Ann wins round 1, and you were 2 cards short",
            "Ann’s last card was Red 5, on move 40.",
        ),
        (end(1, {"target": 500}, outs={1: Blow(17, "WC", 0)}), "Ann got you", "You went out on move 17."),
    ],
)
def test_the_end_begins_with_a_line_about_its_reader_and_a_story(
    shown: EndForReader, first_line: str, story: str
) -> None:
    told = shown.sentence()
    assert (shown.first_line(), told.text if told else "") == (first_line, story)


def test_somebody_who_left_or_lost_to_a_bot_reads_who_won() -> None:
    shown = end(1, outs={1: Blow(17, "W6", 0, 12)})
    left = [replace(seat, left=seat.seat == 1) for seat in shown.view.seats]
    assert replace(shown, view=replace(shown.view, seats=tuple(left))).first_line() == "Ann wins"
    by_bot = LastRound(1, rules.Outcome(0, 10), [HELD[0]._replace(won_by_bot=True), *HELD[1:]])
    assert replace(shown, ended=by_bot, view=seen(OVER, 1, target=500)).first_line() == "Ann’s bot wins round 1"


def in_page(shown: EndForReader) -> EndedRound:
    return round_end(shown, None, None)


def test_a_game_too_long_to_be_told_has_no_story_and_no_card() -> None:
    shown = in_page(replace(end(1), story=None))
    assert (shown.title, shown.story, shown.card, shown.numbers) == ("Ann wins, and you were 2 cards short", "", "", [])
    assert shown.moment_url == "/games/k7m2/replay/?n=5&round=1"


def test_the_card_is_that_which_knocked_the_reader_out_or_else_won() -> None:
    outs = {1: Blow(17, "W6", 2, 12)}
    assert [in_page(end(you, outs=outs)).card_name for you in (0, 1, 2)] == ["Red 5", "Wild Draw Six", "Red 5"]
    assert in_page(end(0, win=Blow(40))).card == ""


@pytest.mark.parametrize(
    ("best", "marked"),
    [(None, ["", "", ""]), (Feats(12, 4, 0), ["", "your best", "your most"]), (Feats(13, 6, 9), ["", "", ""])],
)
def test_a_number_that_is_more_than_in_all_other_games_is_marked(best: Feats | None, marked: list[str]) -> None:
    numbers = round_end(end(0), Feats(12, 6, 9), best).numbers
    assert [(number.label, number.n) for number in numbers] == [
        ("Biggest stack sent", 12), ("Biggest stack survived", 6), ("Cards drawn", 9),
    ]  # fmt: skip
    assert [number.best for number in numbers] == marked


def test_a_finished_game_is_shared_in_words_for_others_with_a_link_to_its_moment() -> None:
    shown = in_page(end(1, outs={1: Blow(17, "W6", 0, 12)}))
    assert shown.moment_url == "/games/k7m2/replay/?n=17&round=1"
    assert shown.share == "Ann wins. Ann knocked out Bob with a stack of 12."
    going_on = in_page(end(1, {"target": 500}))
    assert (going_on.moment_url, going_on.share, going_on.go) == ("", "", "Continue")
    assert in_page(end(1, {"target": 500, "status": "void"})).go == "Close"


def test_the_round_before_has_its_own_winner() -> None:
    view = seen(PLAIN, 1, target=500)
    shown = EndForReader(view, LastRound(1, rules.Outcome(1, 10), HELD), (), None)
    assert shown.first_line() == "You win round 1"


def test_the_end_of_a_game_stores_what_people_did_and_the_next_says_what_was_their_best(
    alice: User, bob: User, as_alice: Client, as_bob: Client
) -> None:
    def ended(draw_card: str, *, by_bot: bool = False) -> Table:
        hands = [[draw_card, "r5"], ["b1", "g3"], ["y1", "y2"]]
        table = table_at({**TWO_HANDS, "hands": hands}, [alice, bob, "careful"], bot_pause=10.0)
        for seat, move in (0, f"play {draw_card} uno"), (1, "take"):
            commit(now_of(table), seat, [rules.parse_move(move)], now=NOON)
        change_position(now_of(table), turn=0)
        Move.objects.filter(game=table.game, seat=1).update(by_bot=by_bot)
        assert {seat.cards_drawn for seat in now_of(table).seats} == {None}
        commit(now_of(table), 0, [rules.parse_move("play r5")], now=NOON)
        return now_of(table)

    stored = [(seat.stack_sent, seat.stack_survived, seat.cards_drawn) for seat in ended("r+2").seats]
    assert stored == [(2, 0, 0), (0, 2, 2), (None, None, None)]
    second = ended("r+4").game.get_absolute_url()
    shown = [text_of(browser.get(second)) for browser in (as_alice, as_bob)]
    assert ["Biggest stack sent 4 your best" in text for text in shown] == [True, False]
    assert ["Biggest stack survived 4 your best" in text for text in shown] == [False, True]
    assert ["Cards drawn 4 your most" in text for text in shown] == [False, True]
    aided = ended("r+4", by_bot=True)
    assert [seat.cards_drawn for seat in aided.seats] == [0, None, None]
    assert "Cards drawn" not in text_of(as_bob.get(aided.game.get_absolute_url()))
