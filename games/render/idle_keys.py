"""Keys of the game page that do nothing now, and why, for static/js/keys.js to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games.render.move import CHALLENGE_KEY, DRAW_KEYS, UNO_KEY, YourMove

NO_HAND: Final = N_("You hold no cards.")


class IdleKey(NamedTuple):
    """Keys, separated by spaces, and the sentence that says why they do nothing if no control on the page has them."""

    keys: str
    why: str


def idle_keys(move: YourMove | None, *, headline: str, colors: Sequence[str], races: bool) -> list[IdleKey]:
    """Return a row for every key of a move or of the hand. The first row with a key counts.

    `move` is the section "Your move", None without one. `headline` says who must do what, and `colors` are those of the
    side in force. `races`: the table has buzzers that all players press.
    """
    chooser = move.chooser if move else None
    no_draw = "" if chooser and chooser.sure else say.text("idle key", "Nothing to draw now.")
    rows = [
        IdleKey(DRAW_KEYS, " ".join(filter(None, (no_draw, chooser.question if chooser else headline)))),
        IdleKey(UNO_KEY, say.text("idle key", "No UNO to call and nobody to catch now.")),
        IdleKey(CHALLENGE_KEY, say.text("idle key", "Nothing to challenge now.")),
        IdleKey("h shift+c shift+n", say.text("idle key", NO_HAND)),
    ]
    if races:
        rows.append(IdleKey("b", say.text("idle key", "No buzzer to press now.")))
    if chooser and not chooser.cancel_url:
        why = " ".join((say.text("idle key", "You cannot choose another card."), chooser.question))
        rows.append(IdleKey("escape", why))
    return [*rows, IdleKey(" ".join(colors), say.text("idle key", "No colour to choose now."))]
