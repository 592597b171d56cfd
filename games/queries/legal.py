"""What the rules allow at a table of its pace. Only some paces let seats play out of turn (`Pace.races`)."""

from __future__ import annotations

from games import rules
from games.queries.tables import Table
from games.refusals import from_rules


def legal_moves(table: Table, position: rules.Position, seat: int) -> list[rules.Move]:
    """Return every legal move of a seat in a position of this table."""
    legal = rules.legal_moves(position, seat, table.options)
    if seat == position.turn or not _forbids_plays_out_of_turn(table):
        return legal
    return [move for move in legal if move.kind not in rules.TURN_MOVES]


def require_turn(
    table: Table, position: rules.Position, seat: int, move: rules.Move, *, after_own_play: bool = False
) -> None:
    """Refuse a play out of turn where the pace has none. The caller lets the rules judge everything else.

    :param after_own_play: whether the move was sent together with a play of the seat that was just made. It may then
        be a step of a straight (RUN-6).
    :raises Denied: `not_your_turn`.
    """
    if seat == position.turn or move.kind not in rules.TURN_MOVES or not _forbids_plays_out_of_turn(table):
        return
    refused = rules.refusal(position, seat, move, table.options)
    if refused is not None and refused.code in ("malformed", "no_such_seat", "over", "out"):
        return  # the rules check these first
    if after_own_play and _is_step(table, position, seat, move):
        return
    raise from_rules(rules.Refused("not_your_turn"), table.game.version)


def _forbids_plays_out_of_turn(table: Table) -> bool:
    """Return True if the rules of the table have plays out of turn, but its pace has none."""
    return table.options.plays_out_of_turn and not table.game.terms.races


def _is_step(table: Table, position: rules.Position, seat: int, move: rules.Move) -> bool:
    playable = {other.card for other in rules.legal_moves(position, seat, table.options) if other.kind == "play"}
    return move.card in playable and rules.is_step(position, seat, move.card or "", table.options)
