"""Page objects and their sentences, made from positions in the notation, without the database."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from django.template import loader
from django.utils import timezone

from accounts.models import User
from games import queries, render, rules
from games.models import Game, Hand, Round, Seat
from games.models.paces import PACES
from games.queries import GameView, LastHand, LogLine
from games.queries.game_page import LastRound, PageContents
from games.render import GamePage, PageRequest, words
from games.render.key_moments import moment_sentence
from games.render.move import Chooser
from games.render.news import NewsStep, since_your_move
from games.render.page_events import page_events
from games.render.round_end import EndedRound
from games.render.table import ScoreRow
from games.rules import Event
from tests.support.options import values_of
from tests.support.tables import stored_options
from tests.support.times_left import TIMES_LEFT

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
T = TypeVar("T")
NAMES = ("Ann", "Bob", "Chen", "Dora")
DRAW_PILE = ["b1", "b2", "y3", "g4"]


def seen(
    position: Mapping[str, Any], you: int | None = 0, *, options: Mapping[str, object] | None = None, **game: Any
) -> GameView:
    """Return a game in this position as seat `you` sees it (None: a spectator), with Ann, Bob, Chen and Dora."""
    fields: dict[str, Any] = {"code": "k7m2", "status": "playing", "preset": "no-mercy", "version": 5, **game}
    chosen = rules.options_from(fields["preset"], options or {})
    row = Game(players=len(position["hands"]), options=stored_options(fields["preset"], chosen), **fields)
    engine = queries.options_of(row)
    here = rules.position_from_json({"draw_pile": DRAW_PILE, **position}, engine)
    seats = [Seat(index=n, name=NAMES[n], user_id=n) for n in range(len(here.hands))]
    round_ = Round(number=game.get("round_number", 1), winner=here.winner, points=here.points, commitment="c0ffee")
    hands = [Hand(seat=seat) for seat in seats]
    table = queries.Table(row, seats, engine, queries.Playing(round_, hands, here))
    return queries.view_of(table, None if you is None else User(pk=you))


def page(view: GameView, lines: Sequence[LogLine] = (), **asked: Any) -> GamePage:
    return render.game_page(PageContents(view, lines), PageRequest(**asked), NOW)


def there(part: T | None) -> T:
    """Return a part of a page, which must not be None."""
    assert part is not None
    return part


def line(n: int, seat: int, *events: Event) -> LogLine:
    return LogLine(n, 1, seat, "", NOW, events)


PLAIN: Mapping[str, Any] = {
    "hands": [["r5", "b1", "W6"], ["r4", "g3"], ["y1", "y2"]],
    "turn": 0,
    "discard_pile": ["r3"],
}
OWED = {**PLAIN, "discard_pile": ["r+2"], "pending": {"total": 6, "value": 2}}
ROULETTE = {**PLAIN, "discard_pile": ["WC"], "color": None, "phase": "choose_color"}
DRAWN = {**PLAIN, "phase": "drawn", "drawn": "r5"}
DRAWN_IN_CLASSIC = {**DRAWN, "hands": [["r5", "b1"], ["r4", "g3"], ["y1", "y2"]]}
NOTHING_FITS = {**PLAIN, "hands": [["b1"], ["r4", "g3"], ["y1", "y2"]], "declared": [0]}


HANDS_WITH_A_WILD = [["r5", "b1", "W"], ["r4", "g3"], ["y1", "y2"]]
CHALLENGED = {
    **OWED, "hands": HANDS_WITH_A_WILD, "discard_pile": ["r3", "W4"], "color": "r", "pending": {"total": 4, "value": 4},
    "challenge": {"seat": 2, "bluff": False},
}  # fmt: skip

RACE = {
    **PLAIN, "hands": HANDS_WITH_A_WILD, "discard_pile": ["r3", "BZ"], "phase": "buzz",
    "buzz": {"by": 0, "pressed": [1]},
}  # fmt: skip
RACING: Mapping[str, Any] = {"preset": "house-party", "options": {"buzzers": "race"}, "pace": "live"}
LIVE: Mapping[str, Any] = {"preset": "house-party", "pace": "live"}
OVER = {**PLAIN, "hands": [[], ["r4", "g3"], ["y1", "y2"]], "phase": "over", "winner": 0, "points": 10}
OUTLASTED = {**OVER, "hands": [["r5"], [], []], "out": [1, 2]}
KNOCKED_OUT = {**PLAIN, "hands": [["r5", "b1"], [], ["y1", "y2"]], "out": [1]}


@pytest.mark.parametrize(
    ("position", "you", "game", "told"),
    [
        (PLAIN, 0, {}, "Your turn"),
        (NOTHING_FITS, 0, {}, "Nothing fits: draw"),
        (OWED, 0, {}, "Stack or take 6"),
        ({**OWED, "hands": [["b1"], ["r4"]], "declared": [0, 1]}, 0, {}, "Take 6"),
        (ROULETTE, 0, {}, "Pick the roulette’s colour"),
        (DRAWN, 0, {}, "You drew Red 5: play it"),
        (DRAWN_IN_CLASSIC, 0, {"preset": "classic"}, "You drew Red 5: play or keep?"),
        (PLAIN, 1, {}, "Ann’s turn"),
        (OWED, 1, {}, "Ann: stack or take 6"),
        (ROULETTE, None, {}, "Ann: pick the roulette’s colour"),
        (DRAWN, 1, {}, "Ann: play the drawn card"),
        (CHALLENGED, 0, {"preset": "classic"}, "Challenge or take 4"),
        (CHALLENGED, 0, {"preset": "house-party"}, "Stack, challenge or take 4"),
        (CHALLENGED, 1, {"preset": "classic"}, "Ann: challenge or take 4"),
        (CHALLENGED, None, {"preset": "house-party"}, "Ann: stack, challenge or take 4"),
        (RACE, 0, RACING, "BUZZ!"),
        (RACE, 1, RACING, "You pressed. Who is slowest?"),
        (RACE, 2, RACING, "BUZZ!"),
        (RACE, None, RACING, "Who presses the buzzer last?"),
        (OVER, 0, {"status": "over", "winner": 0}, "You win!"),
        (OVER, 0, {"status": "over", "winner": 0, "target": 500}, "You win the match!"),
        (OUTLASTED, 1, {"status": "over", "winner": 0, "target": 500}, "Ann outlasts you all"),
        (OVER, 1, {"status": "over", "winner": 0, "target": 500}, "Ann wins the match"),
        (OVER, None, {"status": "over", "winner": 0}, "Ann wins"),
        (OVER, 1, {"target": 500}, "Ann wins round 1"),
        (PLAIN, 1, {"status": "void"}, "This game was called off"),
        (PLAIN, 0, {"paused_at": NOW, "paused_reasons": ["staff"]}, "Paused: your turn"),
        (PLAIN, 1, {"paused_at": NOW, "paused_reasons": ["staff"]}, "Paused: Ann’s turn"),
    ],
)
def test_the_headline_says_who_must_do_what_or_who_won(
    position: Mapping[str, Any], you: int | None, game: dict[str, Any], told: str
) -> None:
    view = seen(position, you, **game)
    assert words.headline(view) == told
    assert re.search(r"[^.!?][.!?]$", words.spoken_headline(view))


@pytest.mark.parametrize(
    ("position", "preset", "task", "spoken"),
    [
        (PLAIN, "no-mercy", "Play or draw", "Your turn."),
        (OWED, "no-mercy", "Stack or take 6", "Your turn. Stack or take 6."),
        (ROULETTE, "no-mercy", "Pick the roulette’s colour", "Your turn. Pick the roulette’s colour."),
        (
            DRAWN_IN_CLASSIC,
            "classic",
            "You drew Red 5: play or keep?",
            "Your turn. You drew Red 5: play or keep?",
        ),
    ],
)
def test_whoever_hears_a_headline_hears_whose_turn_it_is(
    position: Mapping[str, Any], preset: str, task: str, spoken: str
) -> None:
    view = seen(position, preset=preset)
    assert (words.task(view), words.spoken_headline(view)) == (task, spoken)
    html = loader.render_to_string("games/_say.html", {"page": page(view)})
    heading = " ".join(re.sub("<.*?>", "", html.partition("<h1")[2].partition("</h1>")[0]).partition(">")[2].split())
    assert heading == spoken.removesuffix(".")
    assert words.turn_call(seen(position, 1, preset=preset)) == ""


@pytest.mark.parametrize(
    ("left", "note"),
    [
        (timedelta(seconds=60), ""),
        (timedelta(hours=2), "until 14:00 UTC"),
        (timedelta(hours=20), "until Sun 08:00 UTC"),
        (timedelta(days=10), "until 1 Dec 12:00 UTC"),
    ],
)
def test_a_deadline_that_is_not_near_is_also_told_as_a_time(left: timedelta, note: str) -> None:
    assert there(page(seen(PLAIN, deadline=NOW + left)).due).note == note


def test_no_deadline_is_shown_where_only_bots_wait() -> None:
    view = seen(PLAIN, deadline=NOW + timedelta(hours=2))
    bots = replace(view, seats=(view.seats[0], *(replace(seat, bot="careful") for seat in view.seats[1:])))
    assert page(bots).due is None
    assert "{left}" not in next(item.text for item in page(bots).spoken_keys if item.key == "t")
    owned = replace(bots, seats=(*bots.seats[:2], replace(bots.seats[2], owner=True)))
    for waited_for in (view, owned, replace(bots, terms=PACES["live"])):
        assert page(waited_for).due is not None


RUN = {**PLAIN, "hands": [["r5", "b1", "W"], ["r4", "g3"], ["y3", "y2"]], "run": {"seat": 1, "card": "r3"}}
ANSWERED_IN_A_HOUSE_PARTY = (
    "1 card can answer: the same draw card, or a Skip, Reverse or Wild to pass it on. You can challenge Chen."
)


@pytest.mark.parametrize(
    ("position", "you", "game", "detail"),
    [
        (PLAIN, 0, {}, "You can play red, any 3 or any wild."),
        ({**PLAIN, "discard_pile": ["rS"]}, 0, {}, "You can play red, any Skip or any wild."),
        ({**PLAIN, "discard_pile": ["W6"], "color": "b"}, 0, {}, "You can play blue or any wild."),
        (OWED, 0, {}, "1 card can answer: +2 or higher."),
        ({**OWED, "hands": [["b1", "b2"], ["r4"]]}, 0, {}, "None of your cards can answer."),
        (CHALLENGED, 0, {"preset": "classic"}, "You can challenge Chen."),
        (CHALLENGED, 0, {"preset": "house-party"}, ANSWERED_IN_A_HOUSE_PARTY),
        (CHALLENGED, 2, {"preset": "classic"}, ""),
        (CHALLENGED, None, {"preset": "classic"}, "You are watching."),
        (PLAIN, None, {}, "You are watching."),
        (KNOCKED_OUT, 1, {}, "You’re out: you reached 25 cards."),
        (KNOCKED_OUT, 1, {"target": 500}, "You’re out: 25 cards. Next deal soon."),
        (RUN, 1, LIVE, "You can continue your straight."),
        (RUN, 2, LIVE, "Jump in with Yellow 3!"),
        (RUN, 2, {"preset": "house-party", "pace": "standard"}, ""),
        (RACE, 0, RACING, "The slowest to press draws two cards."),
        (RACE, None, RACING, "You are watching."),
    ],
)
def test_the_detail_says_what_the_reader_can_do_or_why_they_only_watch(
    position: Mapping[str, Any], you: int | None, game: dict[str, Any], detail: str
) -> None:
    assert page(seen(position, you, **game)).detail == detail


def test_a_fine_stands_beside_its_player() -> None:
    shown = page(seen({**PLAIN, "hands": HANDS_WITH_A_WILD, "fines": [0, 3, 1]}, **LIVE))
    fined = {player.name: [tag.text for tag in player.tags] for player in shown.players}
    assert fined == {"Ann": [], "Bob": ["fined 3 points"], "Chen": ["fined 1 point"]}


def test_cards_that_would_cost_points_out_of_turn_cannot_be_chosen() -> None:
    """Chen can intercept with the yellow 3. A miss with another card would be refused, or fined in another hand."""

    def buttons(you: int, **game: Any) -> dict[str, str]:
        """Return the type of each card's button, which names a move only if it sends one."""
        html = " ".join(
            loader.render_to_string("games/_hand.html", {"page": page(seen(position, you, **game))}).split()
        )
        found = re.findall(r'<button id="card-\d+" class="card[^>]* type="(\w+)"( name="move" value="play \w+")?', html)
        assert all(bool(move) == (kind == "submit") for kind, move in found)
        names = re.findall(r'<span class="sr">([^<]*)</span></button>', html)
        return dict(zip(names, (kind for kind, _ in found), strict=True))

    position = {**PLAIN, "hands": [["r5", "b1", "W"], ["r4", "g4", "W"], ["y3", "y2"]]}
    assert buttons(2, **LIVE) == {"Yellow 3": "submit", "Yellow 2": "button"}
    assert set(buttons(1, **LIVE).values()) == {"button"}
    assert set(buttons(0, **LIVE).values()) == {"submit"}
    assert words.detail(seen(position, 1, **LIVE)) == ""
    assert words.locked(seen(position, 1, **LIVE)).endswith("Out of turn, a miss costs 3 points.")
    for free in (
        {"preset": "house-party", "pace": "standard"},
        {**LIVE, "options": {"interception_penalty": 0}},
        {"preset": "classic", "pace": "live"},
    ):
        assert set(buttons(1, **free).values()) == {"submit"}
        assert words.detail(seen(position, 1, **free)) == ""


