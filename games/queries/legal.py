"""What a table allows of what the rules accept.

Only some paces let seats play out of turn (`Pace.races`), and no table allows a false catch that costs nothing.
"""

from __future__ import annotations

from games import rules
from games.queries.tables import Table
from games.refusals import Denied, from_rules


def legal_moves(table: Table, position: rules.Position, seat: int) -> list[rules.Move]:
    """Return every legal move of a seat in a position of this table."""
    legal = rules.legal_moves(position, seat, table.options)
    if table.options.false_catch_penalty:
        legal = [move for move in legal if not _is_free_catch(position, move)]
    if seat == position.turn or not _forbids_plays_out_of_turn(table):
        return legal
    return [move for move in legal if move.kind not in rules.TURN_MOVES]


def require_allowed(table: Table, position: rules.Position, seat: int, move: rules.Move) -> None:
    """Refuse a play out of turn where the pace has none, and a false catch that costs nothing.

    The caller lets the rules judge everything else.

    :raises Denied: `not_your_turn` or `nobody_to_catch`.
    """
    if _is_free_catch(position, move) and rules.refusal(position, seat, move, table.options) is None:
        raise from_rules(rules.Refused("nobody_to_catch"), table.game.version)
    if seat == position.turn or move.kind not in rules.TURN_MOVES or not _forbids_plays_out_of_turn(table):
        return
    refused = rules.refusal(position, seat, move, table.options)
    if refused is not None and refused.code in ("malformed", "no_such_seat", "over", "out"):
        return  # the rules check these first
    raise from_rules(rules.Refused("not_your_turn"), table.game.version)


def require_step(table: Table, position: rules.Position, seat: int, move: rules.Move) -> None:
    """Refuse a play that was sent together with an earlier one, unless it goes on with the seat's straight (RUN-6).

    Only what everybody sees decides. The earlier play may have swapped hands, drawn cards or turned them over, and
    nothing is saved if a later one is refused. So a refusal that depends on the cards of `position` would tell the
    player, at no cost, cards that nobody may know.

    :raises Denied: `not_your_turn`.
    """
    faces = table.options.rules.sides[position.extra.side].faces
    if move.card is None or move.card not in faces or rules.is_step(position, seat, move.card, table.options):
        return  # the rules refuse a card that the deck does not have, and know the hand of a player in a straight
    version = table.game.version
    raise Denied("not_your_turn", "Only further cards of a straight can follow a play.", rule="TURN-1", version=version)


def _is_free_catch(position: rules.Position, move: rules.Move) -> bool:
    """Return True for a catch of a player who owes no call while there is no card to draw for it.

    It would cost nothing (TURN-6), so it could be sent again and again, and each would be a line of the log.
    """
    if move.kind != "catch" or move.target in position.exposed:
        return False
    return not (position.draw_pile or position.set_aside or len(position.discard_pile) > 1)


def _forbids_plays_out_of_turn(table: Table) -> bool:
    """Return True if the rules of the table have plays out of turn, but its pace has none."""
    return table.options.plays_out_of_turn and not table.game.terms.races
