"""Checks stored games: replays every round from its secret and its moves, and compares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from django.db import connection, transaction

from games import queries, rules
from games.models import Game, Hand, Move, Round, Seat
from games.models.positions import position_of
from games.queries.replays import replayed


def faults_of(game_id: int) -> list[str]:
    """Return what is wrong with a game, one sentence a fault. The list is empty if nothing is.

    Everything is read in one REPEATABLE READ snapshot, because the game may be running.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        game = Game.objects.filter(pk=game_id).first()
        if game is None:
            return []
        seats = list(Seat.objects.filter(game=game).order_by("index"))
        rounds = list(Round.objects.filter(game=game).order_by("number"))
        moves = list(Move.objects.filter(game=game).order_by("n"))
        hands = list(Hand.objects.filter(round__game=game).order_by("round_id", "seat__index"))
    found = list(_log_faults(game, rounds, moves))
    try:
        options = queries.options_of(game)
    except rules.BadInput as bad:
        return [*found, f"the options are invalid: {bad}"]
    left = tuple(sorted({move.seat for move in moves if move.text == "leave"}))
    match, ended = rules.Match(options, (0,) * len(seats), dealer=0, absent=left), None
    for round_ in rounds:
        lines = [move for move in moves if move.round_id == round_.pk]
        own_hands = [hand for hand in hands if hand.round_id == round_.pk]
        if [hand.seat_id for hand in own_hands] != [seat.pk for seat in seats]:
            found.append(f"round {round_.number}: there are {len(own_hands)} hands, not one for each seat")
            ended = None
            continue
        faults, ended = _check_round(round_, lines, len(seats), options)
        found += (f"round {round_.number}: {fault}" for fault in faults)
        match = match if ended is None else match.with_result(ended)
    return found + list(_end_faults(game, seats, match, ended))


def _end_faults(game: Game, seats: list[Seat], match: rules.Match, ended: rules.Outcome | None) -> Iterator[str]:
    """Yield how the rows of a game differ from its match. `ended` is the outcome of its last round, None if it runs."""
    scores = tuple(seat.score for seat in seats)
    if game.status != Game.Status.OPEN and scores != match.scores:
        yield f"the scores are {scores}, the log gives {match.scores}"
    if match.absent != tuple(seat.index for seat in seats if seat.left):
        yield f"the seats that have left are not those of the log, {match.absent}"
    if ended is None or game.status == Game.Status.VOID:
        return
    winner = match.winner(ended)
    if (winner is not None) != (game.status == Game.Status.OVER) or winner != game.winner:
        yield f"the winner is {game.winner} and the game is {game.status}, the log gives {winner}"


def _log_faults(game: Game, rounds: list[Round], moves: list[Move]) -> Iterator[str]:
    if [move.n for move in moves] != list(range(1, game.version + 1)):
        yield f"the log has {len(moves)} lines that do not count from 1 to the version {game.version}"
    if [round_.number for round_ in rounds] != list(range(1, len(rounds) + 1)):
        yield "the rounds are not numbered from 1"
    if rounds and game.round_id != rounds[-1].pk:
        yield "the game does not point at its last round"


def _check_round(
    round_: Round, moves: list[Move], players: int, options: rules.Options
) -> tuple[list[str], rules.Outcome | None]:
    """Replay a round. Return what is wrong with it, and its outcome: None if it runs or does not replay."""
    found = list(_secret_faults(round_, options))
    cards = Counter(round_.deal.split())
    positions = replayed(round_, ((move.seat, move.text) for move in moves), options=options, players=players)
    position = next(positions)
    for move in moves:
        try:
            position = next(positions)
        except rules.Refused as refused:
            return [*found, f"line {move.n}, `{move.seat} {move.text}`, is refused: {refused.code}"], None
        if _cards_in(position) != cards:
            found.append(f"after line {move.n} the cards are not those of the deck")
    return [*found, *_row_faults(round_, position)], rules.outcome(position)


def _cards_in(position: rules.Position) -> Counter[rules.Card]:
    return Counter(chain(position.draw_pile, position.discard_pile, position.set_aside, *position.hands))


def _secret_faults(round_: Round, options: rules.Options) -> Iterator[str]:
    secret = bytes(round_.secret)
    if rules.commitment(secret) != round_.commitment:
        yield "the secret does not match the commitment"
    deal = rules.shuffled_cards(options, rules.Shuffler(secret).shuffle)
    if " ".join(deal) != round_.deal:
        yield "the deal does not follow from the secret"


def _row_faults(round_: Round, position: rules.Position) -> Iterator[str]:
    """Yield how the row of a round differs from the last position of its log."""
    if position != position_of(round_):
        yield "the stored position is not the last position of the log"
    outcome = rules.outcome(position)
    if round_.void and (outcome is not None or round_.ended_at is None):
        yield "the round is void, but the log or the row says otherwise"
    if not round_.void and (outcome is not None) != (round_.ended_at is not None):
        yield "the log and the row disagree whether the round is over"