def test_cards_that_can_be_played_out_of_turn_stand_out() -> None:
    """Chen holds two cards that continue their straight on a red 3, a card that intercepts it, and a yellow 8."""
    position = {
        **PLAIN, "hands": [["r5", "b1"], ["r4", "g4"], ["r2", "r4", "y3", "y8"]], "run": {"seat": 2, "card": "r3"},
    }  # fmt: skip

    def marks(you: int, **changes: Any) -> dict[str, tuple[str, str]]:
        cards = there(page(seen({**position, **changes}, you, **LIVE)).hand).cards
        return {card.text: (card.race, card.label) for card in cards if card.race or card.label}

    straight = {"r2": ("step odd", ""), "r4": ("step odd", "")}
    assert marks(2) == {**straight, "y3": ("jump odd", "Jump in")}
    assert marks(2, run=None) == {"y3": ("jump odd", "Jump in")}
    assert marks(2, discard_pile=["b1", "r3"])["r4"] == ("step", "")  # moves again if the card before stood there
    assert marks(0) == marks(1) == {}
    assert words.detail(seen(position, 2, **LIVE)) == "You can continue your straight."
    assert words.detail(seen({**position, "run": None}, 2, **LIVE)) == "Jump in with Yellow 3!"


def test_a_race_shows_the_time_left_and_who_has_pressed() -> None:
    deadline = NOW + timedelta(seconds=6.2)

    def race(you: int | None, **game: Any) -> str:
        shown = page(seen(RACE, you, **{**RACING, "deadline": deadline, **game}))
        return loader.render_to_string("games/_race.html", {"page": shown})

    for you in (0, 1, None):
        assert 'pathLength="8" stroke-dasharray="6.2 8"' in race(you)
        assert re.search(r'class="avatar"[^>]*>B</span><span class="sr">\W*Pressed: \W*Bob', race(you))
    assert 'stroke-dasharray="0 8"' in race(0, deadline=NOW - timedelta(seconds=1))
    assert page(seen(RACE, 0, **RACING, paused_at=NOW, paused_reasons=["staff"])).race is None
    assert [button.key for button in there(page(seen(RACE, 0, **RACING)).move).buttons] == ["space b"]
    assert page(seen(PLAIN)).race is None


