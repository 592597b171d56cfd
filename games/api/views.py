"""Converts a `GameView` and log lines to the dictionaries of the API's JSON."""

from __future__ import annotations

from typing import Any

from games import rules
from games.queries import GameView, LogLine, SeatView


def game_json(view: GameView) -> dict[str, Any]:
    """Return the whole view, with the viewer's hand, legal moves and standing orders."""
    seen = view.view
    hand = None if seen is None or seen.hand is None else sorted(seen.hand)
    orders = {"orders": view.orders.to_json()} if view.orders else {}
    return listed_json(view) | {"hand": hand, "legal": sorted(str(move) for move in view.legal)} | orders


def listed_json(view: GameView) -> dict[str, Any]:
    """Return the view without hand, legal moves and standing orders."""
    options = rules.options_dict(view.options)
    options.pop("target")
    return {
        "id": view.id,
        "version": view.version,
        "status": view.status,
        "preset": view.preset,
        "programs": view.programs,
        "vacations": view.vacations,
        "options": options,
        "target": view.target,
        "round": view.round,
        "deal": view.deal,
        "you": view.you,
        "turn": view.turn,
        **_position_json(view.view),
        "seats": [_seat_json(seat) for seat in view.seats],
        "callouts": [{"seat": seat.seat, "until": seat.catch_until} for seat in view.seats if seat.catch_until],
        "deadline": view.deadline,
        "paused": list(view.paused),
        "winner": view.winner,
        "points": view.points,
        "commitment": view.commitment,
        **_variant_json(view.view),
    }


def _position_json(seen: rules.View | None) -> dict[str, Any]:
    if seen is None:
        return dict.fromkeys(
            ("phase", "direction", "top", "color", "pending", "drawn", "draw_pile", "discard_pile", "hands")
        )
    return {
        "phase": seen.phase,
        "direction": seen.direction,
        "top": seen.top,
        "color": seen.color,
        "pending": _pending_json(seen),
        "drawn": seen.drawn,
        "draw_pile": seen.draw_pile,
        "discard_pile": len(seen.discard_pile),
        "hands": None if seen.hands is None else [sorted(hand) for hand in seen.hands],
    }


def _pending_json(seen: rules.View) -> dict[str, int | str] | None:
    """Return the debt. `by` is left out while it is the symbol of the top card."""
    if seen.pending is None:
        return None
    total, value, by = seen.pending
    owed: dict[str, int | str] = {"total": total, "value": value}
    return owed if by == rules.face_of(seen.top).symbol else owed | {"by": by}


def _variant_json(seen: rules.View | None) -> dict[str, Any]:
    """Return the fields that only some variants have, without those that say nothing."""
    if seen is None:
        return {}
    fields = {
        "side": seen.side,
        "run": seen.run and seen.run._asdict(),
        "challenge": seen.challenge,
        "buzz": seen.buzz and seen.buzz._asdict(),
        "passes": seen.passes or None,
        "fines": seen.fines or None,
        "backs": seen.backs,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _seat_json(seat: SeatView) -> dict[str, Any]:
    return {
        "seat": seat.seat,
        "name": seat.name,
        "program": seat.is_program,
        "bot": bool(seat.bot),
        "bot_for_owner": seat.owner,
        "cards": seat.cards,
        "uno": seat.uno,
        "exposed": seat.exposed,
        "out": seat.out,
        "score": seat.score,
    }


def clock_json(view: GameView) -> dict[str, Any]:
    terms = view.terms
    return {
        "pace": terms.name,
        "bank": terms.bank,
        "increment": terms.increment,
        "cap": terms.cap,
        "callout": terms.callout,
        "deadline": view.deadline,
        "paused": list(view.paused),
        "time_left": None if view.time_left is None else view.time_left.total_seconds(),
        "pause_votes": list(view.pause_votes),
        "misses_allowed": view.misses_allowed,
        "after_misses": view.after_misses,
        "seats": [
            {
                "seat": seat.seat,
                "bank": seat.bank,
                "misses": seat.misses,
                "bot_for_owner": seat.owner,
                "away_until": seat.away_until,
            }
            for seat in view.seats
        ],
    }


def line_json(line: LogLine) -> dict[str, Any]:
    return {
        "n": line.n,
        "round": line.round,
        "seat": line.seat,
        "move": line.text,
        "at": line.at,
        "events": [event.to_json() for event in line.events],
        **({"player": line.former[line.seat]} if line.seat in line.former else {}),
    }
