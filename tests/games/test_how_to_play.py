"""How to play, for each preset and mix of options."""

from __future__ import annotations

import re
from dataclasses import replace

from games import rules
from games.render.how_to_play import how_to_play
from tests.support.options import values_of


def text_for(preset: str, **changes: object) -> str:
    """Return how to play a preset with some options changed. The changes need not go together."""
    how = how_to_play(replace(rules.PRESETS[preset], **changes), 10)  # type: ignore[arg-type]  # values of options
    return " ".join([how.lead, *(part.text for part in how.parts)])


def test_no_mercy_is_explained_on_one_screen() -> None:
    how = how_to_play(rules.PRESETS["no-mercy"], 6)
    assert how.lead == "Be the first to get rid of all your cards. Never hold 25. 2 to 6 players, 7 cards each."
    assert [part.text for part in how.parts] == [
        "**Your turn.** Play one card that matches the top card in colour, number or symbol, or any wild. TURN-2",
        "**No playable card?** Draw until you get one, and play it. You may draw even if you could play. TURN-4",
        (
            "**Stack.** When you owe cards, play a draw card with the same or a higher number, and the next player owes"
            " the total. Or take them all and lose your turn. STACK-1"
        ),
        (
            "**7 and 0.** A 7 swaps your hand with another player’s. A 0 passes every hand to the next player."
            " SEVEN-1 ZERO-1"
        ),
        "**Skip Everyone** gives you another turn. **Discard All** discards all your cards of its colour. ALL-1 DISC-1",
        (
            "**Color Roulette.** The next player chooses a colour, turns over cards until it shows, and keeps them all."
            " ROUL-1"
        ),
        (
            "**UNO.** Call UNO when you are down to one card. If someone catches you before you call it, you draw 2"
            " cards. UNO-1"
        ),
        "**Mercy.** With 25 cards you are out of the round. MERCY-1",
        (
            "**Winning.** Play your last card, or be the last player left, and you win the round. You score the"
            " cards the others hold, and 250 points for each player who is out. A match goes to 1,000. SCORE-1 SCORE-2"
        ),
        (
            "**Time.** Each turn has a deadline, chosen with the table. When it passes, the clock draws or takes for"
            " you. CLOCK-1"
        ),
    ]


def test_parts_show_cards_of_the_deck() -> None:
    shown = {
        preset: " ".join(one.face for part in how_to_play(options, 6).parts for one in part.pictures)
        for preset, options in rules.PRESETS.items()
    }
    assert shown["no-mercy"] == "r5 b5 r+2 y+4 r7 b0 gE yD WC y3"
    assert shown["classic"] == "r5 b5 yS r+2 W4 W4 y3 b+2"
    assert shown["flip"] == "r5 b5 yS r+1 W2 W2 uE gF WD y3 b+1"
    assert "BZ" in shown["house-party"]


LAST = "A draw card as your last card"
PARTS = {
    "no-mercy": "Your turn. No playable card? Stack. 7 and 0. Skip Everyone Discard All Color Roulette. UNO. Mercy."
    " Winning. Time.",
    "classic": f"Your turn. The first card No playable card? Draw cards Bluffs. UNO. {LAST} Winning. Time.",
    "playroom": f"Your turn. No playable card? Draw cards UNO. {LAST} Winning. Time.",
    "playroom-no-mercy": "Your turn. No playable card? Stack. 7 and 0. Skip Everyone Discard All Color Roulette. UNO."
    f" Mercy. {LAST} Winning. Time.",
    "flip": f"Your turn. The first card No playable card? Draw cards Bluffs. Skip Everyone Flip. UNO. {LAST} Winning."
    " Time.",
    "house-party": "Your turn. No playable card? Stack. Pass them on. Bluffs. 7 and 0. Straights. Interceptions."
    " Buzzers. UNO. Winning. Time.",
}


def test_a_preset_has_the_parts_that_it_plays() -> None:
    headings = {preset: " ".join(re.findall(r"\*\*([^*]+)\*\*", text_for(preset))) for preset in rules.PRESETS}
    assert headings == PARTS