def test_a_page_knows_whether_players_race() -> None:
    only_buzzers = {"preset": "classic", "options": {"buzzers": "race"}, "pace": "live"}
    position = {**PLAIN, "hands": HANDS_WITH_A_WILD}
    for game, has_races in ((only_buzzers, True), (LIVE, True), ({"preset": "house-party"}, False)):
        assert page(seen(position, **game)).has_races is has_races, game


def test_times_are_in_the_readers_zone() -> None:
    with timezone.override("Asia/Tokyo"):
        assert words.short_time(NOW, NOW) == "21:00"
        assert words.short_time(NOW + timedelta(hours=4), NOW) == "Sun 01:00"


@pytest.mark.parametrize(("seconds", "text"), TIMES_LEFT)
def test_the_time_left_has_one_suitable_unit(seconds: float, text: str) -> None:
    assert words.time_left(NOW + timedelta(seconds=seconds), NOW) == text


FOUR: Mapping[str, Any] = {**PLAIN, "hands": [["r5", "b1", "W6"], ["r4", "g3"], ["y1", "y2"], ["b7"]]}
BOB_OUT: Mapping[str, Any] = {**PLAIN, "hands": [["r5", "b1", "W6"], [], ["y1", "y2"]], "out": [1]}
BOB_WENT_OUT: Mapping[str, Any] = {**OWED, "hands": [["r5", "b1", "W6"], [], ["y1", "y2"]], "going_out": [1]}
NO_WAY_BACK = "You can’t come back."
ON = "Bob and Chen continue the match unless this round decides it."
ASIDE = "Your cards are set aside, and you are out for the rest of"


@pytest.mark.parametrize(
    ("position", "target", "says"),
    [
        (PLAIN, 0, f"{ASIDE} the round. Bob and Chen play on. {NO_WAY_BACK}"),
        (PLAIN, 1000, f"{ASIDE} the match. Bob and Chen play on. {NO_WAY_BACK}"),
        ({**PLAIN, "hands": PLAIN["hands"][:2]}, 0, f"Bob wins the game. {NO_WAY_BACK}"),
        ({**PLAIN, "hands": PLAIN["hands"][:2]}, 1000, f"Bob wins the match. {NO_WAY_BACK}"),
        (BOB_OUT, 0, f"Chen wins the game. {NO_WAY_BACK}"),
        (BOB_OUT, 1000, f"Chen wins this round. {ASIDE} the match. {ON} {NO_WAY_BACK}"),
        ({**FOUR, "hands": [*FOUR["hands"][:1], [], *FOUR["hands"][2:]], "out": [1]}, 0,
         f"{ASIDE} the round. Chen and Dora play on. {NO_WAY_BACK}"),
        ({**FOUR, "hands": [*FOUR["hands"][:1], [], *FOUR["hands"][2:]], "out": [1]}, 1000,
         f"{ASIDE} the match. Bob, Chen and Dora play on. {NO_WAY_BACK}"),
        (BOB_WENT_OUT, 0, f"Bob wins the game. {NO_WAY_BACK}"),
        ({**BOB_WENT_OUT, "turn": 2}, 0, f"{ASIDE} the round. Bob and Chen play on. {NO_WAY_BACK}"),
    ],
)  # fmt: skip
def test_resigning_warns_of_what_the_rules_then_do(position: Mapping[str, Any], target: int, says: str) -> None:
    view = seen(position, target=target)
    assert words.what_leaving_does(view) == says

    here = rules.position_from_json({"draw_pile": DRAW_PILE, **position}, view.options)
    after, _ = rules.apply(here, 0, rules.parse_move("leave"), view.options, lambda cards, n: list(cards))
    assert (after.winner is not None) is ("wins" in says)
    if after.winner is not None:
        assert says.startswith(f"{NAMES[after.winner]} wins")


