"""Properties of every position of every game. `PROPERTY_EXAMPLES=500` is the long form."""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games.rules import (
    COLORS,
    EVENTS,
    PRESETS,
    TURN_MOVES,
    Event,
    Move,
    Options,
    Position,
    Refused,
    Shuffler,
    View,
    apply,
    deal,
    default_move,
    is_deck,
    key_from_seed,
    legal_moves,
    parse_line,
    position_from_json,
    position_to_json,
    push,
    redact,
    sentence,
    view_for,
    why_not,
)
from games.rules.cards import DARK_COLORS
from games.rules.position import FIELDS, Challenge, Run
from tests.rules.strategies import is_miss, play, tables

pytestmark = pytest.mark.long

NAMES = ("Ann", "Bob", "Cyn", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon")
games = settings(
    max_examples=int(os.environ.get("PROPERTY_EXAMPLES", "10")),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
ALL_COLORS = COLORS + DARK_COLORS
players = st.integers(2, 10)
seeds = st.integers(0, 10**6)


def cards_of(position: Position) -> Counter[str]:
    hands = [card for hand in position.hands for card in hand]
    return Counter([*hands, *position.draw_pile, *position.discard_pile, *position.set_aside])


@games
@given(tables(), players, seeds)
def test_no_card_is_lost_and_a_player_can_always_move(options: Options, count: int, seed: int) -> None:
    deck = Counter[str]()
    for played in play(options, count, seed, most=400):
        after, buzz = played.after, played.after.extra.buzz
        deck = deck or cards_of(played.before)
        assert is_deck(list(deck.elements()), options)
        assert cards_of(after) == deck
        assert after.turn not in after.out
        assert not any(after.hands[seat] for seat in after.out)
        assert {seat for seat in after.declared + after.exposed if len(after.hands[seat]) != 1} == set()
        if after.phase == "over":
            assert (after.turn, after.pending, after.drawn, after.exposed, after.going_out) == (
                after.winner, None, None, (), (),
            )  # fmt: skip
        else:
            assert len(after.still_in()) > 1
            assert after.turn not in after.going_out
            acting = after.still_in() if buzz else (after.turn,)
            listed = {move.kind for seat in acting for move in legal_moves(after, seat, options)}
            assert listed & ({"buzz"} if buzz else TURN_MOVES)
            empty = {seat for seat in after.still_in() if not after.hands[seat]}
            assert empty - {buzz and buzz.by} == set(after.going_out)


def every_move(position: Position, seat: int, options: Options) -> list[Move]:
    """Return all moves with a seat's own cards, some other cards, every colour and every target."""
    count, side = len(position.hands), options.rules.sides[position.extra.side]
    held = (*position.hands[seat], *position.hands[(seat + 1) % count], position.top)
    known = sorted({*side.show(held), *({"WC", "r7", "BZ", "W"} & set(side.faces))})
    plain = [Move(kind) for kind in ("draw", "take", "pass", "uno", "challenge", "buzz")]
    colors = [Move("color", color=color) for color in ALL_COLORS]
    catches = [Move("catch", target=target) for target in range(count + 1)]
    plays = [
        Move("play", card, color, target)
        for card in known
        for color, target in ((None, None), *((c, None) for c in side.colors), *((None, t) for t in range(count + 1)))
    ]
    return plain + colors + catches + plays


@games
@given(tables(), players, seeds)
def test_a_move_is_listed_if_and_only_if_it_is_accepted(options: Options, count: int, seed: int) -> None:
    shuffle = Shuffler(key_from_seed("")).shuffle
    for number, played in enumerate(play(options, count, seed, most=120)):
        if number % 17:
            continue
        for seat in range(count):
            listed = legal_moves(played.after, seat, options)
            assert len(listed) == len(set(listed))
            for move in every_move(played.after, seat, options):
                if not is_miss(played.after, seat, move, options):
                    assert (move in listed) == accepted(played.after, seat, move, options, shuffle), (seat, str(move))
                    assert not move.card or (why_not(played.after, seat, move.card, options) is None) == any(
                        other.card == move.card for other in listed
                    )


def accepted(position: Position, seat: int, move: Move, options: Options, shuffle: object) -> bool:
    try:  # on a copy, so that no cached list of moves could give the answer
        apply(position.copy(), seat, move, options, shuffle)  # type: ignore[arg-type]  # the shuffle made above
    except Refused:
        return False
    return True


@games
@given(tables(), players, seeds)
def test_the_clock_has_exactly_one_turn_move(options: Options, count: int, seed: int) -> None:
    shuffle = Shuffler(key_from_seed("")).shuffle
    for played in play(options, count, seed, most=60):
        if played.after.phase != "over":
            position, turn = played.after, played.after.turn
            wanted = default_move(position, turn, options)
            others = [dataclasses.replace(move, clock=True) for move in legal_moves(position, turn, options)]
            taken = [move for move in {wanted, *others} if accepted(position, turn, move, options, shuffle)]
            uno = [move for move in taken if move.kind == "uno"]
            assert sorted(map(str, taken)) == sorted(map(str, [wanted, *uno]))


@games
@given(tables(), players, seeds)
def test_apply_never_changes_the_given_position(options: Options, count: int, seed: int) -> None:
    kept: list[tuple[Position, str]] = []
    for played in play(options, count, seed, most=60):
        kept.append((played.before, repr(played.before)))
        assert all(repr(position) == text for position, text in kept[-2:])
    assert all(repr(position) == text for position, text in kept)


class Sealed(Position):
    """A position that raises when any attribute is set."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} was set")


def sealed(position: Position) -> Position:
    copy: Position = object.__new__(Sealed)
    for name in Position.__slots__:
        object.__setattr__(copy, name, getattr(position, name))
    return copy


@games
@given(tables(), players, seeds)
def test_no_function_sets_an_attribute_of_a_position(options: Options, count: int, seed: int) -> None:
    shuffle = Shuffler(key_from_seed("")).shuffle
    for played in play(options, count, seed, most=60):
        position = sealed(played.before)
        for seat in range(count):
            view_for(position, seat, options)
            for move in legal_moves(position, seat, options):
                after, events = apply(position, seat, move, options, shuffle)
                assert (after, events) == push(position, seat, move, options, shuffle)
                assert type(after) is Position
        default_move(position, position.turn, options)


def test_a_sealed_position_raises_when_an_attribute_is_set() -> None:
    position = sealed(deal(PRESETS["no-mercy"], 2, Shuffler(key_from_seed("")).shuffle))
    with pytest.raises(AttributeError, match="turn was set"):
        position.turn = 1


def as_written(position: Position) -> Position:
    """Return a position without what docs/notation.md's JSON leaves out: the order of cards held, and `absent`."""
    return position.replace(
        hands=tuple(tuple(sorted(hand)) for hand in position.hands),
        set_aside=tuple(sorted(position.set_aside)),
        absent=(),
    )


@games
@given(tables(), players, seeds)
def test_positions_events_and_moves_survive_writing_and_reading(options: Options, count: int, seed: int) -> None:
    for played in play(options, count, seed, most=150):
        written = json.dumps(position_to_json(played.after, options))
        assert position_from_json(json.loads(written), options) == as_written(played.after)
        assert parse_line(f"{played.seat} {played.move}") == (played.seat, played.move)
        assert [Event.from_json(event.to_json()) for event in played.events] == list(played.events)


@games
@given(tables(), players, seeds)
def test_events_have_the_fields_and_reasons_of_their_kind(options: Options, count: int, seed: int) -> None:
    for played in play(options, count, seed, most=150):
        for event in played.events:
            spec, written = EVENTS[event.kind], event.to_json()
            fields = {"kind", "seat", *spec.public, *spec.private}
            assert fields - {"reason", *spec.optional} <= set(written) <= fields
            assert event.reason is None or event.reason in spec.reasons


@games
@given(tables(), players, seeds)
def test_a_position_survives_storing_and_reading(options: Options, count: int, seed: int) -> None:
    for played in play(options, count, seed, most=150):
        assert Position.from_json(json.loads(json.dumps(played.after.to_json()))) == played.after


def test_a_missing_stored_field_has_its_default() -> None:
    needed = {"hands": [["r5"], ["b1"]], "turn": 1, "discard_pile": ["r3"]}
    assert Position.from_json(needed) == Position(hands=[["r5"], ["b1"]], turn=1, discard_pile=["r3"])


@games
@given(tables(), players, seeds)
def test_a_view_with_the_hidden_cards_is_the_position(options: Options, count: int, seed: int) -> None:
    for played in play(options, count, seed, most=60):
        there = played.after
        view, claim = view_for(there, there.turn, options), there.extra.challenge
        hidden = view.with_hidden(
            there.hands,
            draw_pile=there.draw_pile,
            set_aside=there.set_aside,
            bluff=claim is not None and claim.bluff,
            discard_pile=there.discard_pile,
            drawn=there.drawn,
        )
        assert hidden == there


def test_random_rounds_include_players_who_left_earlier() -> None:
    firsts = [next(play(PRESETS["no-mercy"], 4, seed)).after for seed in range(20)]
    assert {len(first.absent) for first in firsts} == {0, 1, 2}


def test_the_json_of_a_position_has_all_fields_except_absent() -> None:
    position = deal(PRESETS["no-mercy"], 3, Shuffler(key_from_seed("")).shuffle, absent=[1])
    assert {*position_to_json(position, PRESETS["no-mercy"]), "absent", "extra"} == set(FIELDS)


def with_other_back(card: str, side: str | None) -> str:
    """Return a card with the same face on a side, and another hidden face if it has one."""
    light, _, dark = card.partition("/")
    return {"light": f"{light}/o1", "dark": f"r1/{dark}", None: card}[side]


def with_other_face(card: str, side: str | None) -> str:
    """Return a card with another face on a side, and the same hidden face if it has one."""
    light, _, dark = card.partition("/")
    return {"light": f"r1/{dark}", "dark": f"{light}/o1", None: "r1"}[side]


def unlike(cards: tuple[str, ...], side: str | None) -> tuple[str, ...]:
    """Return as many cards, of which nothing is the same."""
    return (("r1/o1" if side else "r1"),) * len(cards)


def other_world(position: Position, seat: int | None, options: Options) -> Position:
    """Return a position that looks the same to `seat`: all that it does not know is replaced."""
    side, extra = position.extra.side, position.extra
    own = {card: with_other_back(card, side) for hand in position.hands for card in (*hand, *position.discard_pile)}
    sees_backs = options.flip_backs == "seen" and seat is not None
    others = {card: with_other_face(card, side) if sees_backs else unlike((card,), side)[0] for card in own}
    hands = tuple(
        tuple((own if at == seat else others)[card] for card in hand) for at, hand in enumerate(position.hands)
    )
    run, claim = extra.run, extra.challenge
    return position.replace(
        hands=hands,
        draw_pile=unlike(position.draw_pile, side),
        set_aside=unlike(position.set_aside, side),
        discard_pile=tuple(own[card] for card in position.discard_pile),
        drawn=position.drawn and (own if seat == position.turn else others)[position.drawn],
        extra=dataclasses.replace(
            extra, run=run and Run(run.seat, own[run.card]), challenge=claim and Challenge(claim.seat, not claim.bluff)
        ),
    )


@pytest.mark.rule("SEE-1 FLIP-6 BLUFF-1")
@games
@given(tables(), players, seeds)
def test_a_view_does_not_depend_on_hidden_cards(options: Options, count: int, seed: int) -> None:
    for played in play(options, count, seed, most=200):
        for seat in (None, *range(count)):
            if played.after.phase != "over":
                hidden = view_for(other_world(played.after, seat, options), seat, options)
                assert view_for(played.after, seat, options) == hidden


def told(events: tuple[Event, ...], viewer: int | None) -> list[tuple[Event, str]]:
    """Return what a viewer reads about a move while the round runs."""
    return [(event, sentence(event, viewer, NAMES)) for event in redact(events, viewer, over=False)]


def with_other_draws(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the same events with other secretly drawn cards."""
    return tuple(
        dataclasses.replace(event, cards=event.cards and ("r1",) * len(event.cards), card=event.card and "r1")
        if event.kind in ("drew", "found")
        else event
        for event in events
    )


@pytest.mark.rule("SEE-1")
@games
@given(tables(), players, seeds)
def test_sentences_for_others_do_not_depend_on_secretly_drawn_cards(options: Options, count: int, seed: int) -> None:
    for played in play(options, count, seed, most=200):
        owners = {event.seat for event in played.events if event.kind in ("drew", "found")}
        for viewer in {None, *range(count)} - owners:
            assert told(played.events, viewer) == told(with_other_draws(played.events), viewer)
        if played.after.phase != "over":
            before, after = played.before.extra.side, played.after.extra.side
            shown = [options.rules.sides[side].show(played.after.discard_pile) for side in (before, after)]
            seen = {*shown[0], *shown[1], played.move.card}
            for event, _ in told(played.events, None):
                cards = {*(event.cards or ()), *([event.card] if event.card else ())}
                assert event.kind == "turned_over" or cards <= seen


@pytest.mark.rule("SEE-1")
def test_the_comparison_of_sentences_finds_cards_shown_to_their_owner() -> None:
    moves = play(PRESETS["no-mercy"], 2, 1)
    played = next(p for p in moves if any(e.kind == "drew" and set(e.cards or ()) != {"r1"} for e in p.events))
    assert told(played.events, played.seat) != told(with_other_draws(played.events), played.seat)
    assert told(played.events, 1 - played.seat) == told(with_other_draws(played.events), 1 - played.seat)


@pytest.mark.rule("SEE-1")
def test_everything_is_shown_once_the_round_is_over() -> None:
    *_, last = play(PRESETS["no-mercy"], 4, 3)
    views = [view_for(last.after, seat, PRESETS["no-mercy"]) for seat in (None, 0, 1, 2, 3)]
    assert [view.hands for view in views] == [last.after.hands] * 5
    assert redact(last.events, None, over=True) == last.events


SEEN_BY_ALL = (
    "turn", "phase", "direction", "color", "pending", "out", "absent", "declared", "exposed", "going_out", "reshuffles",
    "winner", "points",
)  # fmt: skip
EXTRA_SEEN = ("side", "buzz", "buzzes", "passes", "fines")


@pytest.mark.rule("SEE-1")
@games
@given(tables(), players, seeds)
def test_a_view_has_the_public_fields_unchanged(options: Options, count: int, seed: int) -> None:
    for played in play(options, count, seed, most=200):
        for seat in (None, *range(count)):
            view = view_for(played.after, seat, options)
            seen = {name: getattr(view, name) for name in SEEN_BY_ALL}
            assert seen == {name: getattr(played.after, name) for name in SEEN_BY_ALL}
            extra, side = played.after.extra, options.rules.sides[played.after.extra.side]
            assert (view.top, view.discard_pile) == (
                side.show_card(played.after.top),
                side.show(played.after.discard_pile),
            )
            assert view.run == (extra.run and Run(extra.run.seat, side.show_card(extra.run.card)))
            assert view.challenge == (None if extra.challenge is None else extra.challenge.seat)
            assert {name: getattr(view, name) for name in EXTRA_SEEN} == {
                name: getattr(extra, name) for name in EXTRA_SEEN
            }
            assert (view.draw_pile, view.set_aside) == (len(played.after.draw_pile), len(played.after.set_aside))
            assert (view.you, view.options) == (seat, options)


@pytest.mark.rule("SEE-1")
def test_a_view_has_counts_instead_of_hidden_cards() -> None:
    position = Position(
        hands=[["r5", "b1"], ["g2"]], turn=0, discard_pile=["W6", "r3"], draw_pile=["y1", "y2"], color="r",
        phase="drawn", drawn="r5", set_aside=["g9"], exposed=[1],
    )  # fmt: skip
    mine, theirs = (view_for(position, seat, PRESETS["no-mercy"]) for seat in (0, 1))
    assert (mine.hand, mine.drawn, mine.counts, mine.draw_pile, mine.set_aside) == (("r5", "b1"), "r5", (2, 1), 2, 1)
    assert (theirs.hand, theirs.drawn, theirs.hands) == (("g2",), None, None)
    assert (theirs.top, theirs.discard_pile, theirs.exposed) == ("r3", ("W6", "r3"), (1,))
    spectator = view_for(position, None, PRESETS["no-mercy"])
    assert isinstance(spectator, View)
    assert (spectator.you, spectator.hand, spectator.drawn) == (None, None, None)


@pytest.mark.parametrize("count", range(2, 7))
def test_random_games_end(count: int) -> None:
    for seed in range(30):
        *_, last = play(PRESETS["no-mercy"], count, seed, leaving=0.0)
        assert last.after.phase == "over"
        assert last.after.points is not None


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if preset != "no-mercy"])
def test_random_games_of_a_preset_end(preset: str) -> None:
    for seed, count in enumerate((2, 4, 10)):
        *_, last = play(PRESETS[preset], count, seed, leaving=0.0, most=100_000)
        assert last.after.phase == "over"


@settings(games, max_examples=8)
@given(tables(), players, seeds)
def test_random_games_of_mixed_options_end(options: Options, count: int, seed: int) -> None:
    *_, last = play(options, count, seed, leaving=0.0, most=100_000)
    assert last.after.phase == "over"
