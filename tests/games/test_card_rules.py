"""What each card does, in a sentence."""

from __future__ import annotations

from dataclasses import replace

from django.test import Client

from accounts.models import User
from games import rules
from games.render.card_rules import what_cards_do
from tests.conftest import logged_in
from tests.support.options import values_of
from tests.support.tables import TWO_HANDS, table_at

SENTENCES = {
    ("no-mercy", "Red 7"): "You swap hands with a player of your choice.",
    ("no-mercy", "Blue 5"): "It goes on blue or on another 5.",
    ("no-mercy", "Green Discard All"): "All your other green cards go with it.",
    ("no-mercy", "Wild Reverse Draw Four"): (
        "The direction turns, you pick a colour and add 4 to the stack. The next player draws it or stacks."
        " With two players left, that is you."
    ),
    ("no-mercy", "Red Skip"): "The next player loses the turn.",
    ("classic", "Red 7"): "It goes on red or on another 7.",
    ("classic", "Wild Draw Four"): "You pick a colour, and the next player draws 4 or challenges you.",
    ("flip", "Wild Draw Colour"): "You pick a colour, and the next player draws until it shows or challenges you.",
    ("playroom-no-mercy", "Wild Color Roulette"): "You pick a colour, and the next player draws until it shows.",
    ("house-party", "Red Skip"): "The next player loses the turn. On a stack, it passes the stack on.",
    ("house-party", "Red Draw Two"): "Adds 2 to the stack. The next player draws it or stacks.",
    ("house-party", "Buzzer"): "Chance picks a player, who draws two cards.",
}


def test_a_sentence_follows_the_options() -> None:
    found = {(preset, card): what_cards_do(rules.PRESETS[preset])[card][0] for preset, card in SENTENCES}
    assert found == SENTENCES
    passed_on = what_cards_do(replace(rules.PRESETS["no-mercy"], advanced_stacking=True))
    assert passed_on["Red Discard All"][0] == "All your other red cards go with it. On a stack, it ends the stack."
    assert passed_on["Red Skip Everyone"][0] == "You take another turn. On a stack, it ends the stack."


def test_each_card_names_a_rule_that_applies() -> None:
    for preset, offered in rules.PRESETS.items():
        for spec in rules.OPTIONS:
            for value in values_of(spec):
                options = replace(offered, **{spec.name: value})  # type: ignore[arg-type]  # a value of the option
                shown = {rule.id for rule in rules.rules_that_apply(options, 10)}
                named = {rule for _, rule in what_cards_do(options).values()}
                assert named <= shown, (preset, spec.name, value)


def test_what_cards_do_is_read_by_those_who_see_the_table(client: Client, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], is_public=False)
    url = f"/games/{table.game.code}/cards/"
    assert client.get(url).status_code == 404
    text = logged_in(bob).get(url).content.decode()
    assert '<li data-name="Red 5"><span>It goes on red or on another 5.</span> <a href="/rules/#NUM-1">' in text