def with_seats(view: GameView, **changes: Any) -> GameView:
    """Return the same view with other values in its first seat."""
    return replace(view, seats=(replace(view.seats[0], **changes), *view.seats[1:]))


@pytest.mark.parametrize(("you", "who"), [(0, "Your bot"), (1, "Ann’s bot")])
def test_a_win_that_a_bot_made_for_the_owner_of_its_seat_says_so(you: int, who: str) -> None:
    view = with_seats(seen(OVER, you, status="over", winner=0, target=5), bot="careful", owner=True)
    assert words.headline(view) == f"{who} wins"
    assert there(page(view).ended).title == f"{who} wins"
    round_ = with_seats(seen(OVER, you, target=5), bot="careful", owner=True)
    assert there(page(round_).ended).title == f"{who} wins round 1"


def test_points_of_which_the_fewest_win_are_called_penalty_points() -> None:
    fewest: dict[str, Any] = {"preset": "house-party", "target": 500}
    over = {**OVER, "points": [0, 7, 3]}
    view = with_seats(seen(over, 0, status="over", winner=0, **fewest), score=12)
    assert (words.headline(view), page(view).detail) == ("You win the match!", "12 penalty points.")
    assert page(view).about_points == "Penalty points: the fewest win."
    assert page(seen(OVER, target=500)).about_points == ""
    ended = there(page(replace(view, status="playing", winner=None)).ended)
    assert ended.lead == "Bob and Chen lead with 0 of 500 penalty points."
    assert ended.unit == "penalty points"
    assert [row.note for row in ended.rows] == ["", "2 cards, 7 penalty points", "2 cards, 3 penalty points"]
    moment = rules.KeyMoment(1, 1, "lead", 1, 7)
    assert moment_sentence(view, moment) == "Bob takes the lead with 7 penalty points."


def test_a_round_that_is_over_or_was_before_shows_its_result_and_all_hands() -> None:
    ended = there(page(seen(OVER, 1, target=5)).ended)
    assert ended.result == "Ann wins round 1"
    assert ended.about_points == "Points: the cards that others hold, and 250 for each player who is out."
    assert [(row.name, [card.text for card in row.cards], row.none, row.note) for row in ended.rows] == [
        ("Ann", [], "no cards left", ""),
        ("Bob", ["r4", "g3"], "no cards left", "2 cards, 7 points"),
        ("Chen", ["y1", "y2"], "no cards left", "2 cards, 3 points"),
    ]
    # After a single round they stand in the order of the ranks in the list of finished games.
    single = seen({**OVER, "hands": [[], ["r4", "g3"], ["y1"]]}, status="over", winner=0)
    assert [row.name for row in there(page(single).ended).rows] == ["Ann", "Chen", "Bob"]
    view = seen(PLAIN, target=500)
    assert page(view).ended is None
    hands = [LastHand((), out=True, left=False), LastHand((), out=False, left=False), LastHand((), out=True, left=True)]
    shown = after_round(view, 1, 57, hands)
    assert shown.result == "Bob wins round 1"
    assert [(row.name, row.cards, row.none) for row in shown.rows] == [
        ("Bob", [], "no cards left"), ("Ann", [], "no mercy: 25 cards"), ("Chen", [], "left the game"),
    ]  # fmt: skip
    last_one_in = [LastHand(("r9", "g4"), out=False, left=False), *[LastHand((), out=True, left=False)] * 2]
    notes = [row.note for row in after_round(view, 0, 500, last_one_in).rows]
    assert notes == ["2 cards", "250 points", "250 points"]


def after_round(view: GameView, winner: int, points: int, hands: Sequence[LastHand], **more: Any) -> EndedRound:
    """Return what a page shows of the round before."""
    ended = LastRound(1, rules.Outcome(winner, points), hands)
    contents = PageContents(view, last_round=ended, **more)
    return there(render.game_page(contents, PageRequest(), NOW).ended)


def test_the_end_of_a_round_moves_its_points_to_the_scores() -> None:
    view = seen(PLAIN, target=500)
    seats = [replace(seat, score=score) for seat, score in zip(view.seats, (120, 250, 30), strict=True)]
    hands = [LastHand((), out=False, left=False)] * 3
    shown = after_round(replace(view, seats=tuple(seats)), 1, 200, hands)
    assert [(row.name, row.before, row.gained, row.total, row.bar_before, row.bar) for row in shown.rows] == [
        ("Bob", 50, 200, 250, 10, 50), ("Ann", 120, 0, 120, 24, 24), ("Chen", 30, 0, 30, 6, 6),
    ]  # fmt: skip
    assert (shown.title, shown.lead) == ("Bob wins round 1", "+200 points. Bob leads with 250 of 500.")
    assert shown.go == "Continue: it’s your turn"
    assert after_round(seen(PLAIN, 1, target=500), 1, 200, hands).go == "Continue"


