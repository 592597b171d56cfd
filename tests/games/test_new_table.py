"""The form for a new table."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from accounts.models import User
from games import queries, rules
from games.bots import BOTS
from games.models import Game, Seat
from tests.support.pages import CHOICES, text_of

pytestmark = pytest.mark.django_db


def test_the_form_offers_every_option_of_the_rules(client: Client) -> None:
    html = client.get("/tables/new/").content.decode()
    assert [spec.name for spec in rules.OPTIONS if f'name="option_{spec.name}"' not in html] == ["target"]
    headings = dict.fromkeys(spec.group for spec in rules.OPTIONS)
    assert [html.count(f"<summary>{heading}") for heading in headings] == [1] * len(headings)
    assert [name for name in rules.PRESETS if f'name="preset" value="{name}"' not in html] == []
    assert 'name="target"' in html


@pytest.mark.parametrize("players", [2, 6])
def test_an_unchanged_form_seats_bots_everywhere_and_starts(as_alice: Client, players: int) -> None:
    html = as_alice.get("/tables/new/").content.decode()
    chosen = dict(re.findall(r'name="(\w+)" value="([^"]*)"[^>]*checked', html))
    assert chosen["bots"] == "others"
    as_alice.post("/tables/new/", {**chosen, "bot_pause": "1", "players": str(players)})
    game = Game.objects.get()
    assert (game.status, Seat.objects.filter(game=game).exclude(bot="").count()) == ("playing", players - 1)


def test_a_new_table_has_the_options_of_the_form(as_alice: Client, alice: User) -> None:
    choices = CHOICES | {
        "players": "5",
        "bots": "2",
        "bot": "sharp",
        "bot_pause": "0.5",
        "target": "500",
        "pace": "slow",
        "public": "0",
        "option_mercy_limit": "30",
        "option_voluntary_draw": "False",
        "option_last_draw_card": "win_now",
    }
    answer = as_alice.post("/tables/new/", choices)
    game = Game.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/games/{game.code}/")
    assert (game.players, game.target, game.pace, game.is_public, game.bot_pause) == (5, 500, "slow", False, 0.5)
    assert game.options == {"mercy_limit": 30, "voluntary_draw": False, "last_draw_card": "win_now"}
    assert [seat.bot for seat in Seat.objects.order_by("index")] == ["", "sharp", "sharp"]
    assert game.host == alice


def test_unchanged_options_have_the_presets_values(as_alice: Client) -> None:
    as_alice.post("/tables/new/", CHOICES | {"preset": "classic"})
    game = Game.objects.get()
    assert queries.options_of(game).deck == "classic108"
    assert game.options == {}


def test_options_are_explained_with_the_words_of_their_choices(as_alice: Client) -> None:
    text = text_of(as_alice.get("/tables/new/"))
    assert "draw then win: the next player" in text
    assert "draw_then_win:" not in text
    assert "Off: you draw one card. No Mercy rules: on; Classic rules: off. Rule TURN-4 ." in text
    assert "How many cards each player is dealt. Default: 7. Rule SETUP-2 ." in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"players": "2", "bots": "2"}, "Choose 0 to 1 bots for 2 players: one seat is yours."),
        ({"option_mercy_limit": "5"}, "The option mercy_limit must be 0 or 10 to 50."),
        ({"option_hand_size": "12", "option_mercy_limit": "10"}, "mercy_limit must exceed hand_size"),
        ({"option_hand_size": "99"}, "less than or equal to 15"),
        ({"players": "7"}, "not one of the available choices"),
        ({"pace": "glacial"}, "not one of the available choices"),
        ({"bot_pause": "nan"}, "Enter a number"),
        ({"bot_pause": "11"}, "less than or equal to 10"),
        ({"option_scoring": "golf"}, "not one of the available choices"),
    ],
)
def test_an_invalid_choice_is_explained_on_the_form(as_alice: Client, change: dict[str, str], sentence: str) -> None:
    answer = as_alice.post("/tables/new/", CHOICES | change)
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    assert not Game.objects.exists()


def test_a_visitor_becomes_a_guest_only_with_a_valid_form(client: Client) -> None:
    client.post("/tables/new/", CHOICES | {"players": "9"})
    assert not User.objects.exists()
    client.post("/tables/new/", CHOICES)
    assert Game.objects.get().host == User.objects.get(is_guest=True)


def test_a_table_of_one_person_and_bots_starts_at_once(as_alice: Client) -> None:
    as_alice.post("/tables/new/", CHOICES | {"players": "3", "bots": "2"})
    assert Game.objects.get().status == "playing"


def test_the_form_says_how_each_bot_plays(as_alice: Client) -> None:
    page = as_alice.get("/tables/new/").content.decode()
    assert all(f"{bot.label}: {bot.help}" in page for bot in BOTS.values())