SENTENCES: list[tuple[str, dict[str, object], str]] = [
    ("classic", {}, "Draw one card. If it is playable, play it or keep it. You may draw even if you could play."),
    ("classic", {"drawn_must_play": True}, "Draw one card, and play it if you can."),
    ("classic", {"voluntary_draw": False}, "play it or keep it. You may draw only then."),
    ("no-mercy", {"drawn_must_play": False}, "Draw until you get one. Play it, or keep it and pass."),
    ("classic", {}, "The next player draws them and loses the turn. DRAW-1"),
    ("playroom", {}, "The next player draws them, and then has a turn as usual. DRAW-1 PAY-2"),
    ("house-party", {}, "play the same draw card, in any colour, and the next player owes the total."),
    ("house-party", {}, "Or take them all and have a turn as usual. RESP-1 PAY-2"),
    ("playroom-no-mercy", {}, "the same or a higher number, coloured on coloured or wild on wild, and"),
    ("house-party", {}, "with a Skip or Reverse that matches, or with a plain Wild. RESP-3"),
    ("no-mercy", {"advanced_stacking": True}, "that matches. A Discard All or Skip Everyone that matches cancels"),
    ("no-mercy", {"advanced_stacking": True, "deck": "nomercy172"}, "or with a plain Wild. A Discard All or Skip"),
    ("playroom-no-mercy", {}, "Its player chooses a colour. The next player turns over cards"),
    ("flip", {"zero_seven": True}, "**7.** A 7 swaps your hand with another player’s. SEVEN-1"),
    ("flip", {}, "You see the hidden sides of the others’ cards, never of your own. FLIP-2"),
    ("flip", {"flip_backs": "hidden"}, "until the chosen colour shows. FLIP-2"),
    ("house-party", {}, "the next one up or down in its colour, and so on. A 0 comes after a 9. RUN-1"),
    ("flip", {"straights": True}, "the next one up or down in its colour, and so on. RUN-1"),
    ("house-party", {}, "If you hold a card of the same kind as the top card, play it out of turn"),
    ("house-party", {"interceptions": "exact"}, "If you hold a card of the same colour and kind as the top card"),
    ("house-party", {}, "At live tables a card that does not fit costs you 3 points. INT-1"),
    ("house-party", {"interception_penalty": 1}, "At live tables a card that does not fit costs you 1 point. INT-1"),
    ("house-party", {"interception_penalty": 0}, "your standing orders intercept for you. INT-1"),
    ("classic", {}, "If its player held a card of the previous colour, that player draws the cards instead. If not"),
    ("house-party", {}, "If its player held another playable card, that player draws the cards instead, and two more"),
    ("house-party", {}, "chance picks a player, who draws two cards. BUZZ-1 BUZZ-3"),
    ("house-party", {"buzzers": "race"}, "everybody presses, and the slowest draws two cards. BUZZ-1 BUZZ-2"),
    ("house-party", {}, "in colour, number or symbol, or any wild or buzzer."),
    ("playroom", {}, "you draw 4 cards. They can catch you until your hand changes. UNO-1 CALL-1"),
    ("no-mercy", {"callout_penalty": 0}, "Call UNO when you are down to one card. UNO-1"),
    ("classic", {}, "**A draw card as your last card** wins, and the next player still draws. END-2"),
    ("classic", {"last_draw_card": "win_now"}, "wins, and nobody draws any more. END-2"),
    ("playroom", {}, "The others get points for the cards they hold. A match goes to 500. The fewest points win it."),
    ("playroom-no-mercy", {}, "for the cards they hold, or 250 points if they are out. A match goes to 500."),
    ("classic", {}, "You score the cards the others hold. A match goes to 500. SCORE-1"),
    ("no-mercy", {"mercy_points": 0}, "You score the cards the others hold. A match goes to 1,000. SCORE-1"),
    ("no-mercy", {"mercy_card_points": True}, "The cards a player holds when knocked out count too. A match"),
    ("playroom", {"target": 0}, "You play a single round. SCORE-3"),
    ("playroom", {"target": 0, "rounds": 3}, "A match goes for 3 rounds. The fewest points win it."),
    ("no-mercy", {"rounds": 1}, "A match goes to 1,000 or for 1 round, whichever comes first."),
    (
        "no-mercy",
        {"mercy_limit": 0},
        "Be the first to get rid of all your cards. 2 to 10 players, 7 cards each.",
    ),
    ("no-mercy", {"hand_size": 1}, "2 to 10 players, 1 card each."),
    ("no-mercy", {"hand_size": 12}, "2 to 10 players, 12 cards each."),
]


def test_a_part_follows_the_options() -> None:
    missing = [row for row in SENTENCES if row[2] not in text_for(row[0], **row[1])]
    assert missing == []


def test_each_part_is_short_and_names_rules_that_apply() -> None:
    for preset, offered in rules.PRESETS.items():
        for spec in rules.OPTIONS:
            for value in values_of(spec):
                options = replace(offered, **{spec.name: value})  # type: ignore[arg-type]  # a value of the option
                shown = {rule.id for rule in rules.rules_that_apply(options, 10)}
                for part, pictures in how_to_play(options, 10).parts:
                    assert len(pictures) <= 2
                    assert all(picture.face in options.rules.sides[picture.side].faces for picture in pictures)
                    found = re.fullmatch(r"\*\*.+?\*\*[^_{}]+[.?]((?: [A-Z]+-\d)+)", part)
                    assert found, (preset, spec.name, value, part)
                    assert set(found[1].split()) <= shown, (preset, spec.name, value, part)
                    assert len(part) < 330