def test_a_hand_marks_playable_cards_in_turn_and_the_drawn_one_and_otherwise_gives_its_size() -> None:
    hand = there(page(seen(PLAIN)).hand)
    assert [(card.text, card.playable) for card in hand.cards] == [("r5", True), ("b1", False), ("W6", True)]
    assert hand.note == "3 cards, 2 playable"
    waiting = there(page(seen(PLAIN, 1)).hand)
    assert (waiting.note, any(card.playable for card in waiting.cards)) == ("2 cards", False)
    hand = there(page(seen({**DRAWN, "hands": [["r5", "b1", "r5"], ["r4", "g3"], ["y1", "y2"]]})).hand)
    assert [card.focus for card in hand.cards] == [True, False, False]


@pytest.mark.parametrize(
    ("position", "why", "code"),
    [
        (PLAIN, "does not match Red 3", "not_matching"),
        ({**PLAIN, "discard_pile": ["W6"], "color": "g"}, "does not match green", "not_matching"),
        (OWED, "does not answer a +2", "cards_owed"),
        (DRAWN, "play the drawn card", "must_play_drawn"),
        (ROULETTE, "choose the colour first", "choose_color_first"),
    ],
)
def test_a_row_of_the_hand_says_why_the_card_is_refused(position: Mapping[str, Any], why: str, code: str) -> None:
    view = seen(position)
    cards = there(page(view).hand).cards
    assert {card.fit for card in cards if not card.playable} == {why}
    assert {card.fit for card in cards if card.playable} <= {"fits"}
    here = rules.position_from_json({"draw_pile": DRAW_PILE, **position}, view.options)
    refused = [rules.why_not(here, 0, card.text, view.options) for card in cards if not card.playable]
    assert {one and one.code for one in refused} == {code}
    assert {card.fit for card in there(page(seen(position, 1)).hand).cards} == {""}


def test_a_spectator_has_no_move_and_one_out_of_turn_says_so() -> None:
    shown = page(seen(PLAIN, None))
    assert (shown.hand, shown.move, shown.resign_url) == (None, None, "")
    moves = [page(seen(RUN, you, **LIVE)).move for you in (0, 1, 2)]
    assert [move and move.title for move in moves] == ["Your move", "Out of turn", "Out of turn"]


NEARLY_OUT = {**PLAIN, "hands": [["b1"] * 22, ["r4", "g3"], ["y1", "y2"]]}
DEBT_OF_6 = {"discard_pile": ["r+2"], "pending": {"total": 6, "value": 2}}
EXPOSED = {**PLAIN, "hands": [["r5", "b1"], ["r4"], ["y1", "y2"]], "exposed": [1]}


@pytest.mark.parametrize(
    ("position", "you", "game", "shown"),
    [
        (PLAIN, 0, {}, [("draw", "Draw until one fits", "draw")]),
        ({**PLAIN, "hands": [["b1"], ["r4"]]}, 0, {"preset": "classic"}, [("draw", "Draw", "draw")]),
        (OWED, 0, {}, [("draw", "Take 6", "take")]),
        ({**NEARLY_OUT, **DEBT_OF_6}, 0, {}, [("draw", "Take 6: you’re out", "take")]),
        ({**NEARLY_OUT, **DEBT_OF_6, "draw_pile": ["y3"]}, 0, {}, [("draw", "Take 6", "take")]),
        (NEARLY_OUT, 0, {"options": {"mercy_limit": 23}}, [("draw", "Draw: you’re out", "draw")]),
        (NEARLY_OUT, 0, {"options": {"mercy_limit": 24}}, [("draw", "Draw until one fits", "draw")]),
        (DRAWN, 0, {}, [("play-drawn", "Play Red 5", "play r5")]),
        (DRAWN_IN_CLASSIC, 0, {"preset": "classic"},
         [("play-drawn", "Play Red 5", "play r5"), ("draw", "Keep it and pass", "pass")]),
        (ROULETTE, 0, {}, []),
        (EXPOSED, 2, {}, [("catch-1", "Catch Bob", "catch 1")]),
        (EXPOSED, 1, {}, [("uno-call", "Call UNO", "uno")]),
    ],
)  # fmt: skip
def test_buttons_are_the_legal_moves(
    position: Mapping[str, Any], you: int, game: dict[str, Any], shown: list[tuple[str, str, str]]
) -> None:
    move = there(page(seen(position, you, **game)).move)
    assert [(button.id, button.label, button.move) for button in (*move.buttons, *move.catches)] == shown


def chooser(view: GameView, **asked: Any) -> Chooser:
    return there(there(page(view, **asked).move).chooser)


COLORS = [f"play W6 color {color}" for color in "rygb"]


@pytest.mark.parametrize(
    ("changes", "card", "notes", "moves", "cancel"),
    [
        ({"hands": [["W6", "b1", "b2", "y1"], ["r4", "g3"], ["y1", "y2"]]}, "W6",
         ["Red: you hold 0", "Yellow: you hold 1", "Green: you hold 0", "Blue: you hold 2"], COLORS, "/games/k7m2/"),
        ({"hands": [["r7", "b1"], ["r4", "g3", "y9"], ["y1", "y2"]]}, "r7",
         ["Bob: 3 cards", "Chen: 2 cards"], ["play r7 swap 1", "play r7 swap 2"], "/games/k7m2/"),
        ({"phase": "drawn", "drawn": "W6"}, "",
         ["Red: you hold 1", "Yellow: you hold 0", "Green: you hold 0", "Blue: you hold 1"], COLORS, ""),
        (ROULETTE, "", ["Red: you hold 1", "Yellow: you hold 0", "Green: you hold 0", "Blue: you hold 1"],
         [f"color {color}" for color in "rygb"], ""),
    ],
    ids=["a wild", "a seven", "a drawn wild", "a roulette"],
)  # fmt: skip
def test_a_choice_says_what_decides_and_what_it_does(
    changes: Mapping[str, Any], card: str, notes: list[str], moves: list[str], cancel: str
) -> None:
    asked = chooser(seen({**PLAIN, **changes}), choose=card)
    assert [f"{choice.name}: {choice.note}" for choice in asked.choices] == notes
    assert [choice.move for choice in asked.choices] == moves
    assert asked.cancel_url == cancel


REVERSE = {**OWED, "hands": [["WR4", "b1"], ["r4", "g3"], ["y1", "y2"]]}


