"""Whether the log proves what is stored: every round replayed from its secret and its lines, and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.db import connection, transaction

from games import queries, rules
from games.models import Game, Hand, Move, Round, Seat
from games.models.positions import position_of


def faults_of(game_id: int) -> list[str]:
    """What is wrong with a game, one sentence a fault; an empty list for a sound one.

    All of it is read in one REPEATABLE READ snapshot, since people and bots may be moving.
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
        queries.options_of(game)
    except rules.BadInput as bad:
        return [*found, f"the options are not ones a table can have: {bad}"]
    scores = [0] * len(seats)
    for round_ in rounds:
        lines = [move for move in moves if move.round_id == round_.pk]
        own_hands = [hand for hand in hands if hand.round_id == round_.pk]
        if [hand.seat_id for hand in own_hands] != [seat.pk for seat in seats]:
            found.append(f"round {round_.number}: there are {len(own_hands)} hands, not one for each seat")
            continue
        found += (f"round {round_.number}: {fault}" for fault in _round_faults(game, round_, lines, own_hands, scores))
    if game.status != Game.Status.OPEN and scores != [seat.score for seat in seats]:
        found.append(f"the scores are {[seat.score for seat in seats]}, the log gives {scores}")
    return found + list(_end_faults(game, seats, rounds, moves, scores))


def _end_faults(
    game: Game, seats: list[Seat], rounds: list[Round], moves: list[Move], scores: list[int]
) -> Iterator[str]:
    left = {move.seat for move in moves if move.text == "leave"}
    if left != {seat.index for seat in seats if seat.left}:
        yield f"the seats that have left are not those of the log, {sorted(left)}"
    if not rounds or rounds[-1].winner is None or game.status == Game.Status.VOID:
        return
    winner = rules.match_winner(scores, queries.options_of(game), left, round_winner=rounds[-1].winner)
    if (winner is not None) != (game.status == Game.Status.OVER) or winner != game.winner:
        yield f"the winner is {game.winner} and the game is {game.status}, the log gives {winner}"


def _log_faults(game: Game, rounds: list[Round], moves: list[Move]) -> Iterator[str]:
    if [move.n for move in moves] != list(range(1, game.version + 1)):
        yield f"the log has {len(moves)} lines that do not count from 1 to the version {game.version}"
    if [round_.number for round_ in rounds] != list(range(1, len(rounds) + 1)):
        yield "the rounds are not numbered from 1"
    if rounds and game.round_id != rounds[-1].pk:
        yield "the game does not point at its last round"


def _round_faults(game: Game, round_: Round, moves: list[Move], hands: list[Hand], scores: list[int]) -> Iterator[str]:
    options = queries.options_of(game)
    secret = bytes(round_.secret)
    if rules.commitment(secret) != round_.commitment:
        yield "the secret does not fit its commitment"
    shuffle = rules.Shuffler(secret).shuffle
    deck = rules.DECKS[options.deck].cards
    if " ".join(shuffle(deck, rules.DEAL)) != round_.deal:
        yield "the deal does not follow from the secret"
    position = rules.deal(options, len(hands), shuffle, dealer=round_.dealer, absent=tuple(round_.absent))
    for move in moves:
        try:
            position, _ = rules.apply(position, move.seat, rules.parse_move(move.text), options, shuffle)
        except rules.Refused as refused:
            yield f"line {move.n}, `{move.seat} {move.text}`, is refused: {refused.code}"
            return
        cards = Counter(position.draw_pile) + Counter(position.discard_pile) + Counter(position.set_aside)
        for hand in position.hands:
            cards.update(hand)
        if cards != Counter(deck):
            yield f"after line {move.n} the cards are not the deck's"
    stored = position_of(round_)
    if position != stored:
        yield "the stored position is not the one the log leads to"
    outcome = rules.outcome(position)
    if round_.void and (outcome is not None or round_.ended_at is None):
        yield "the round is void, but the log or the row says otherwise"
    if not round_.void and (outcome is not None) != (round_.ended_at is not None):
        yield "the log and the row disagree whether the round is over"
    if outcome is not None:
        for seat in range(len(scores)):
            scores[seat] += rules.points_of(outcome, seat)
