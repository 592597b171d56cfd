"""Your move: the buttons, the choosers of colour and swap target, and the UNO toggle."""

from __future__ import annotations

from typing import Any

from games import rules
from games.queries import GameView
from games.render.words import cards, color, listed

Context = dict[str, Any]


def move_of(view: GameView, *, choose: str, uno: bool, here: str) -> Context | None:
    """The section "Your move", or None when there is nothing the reader can do.

    `choose` is the card that is being played and waits for its colour or swap target, `here` the page's address.
    """
    seen = view.view
    if seen is None or not view.legal:
        return None
    chooser = chooser_of(view, choose, here)
    return {
        "chooser": chooser,
        "buttons": _turn_buttons(view, seen, chooser) + _calls(view),
        "uno": {"on": uno} if _may_leave_one(view, seen) else None,
        "hint": _hint(view),
    }


def chooser_of(view: GameView, choose: str, here: str) -> Context | None:
    """The choice that the reader owes now, or that the card `choose` asks for; None if there is none."""
    seen = view.view
    assert seen is not None
    if view.my_turn and seen.phase == "choose_color":
        return {"question": "Which colour stops the roulette?", "choices": _colors(view.legal, seen.hand or ())}
    card = seen.drawn or choose
    ways = [move for move in view.legal if move.kind == "play" and move.card == card]
    if not ways or (ways[0].color is None and ways[0].target is None):
        return None
    name = rules.card_name(card)
    # A card that was drawn must be played: there is no other to go back to.
    cancel = {} if seen.drawn else {"cancel_url": here}
    if ways[0].target is not None:
        return {"question": f"{name}: swap hands with whom?", "choices": _targets(view, ways), **cancel}
    rest = list(seen.hand or ())
    rest.remove(card)
    return {"question": f"Which colour for {name}?", "choices": _colors(ways, rest), **cancel}


def _colors(ways: list[rules.Move] | tuple[rules.Move, ...], held: list[str] | tuple[str, ...]) -> list[Context]:
    mine = [rules.face_of(card).color for card in held]
    return [
        {
            "id": move.color,
            "color": move.color,
            "name": color(move.color),
            "note": f"you hold {mine.count(move.color)}",
            "move": str(move),
        }
        for move in ways
        if move.color is not None
    ]


def _targets(view: GameView, ways: list[rules.Move]) -> list[Context]:
    return [
        {
            "id": move.target,
            "name": view.names[move.target],
            "note": cards(view.seats[move.target].cards),
            "move": str(move),
        }
        for move in ways
        if move.target is not None
    ]


def _turn_buttons(view: GameView, seen: rules.View, chooser: Context | None) -> list[Context]:
    """What there is to do but to play a card of the hand; while a choice is open, only the ways out of it."""
    kinds = {move.kind for move in view.legal}
    buttons: list[Context] = []
    if "pass" in kinds:
        buttons.append(_draw_button("pass", "Keep it and pass", primary=False))
    if chooser is not None:
        return buttons
    if seen.drawn is not None:
        name = rules.card_name(seen.drawn)
        play = {"id": "play-drawn", "move": f"play {seen.drawn}", "label": f"Play {name}", "style": "primary"}
        buttons.insert(0, play)
    if "take" in kinds and seen.pending is not None:
        buttons.append(_draw_button("take", f"Take {seen.pending.total}"))
    if "draw" in kinds:
        buttons.append(_draw_button("draw", "Draw", primary="play" not in kinds))
    return buttons


def _draw_button(move: str, label: str, *, primary: bool = True) -> Context:
    """Drawing, taking and keeping are never on offer together, and share id and key."""
    return {"id": "draw", "move": move, "label": label, "style": "primary" if primary else "", "key": "space"}


def _calls(view: GameView) -> list[Context]:
    buttons: list[Context] = []
    for move in view.legal:
        if move.kind == "uno":
            buttons.append({"id": "uno-call", "move": "uno", "label": "Call UNO", "style": "primary", "key": "u"})
        elif move.kind == "catch" and move.target is not None:
            seat = view.seats[move.target]
            style = "danger" if seat.exposed else "quiet"
            buttons.append(
                {
                    "id": f"catch-{seat.seat}",
                    "move": str(move),
                    "label": f"Catch {seat.name}",
                    "style": style,
                    "key": "u",
                }
            )
    return buttons


def _hint(view: GameView) -> str:
    caught = [seat.name for seat in view.seats if seat.exposed and seat.seat != view.you]
    if caught:
        return f"{listed(caught)} {'has' if len(caught) == 1 else 'have'} one card and did not call."
    if view.you is not None and view.seats[view.you].exposed:
        return "You have one card: call before somebody catches you."
    return ""


def _may_leave_one(view: GameView, seen: rules.View) -> bool:
    """Whether some play could leave its player one card, so that a call makes sense."""
    if not view.my_turn:
        return False
    return any(rules.cards_after(seen, move) == 1 for move in view.legal if move.kind == "play")