@pytest.mark.parametrize(
    ("position", "card", "game", "told"),
    [
        (OWED, "W6", {}, "Bob draws 12 or stacks."),
        (REVERSE, "WR4", {}, "Chen draws 10 or stacks."),
        (
            {**REVERSE, "hands": [["WR4", "b1"], [], ["y1", "y2"]], "out": [1]}, "WR4", {},
            "With two players left, you draw 10 or stack.",
        ),
        (
            {**PLAIN, "hands": [["W4", "b1"], ["r4"], ["y1"]]}, "W4", {"preset": "classic"},
            "Bob draws 4 or challenges you.",
        ),
        ({**PLAIN, "hands": HANDS_WITH_A_WILD}, "W", {"preset": "classic"}, ""),
    ],
)  # fmt: skip
def test_the_choice_of_a_colour_says_who_draws(
    position: Mapping[str, Any], card: str, game: dict[str, Any], told: str
) -> None:
    assert chooser(seen(position, **game), choose=card).help == told


@pytest.mark.parametrize("position", [PLAIN, OWED])
def test_while_choosing_there_is_no_draw_button(position: Mapping[str, Any]) -> None:
    assert [button.id for button in there(page(seen(position)).move).buttons] == ["draw"]
    chosen = there(page(seen(position), choose="W6").move)
    assert (bool(chosen.chooser), chosen.buttons) == (True, [])


@pytest.mark.parametrize(
    ("hand", "others", "offered"),
    [
        (["r5", "b1"], ["y1", "y2"], True),
        (["r5", "b1", "b2"], ["y1", "y2"], False),
        (["rD", "r1", "r2", "b1"], ["y1", "y2"], True),
        (["r7", "b1", "b2", "b3"], ["y1"], True),
        (["r0", "b1", "b2", "b3"], ["y1"], True),
        (["r5"], ["y1", "y2"], False),
    ],
    ids=["two cards", "three", "discard all", "a swap for one card", "a pass of one card", "the last card"],
)
def test_the_uno_toggle_appears_when_a_play_can_leave_one_card(
    hand: list[str], others: list[str], offered: bool
) -> None:
    single = [n for n, cards in enumerate([hand, ["g8", "g9"], others]) if len(cards) == 1]
    view = seen({**PLAIN, "hands": [hand, ["g8", "g9"], others], "declared": single})
    assert (there(page(view).move).uno is not None) == offered


def test_the_table_says_stack_colour_and_direction_and_keeps_the_tilt_of_its_cards() -> None:
    table = page(seen({**OWED, "direction": -1})).table
    assert (table.owed, table.owed_by) == ("+6", "on you")
    assert (table.direction, table.following) == ("Counter-clockwise", "Chen is next")
    assert table.color_name == "Red"
    assert page(seen(PLAIN, 1)).table.following == "You are next"

    def lower(pile: list[str]) -> list[tuple[str, int]]:
        return [(card.text, card.tilt) for card in page(seen({**PLAIN, "discard_pile": pile})).table.lower]

    assert lower(["r3"]) == []
    assert lower(["r1", "r3"]) == [("r1", 0)]
    assert lower(["r1", "r2", "r4", "r5", "r3"]) == [("r2", 1), ("r4", 2), ("r5", 3)]
    assert lower(["r1", "r2", "r4", "r5", "r3", "r6"]) == [("r4", 2), ("r5", 3), ("r3", 0)]


@pytest.mark.parametrize(
    ("preset", "you", "told"),
    [
        ("classic", 0, "You owe 4 cards. You can challenge Chen."),
        ("classic", 2, "Ann owes 4 cards. Ann can challenge you."),
        ("classic", None, "Ann owes 4 cards. Ann can challenge Chen."),
        ("house-party", 0, f"You owe 4 cards. {ANSWERED_IN_A_HOUSE_PARTY}"),
    ],
)
def test_the_key_for_the_stack_says_that_a_debt_can_be_challenged(preset: str, you: int | None, told: str) -> None:
    def stack(page: GamePage) -> str:
        return next(item.text for item in page.spoken_keys if item.key == "g")

    assert stack(page(seen(CHALLENGED, you, preset=preset))) == told
    lapsed = page(seen({**CHALLENGED, "challenge": None}, you, preset=preset))
    assert "challenge" not in f"{stack(lapsed)} {lapsed.headline} {lapsed.detail}".lower()


@pytest.mark.parametrize(("total", "tension"), [(2, 0), (9, 0), (10, 1), (19, 1), (20, 2), (40, 2)])
def test_the_number_of_a_stack_grows_in_steps(total: int, tension: int) -> None:
    shown = page(seen({**OWED, "pending": {"total": total, "value": 2}}, 1)).table
    assert (shown.owed_by, shown.tension) == ("on Ann", tension)


def test_the_hand_is_read_with_new_cards_first() -> None:
    drew = Event("drew", 0, amount=2, cards=("b1", "W6"), reason="stack")

    def read(*lines: LogLine) -> str:
        return next(item.text for item in page(seen(PLAIN), lines).spoken_keys if item.key == "d")

    plain = "3 cards, 2 playable: Red 5, Blue 1, Wild Draw Six."
    assert read() == plain
    assert read(line(3, 1, Event("played", 1, "r2")), line(4, 0, drew), line(5, 1, Event("played", 1, "r3"))) == (
        "3 cards, 2 playable. New: Blue 1, Wild Draw Six. Then Red 5."
    )
    assert read(line(3, 0, drew), line(4, 0, Event("played", 0, "r2"))) == plain
    assert read(line(3, 1, Event("drew", 1, amount=2))) == plain
    assert read(replace(line(3, 0, drew), round=2)) == plain


def test_a_card_that_can_be_played_in_one_way_needs_no_choice() -> None:
    def clicks(hands: list[list[str]]) -> list[tuple[str, str]]:
        return [(card.text, card.move) for card in there(page(seen({**PLAIN, "hands": hands})).hand).cards]

    assert clicks([["r5", "r7", "W6"], ["r4", "g3"]]) == [
        ("r5", "play r5"), ("r7", "play r7 swap 1"), ("W6", "play W6"),
    ]  # fmt: skip
    assert clicks([["r7", "b2"], ["r4", "g3"], ["y1", "y2"]])[0] == ("r7", "play r7")
    drawn = page(seen({**PLAIN, "hands": [["r7", "b2"], ["r4", "g3"]], "phase": "drawn", "drawn": "r7"}))
    assert there(drawn.move).chooser is None
    assert [button.move for button in there(drawn.move).buttons] == ["play r7 swap 1"]


@pytest.mark.parametrize(
    ("preset", "bluff", "hint"),
    [
        ("classic", "official", "A bluff: Chen draws 4. No bluff: you draw 6."),
        ("house-party", "playroom", "A bluff: Chen draws 6. No bluff: you draw 6."),
    ],
)
def test_what_each_outcome_of_a_challenge_costs_is_told(preset: str, bluff: str, hint: str) -> None:
    assert there(page(seen(CHALLENGED, preset=preset, options={"bluff": bluff})).move).hint == hint


@pytest.mark.parametrize(
    ("you", "direction", "listed"),
    [
        (1, 1, [("Bob", 0), ("Chen", 1), ("Ann", 2)]),
        (1, -1, [("Bob", 0), ("Ann", 2), ("Chen", 1)]),
        (None, 1, [("Ann", 1), ("Bob", 2), ("Chen", 3)]),
    ],
)
def test_players_are_listed_in_turn_order_and_placed_in_seat_order_from_the_reader(
    you: int | None, direction: int, listed: list[tuple[str, int]]
) -> None:
    players = page(seen({**PLAIN, "direction": direction}, you)).players
    assert [(player.name, player.place) for player in players] == listed
    assert {player.places for player in players} == {3 if you is None else 2}


@pytest.mark.parametrize(("cards", "layers"), [(0, 0), (1, 1), (20, 1), (21, 2), (41, 3)])
def test_the_draw_pile_is_as_thick_as_its_cards(cards: int, layers: int) -> None:
    numbers = ["b1", "b2", "y3", "g4", "r9", "g8", "y8", "b8", "g6", "y6", "b6"] * 4
    assert len(page(seen({**PLAIN, "draw_pile": numbers[:cards]})).table.thickness) == layers


def test_a_hand_near_the_mercy_limit_is_marked() -> None:
    near = {**PLAIN, "hands": [["r5", "b1"], ["r4"] * 21, ["y1", "y2"]]}
    ann, bob, _ = page(seen(near)).players
    assert (bob.mercy.hot, bob.mercy.close, bob.held) == (True, True, "21 of 25 cards")
    assert (ann.mercy.hot, ann.mercy.close, ann.held) == (False, False, "2 cards")
    unlimited = page(seen(near, options={"mercy_limit": 0})).players
    assert not any(player.mercy.limit or player.mercy.hot for player in unlimited)


def test_the_score_sheet_has_a_row_for_each_round_and_the_total() -> None:
    assert page(seen(PLAIN)).scores == ()
    rows = page(seen(OVER, 1, status="over", winner=0)).scores
    assert [(row.label, row.points) for row in rows] == [("1", (0, 0, 10)), ("Total", (0, 0, 0))]


def test_the_score_sheet_writes_thousands_with_commas() -> None:
    rows = (ScoreRow("1", (0, 1250)), ScoreRow("Total", (999, 1_000_000)))
    html = loader.render_to_string(
        "games/_scores.html", {"page": replace(page(seen(PLAIN)), columns=("Ann", "Bob"), scores=rows), "final": False}
    )
    assert re.findall(r"<td>(.*?)</td>", html) == ["0", "1,250", "999", "1,000,000"]


def test_since_your_move_lists_what_others_did_in_order() -> None:
    lines = [
        line(1, 1, Event("played", 1, "r1")),
        line(2, 0, Event("played", 0, "r2")),
        line(3, 1, Event("played", 1, "r+2"), Event("owes", 2, amount=2)),
        line(4, 2, Event("drew", 2, amount=2, reason="stack")),
    ]
    steps = [NewsStep("Bob: Red Draw Two.", "r+2"), NewsStep("Chen draws 2.")]
    assert page(seen(PLAIN), lines).news == ("Since your last move", "2 things", steps)
    assert page(seen(PLAIN), lines[:3]).news == ("Since your last move", "Bob: Red Draw Two.", steps[:1])
    assert page(seen(PLAIN), lines[2:]).news == ("So far", "2 things", steps)
    assert page(seen(PLAIN, 1), lines).news is None


def test_since_your_move_shows_each_card_on_the_side_that_was_in_force() -> None:
    wild = Event("played", 1, "W", color="r")
    flip = line(2, 2, Event("played", 2, "rF"), Event("flipped", 2, card="o5", reason="dark"))
    hands = [["r5/o5", "b1/t1"], ["W/u3", "r4/t1"], ["b9/WD", "y1/u9"]]
    view = seen(
        {**PLAIN, "hands": hands, "draw_pile": ["b5/p5"], "discard_pile": ["r3/o3"], "side": "dark"}, preset="flip"
    )
    steps = since_your_move(view, [line(1, 1, wild), flip, line(3, 1, wild)])
    assert [step.side for step in steps] == ["light", "light", "dark"]


@pytest.mark.parametrize("text", ["clock draw", "clock uno", "clock buzz"])
def test_what_the_clock_did_for_the_reader_is_no_move_of_the_reader(text: str) -> None:
    lines = [
        line(1, 0, Event("played", 0, "r2")),
        line(2, 1, Event("played", 1, "r1")),
        LogLine(3, 1, 0, text, NOW, (Event("passed", 0),)),
    ]
    assert [step.text for step in since_your_move(seen(PLAIN), lines)] == ["Bob: Red 1.", "Time ran out. You pass."]
    assert [row.mine for row in render.log_of(seen(PLAIN), lines, NOW)] == [False, False, True]


def test_the_log_is_newest_first_with_staff_acts_and_a_heading_for_each_round() -> None:
    lines = [LogLine(n, round_, 0, "", NOW, (Event("passed", 0),)) for n, round_ in ((1, 1), (2, 1), (3, 2))]
    shown = render.log_of(replace(seen(PLAIN), round=2), lines, NOW)
    assert [(row.n, row.heading) for row in shown] == [(3, ""), (2, "Round 1"), (1, "")]
    shown = render.log_of(replace(seen(PLAIN), round=2), lines[:2], NOW)
    assert [(row.n, row.heading) for row in shown] == [(2, "Round 1"), (1, "")]
    lines = [LogLine(n, round_, 0, "", NOW, (Event("passed", 0),)) for n, round_ in ((1, 1), (2, 1), (3, 2))]
    done = [(2, "Staff paused"), (2, "Staff voided"), (2, "Staff extended"), (3, "Staff paused")]
    notes = [render.LogNote(version, NOW, text, ends_round=text == "Staff voided") for version, text in done]
    shown = render.log_of(replace(seen(PLAIN), round=2), lines, NOW, notes)
    assert [(row.n or row.text.split()[1], row.heading) for row in shown] == [
        ("paused", ""), (3, ""), ("extended", ""), ("voided", "Round 1"), ("paused", ""), (2, ""), (1, ""),
    ]  # fmt: skip


@pytest.mark.parametrize(("you", "who"), [(0, "Your bot"), (1, "Ann’s bot"), (None, "Ann’s bot")])
def test_moves_of_a_substitute_bot_name_the_bot(you: int | None, who: str) -> None:
    by_bot = LogLine(2, 1, 0, "", NOW, (Event("played", 0, "r5"),), by_bot=True)
    view, lines = seen({**PLAIN, "turn": 1}, you), [line(1, 0, Event("played", 0, "r1")), by_bot]
    newest = render.log_of(view, lines, NOW)[0]
    assert (newest.text, newest.mine) == (f"{who} plays Red 5.", False)
    assert page_events(view, lines, since=1, now=NOW).events[0].text == f"{who}: Red 5."
    assert [step.text for step in since_your_move(seen(PLAIN), lines)] == ["Your bot: Red 5."]


def test_options_are_described_in_sentences_with_a_warning() -> None:
    text = words.options_prose(seen(PLAIN, target=500, options={"mercy_limit": 30, "stacking": False}))
    assert text.startswith("No Mercy rules, 168 cards. A match to 500 points. Standard pace: ")
    assert text.endswith(
        "Different from the No Mercy rules: Draw cards cannot be stacked."
        " A player who holds 30 cards is out of the round."
    )
    view = view_with(mercy_limit=0)
    assert words.options_prose(view).endswith(rules.warning(view.options))


def view_with(preset: str = "no-mercy", **options: object) -> GameView:
    """Return a view of a table with these options. Its position may not fit them."""
    engine = replace(rules.PRESETS[preset], **{"target": 0, **options})  # type: ignore[arg-type]  # values of options
    return replace(seen(PLAIN), preset=preset, options=engine, target=engine.target)


CHANGES = [
    (preset, spec.name, value)
    for preset, offered in rules.PRESETS.items()
    for spec in rules.OPTIONS
    if spec.name not in ("target", "rounds")
    for value in values_of(spec)
    if value != getattr(offered, spec.name)
]


@pytest.mark.long
def test_every_difference_from_a_preset_is_one_sentence() -> None:
    assert len(CHANGES) > 240
    for preset, name, value in CHANGES:
        text = words.options_prose(view_with(preset, **{name: value}))
        sentence = rules.SPECS[name].sentence(value)
        assert f"Different from the {rules.PRESET_TITLES[preset]} rules: {sentence}" in text
    assert all("Different" not in words.options_prose(view_with(preset)) for preset in rules.PRESETS)


@pytest.mark.parametrize(
    ("target", "rounds", "in_prose", "in_crumb"),
    [
        (0, 0, "168 cards. A single round.", "a single round"),
        (0, 1, "168 cards. A single round.", "a single round"),
        (500, 0, "168 cards. A match to 500 points.", "round 1, to 500"),
        (0, 3, "168 cards. A match of 3 rounds.", "round 1 of 3"),
        (500, 3, "168 cards. A match to 500 points or of 3 rounds.", "round 1 of 3, to 500"),
    ],
)
def test_the_length_of_a_game_is_told(target: int, rounds: int, in_prose: str, in_crumb: str) -> None:
    view = view_with(target=target, rounds=rounds)
    assert in_prose in words.options_prose(view)
    assert words.crumb(view).endswith(f" · {in_crumb}")


def test_each_key_announces_its_part_of_the_page_or_why_it_does_nothing() -> None:
    says = {item.key: item.text for item in page(seen(OWED)).spoken_keys}
    assert says["c"] == "Red Draw Two."
    assert says["g"] == "You owe 6 cards. 1 card can answer: +2 or higher."
    assert says["e"] == "You: 3 cards. Bob: 2 cards. Chen: 2 cards."
    assert says["s"] == "You: 0. Bob: 0. Chen: 0."
    assert says["d"] == "3 cards, 1 playable: Red 5, Blue 1, Wild Draw Six."
    assert "You: 2 cards. Bob: out. Chen: 2 cards." in [item.text for item in page(seen(KNOCKED_OUT)).spoken_keys]
    assert {item.key for item in page(seen(PLAIN, None)).spoken_keys} == set("cvgedts")
    assert set(reasons(PLAIN)) == {*"xufhrygb", "space", "shift+c", "shift+n"}
    assert reasons(PLAIN, 1)["x"] == "Nothing to draw now. Ann’s turn."
    assert reasons(DRAWN)["space"] == "Nothing to draw now. Your turn. You drew Red 5: play it."
    assert reasons(PLAIN, choose="W6")["x"].endswith("Which colour for Wild Draw Six?")
    assert "escape" not in reasons(PLAIN, choose="W6")
    assert reasons(ROULETTE)["escape"].startswith("You cannot choose another card.")
    assert reasons(PLAIN, options={"buzzers": "race"})["b"] == "No buzzer to press now."
    assert reasons(PLAIN)["b"] == "No colour to choose now."


def reasons(position: Mapping[str, Any], you: int = 0, choose: str = "", **game: Any) -> dict[str, str]:
    """Return what each idle key of a page says. The first row with a key counts."""
    rows = page(seen(position, you, **game), choose=choose).idle_keys
    return {key: item.why for item in reversed(rows) for key in reversed(item.keys.split())}


def test_a_pace_says_what_its_deadlines_will_be() -> None:
    assert [pace.help for pace in PACES.values()] == [
        "1 min for each turn",
        "12 h at the start, 6 h added per turn (18 h for the first), at most 1 day",
        "1 day at the start, 1 day added per turn (2 days for the first), at most 3 days",
        "3 days at the start, 2 days added per turn (5 days for the first), at most 7 days",
    ]
