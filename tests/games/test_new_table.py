"""The form for a new table."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from typing import Final

import pytest
from django.test import Client

from accounts.models import User
from games import queries, rules
from games.bots import BOTS
from games.models import Game, Seat
from tests.support.pages import CHOICES, text_of

pytestmark = pytest.mark.django_db

CHECKED: Final = r'name="preset" value="([^"]*)"[^>]*checked'
"""Finds the rules that a form has chosen."""


def test_the_form_offers_every_option_of_the_rules(client: Client) -> None:
    html = client.get("/tables/new/").content.decode()
    assert [spec.name for spec in rules.OPTIONS if f'name="option_{spec.name}"' not in html] == ["target"]
    headings = dict.fromkeys(spec.group for spec in rules.OPTIONS)
    assert len(headings) == 10
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


@pytest.mark.parametrize("preset", rules.PRESETS)
def test_unchanged_options_have_the_presets_values(as_alice: Client, preset: str) -> None:
    as_alice.post("/tables/new/", CHOICES | {"preset": preset})
    game = Game.objects.get()
    assert game.preset == preset
    assert queries.options_of(game) == replace(rules.PRESETS[preset], target=0)


def test_options_are_explained_in_sentences(as_alice: Client) -> None:
    text = text_of(as_alice.get("/tables/new/"))
    assert "the next player draws If your last card is a draw card, the next player draws without an answer" in text
    assert "Default: on with No Mercy; else off. Rule TURN-4 ." in text
    assert "Each player is dealt that many cards. Default: 7. Rule SETUP-2 ." in text
    assert "Default: any with No Mercy; the same family with Playroom No Mercy; the same card with House Party;" in text
    assert all(description in unescape(text) for description in rules.PRESET_DESCRIPTIONS.values())


@pytest.mark.long
def test_a_link_chooses_the_rules_of_the_form(as_alice: Client) -> None:
    assert re.findall(CHECKED, as_alice.get("/tables/new/?preset=flip").content.decode()) == ["flip"]
    for path in ("/tables/new/", "/tables/new/?preset=golf"):
        assert re.findall(CHECKED, as_alice.get(path).content.decode()) == ["no-mercy"]


@pytest.mark.long
def test_how_to_play_leads_to_the_rules_of_the_chosen_preset(as_alice: Client) -> None:
    def address(html: bytes) -> list[str]:
        return re.findall(r'href="([^"]*)" id="how-to"', html.decode())

    assert address(as_alice.get("/tables/new/").content) == ["/rules/#how-to-play"]
    assert address(as_alice.get("/tables/new/?preset=classic").content) == ["/rules/?preset=classic#how-to-play"]
    refused = as_alice.post("/tables/new/", CHOICES | {"preset": "flip", "players": "11"})
    assert address(refused.content) == ["/rules/?preset=flip#how-to-play"]
    wrong = as_alice.post("/tables/new/", CHOICES | {"preset": "golf"})
    assert address(wrong.content) == ["/rules/#how-to-play"]


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({}, "lottery"),
        ({"pace": "live"}, "race"),
        ({"pace": "live", "option_buzzers": "lottery"}, "lottery"),
        ({"pace": "live", "option_deck": "flip112"}, "off"),
        ({"pace": "custom", "clock_bank": "0 s", "clock_increment": "60 s", "clock_cap": "10 min",
          "clock_callout": "10 s"}, "race"),
    ],
)  # fmt: skip
def test_a_live_house_party_has_a_race(as_alice: Client, change: dict[str, str], value: str) -> None:
    as_alice.post("/tables/new/", CHOICES | {"preset": "house-party"} | change)
    assert queries.options_of(Game.objects.get()).buzzers == value


def test_options_switch_on_what_they_need_and_the_table_says_so(as_alice: Client) -> None:
    chosen = CHOICES | {"preset": "classic", "option_advanced_stacking": "True"}
    text = text_of(as_alice.post("/tables/new/", chosen, follow=True))
    options = queries.options_of(Game.objects.get())
    assert (options.advanced_stacking, options.stacking, options.last_draw_card) == (True, "same", "contest")
    assert "Also switched on: Stacking. A draw card can be stacked on the same draw card, in any colour." in text
    assert "Also changed: A draw card as the last card. If your last card is a draw card, the others may" in text


@pytest.mark.long
def test_the_form_says_what_else_its_options_change(as_alice: Client) -> None:
    def line(change: dict[str, str]) -> str:
        html = as_alice.post("/tables/new/", CHOICES | {"preset": "classic", "players": "11"} | change).content.decode()
        found = re.search(r"<summary>Rules\s*<span[^>]*>([^<]*)", html)
        assert found is not None
        return unescape(found[1])

    stacking, last = "Stacking: the same card", "A draw card as the last card: the others may answer"
    passing_on = {"option_advanced_stacking": "True"}
    assert line(passing_on) == f"Pass a debt on: on, also {stacking}, {last}"
    assert line(passing_on | {"option_stacking": "any"}) == f"Stacking: any, Pass a debt on: on, also {last}"
    assert line({"option_straights": "True"}) == "Straights: on"


@pytest.mark.long
def test_a_default_is_that_of_the_chosen_preset(as_alice: Client) -> None:
    def default(preset: str, option: str) -> list[str]:
        html = as_alice.get(f"/tables/new/?preset={preset}").content.decode()
        return re.findall(rf'name="option_{option}" value=""[^>]*>\s*<span[^>]*>Default <small>([^<]*)', html)

    assert default("no-mercy", "stacking") == ["any"]
    assert default("classic", "stacking") == ["off"]
    assert default("house-party", "buzzers") == ["lottery; at Live tables race"]
    assert 'placeholder="Default: 25"' in as_alice.get("/tables/new/").content.decode()
    assert 'placeholder="Default: 25"' not in as_alice.get("/tables/new/?preset=classic").content.decode()


def test_another_deck_switches_off_what_it_does_not_have(as_alice: Client) -> None:
    chosen = CHOICES | {"preset": "classic", "option_deck": "nomercy168", "option_mercy_limit": "25"}
    text = text_of(as_alice.post("/tables/new/", chosen, follow=True))
    options = queries.options_of(Game.objects.get())
    assert (options.deck, options.bluff, options.first_discard) == ("nomercy168", "off", "number")
    assert "Also switched off: Challenging a bluff. A wild draw card cannot be challenged." in text


def test_a_no_mercy_deck_without_a_limit_is_warned_about(as_alice: Client) -> None:
    sentence = "With a No Mercy deck and no mercy limit, hands may grow until the piles run short."
    assert sentence in text_of(as_alice.get("/tables/new/"))
    table = as_alice.post("/tables/new/", CHOICES | {"option_mercy_limit": "0"})
    assert text_of(as_alice.get(table.headers["Location"])).count(sentence) == 2  # as a message, and with the options
    assert text_of(as_alice.get(table.headers["Location"])).count(sentence) == 1


CONFLICTS = [
    (
        {"option_bluff": "official"},
        "option_bluff",
        "The option “Challenging a bluff” must be “off” with a No Mercy deck.",
    ),
    (
        {"preset": "classic", "option_advanced_stacking": "True", "option_stacking": "off"},
        "option_advanced_stacking",
        (
            "The option “Pass a debt on” needs “Stacking” other than “off”, and “A draw card as the last card” “the"
            " others may answer”."
        ),
    ),
    ({"option_mercy_limit": "5"}, "option_mercy_limit", "The option “Mercy limit” must be 0 or 10 to 50."),
    (
        {"option_hand_size": "12", "option_mercy_limit": "10"},
        "option_mercy_limit",
        "The option “Mercy limit” must exceed “Cards dealt to each”.",
    ),
    (
        {"preset": "flip", "option_roulette_color": "victim"},
        "option_roulette_color",
        (
            "The option “Who chooses the roulette’s colour” must be “the player of the card” with the deck “Flip, 112"
            " cards with two sides”."
        ),
    ),
    (
        {"preset": "house-party", "option_buzzers": "race"},
        "option_buzzers",
        "A race for the buzzer needs the pace Live. Choose “lottery” for the buzzers instead.",
    ),
    (
        {"preset": "classic", "players": "10", "option_hand_size": "9"},
        "players",
        "The deck has too few cards for 10 players with 9 cards each: at least 20 must be left.",
    ),
    ({"players": "7"}, "players", "A table with these rules has 2 to 6 players."),
    ({"players": "2", "bots": "2"}, "bots", "Choose 0 to 1 bots for 2 players: one seat is yours."),
]


@pytest.mark.long
def test_no_conflict_names_an_option_as_the_api_does(as_alice: Client) -> None:
    names = {spec.name for spec in rules.OPTIONS if "_" in spec.name}
    for change, field, _ in CONFLICTS:
        errors = as_alice.post("/tables/new/", CHOICES | change).context["form"].errors
        assert not names & set(re.findall(r"\w+", errors[field][0]))


@pytest.mark.long
@pytest.mark.parametrize(("change", "field", "sentence"), CONFLICTS, ids=[field for _, field, _ in CONFLICTS])
def test_a_conflict_is_one_sentence_at_the_field(
    as_alice: Client, change: dict[str, str], field: str, sentence: str
) -> None:
    answer = as_alice.post("/tables/new/", CHOICES | change)
    assert answer.status_code == 422
    assert answer.context["form"].errors == {field: [sentence]}
    assert not Game.objects.exists()


def test_all_conflicts_are_shown_together(as_alice: Client) -> None:
    chosen = {
        "players": "7",
        "option_bluff": "official",
        "option_first_discard": "official",
        "option_advanced_stacking": "True",
        "option_stacking": "off",
    }
    errors = as_alice.post("/tables/new/", CHOICES | chosen).context["form"].errors
    assert list(errors) == ["option_advanced_stacking", "option_bluff", "option_first_discard", "players"]
    assert [len(said) for said in errors.values()] == [1] * 4


def test_ten_players_play_where_the_deck_is_big_enough(as_alice: Client) -> None:
    as_alice.post("/tables/new/", CHOICES | {"preset": "classic", "players": "10", "option_hand_size": "8"})
    assert Game.objects.get().players == 10


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"option_hand_size": "99"}, "less than or equal to 15"),
        ({"players": "11"}, "not one of the available choices"),
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
    client.post("/tables/new/", CHOICES | {"players": "11"})
    assert not User.objects.exists()
    client.post("/tables/new/", CHOICES)
    assert Game.objects.get().host == User.objects.get(is_guest=True)


def test_a_table_of_one_person_and_bots_starts_at_once(as_alice: Client) -> None:
    as_alice.post("/tables/new/", CHOICES | {"players": "3", "bots": "2"})
    assert Game.objects.get().status == "playing"


def test_the_form_says_how_each_bot_plays(as_alice: Client) -> None:
    page = as_alice.get("/tables/new/").content.decode()
    assert all(f"{bot.label}: {bot.help}" in page for bot in BOTS.values())


@pytest.mark.parametrize(
    ("way", "change", "bots", "public"),
    [
        ("bots", {}, 3, True),
        ("friends", {}, 0, False),
        ("anyone", {}, 0, True),
        ("anyone", {"bots": "2"}, 2, True),
        ("bots", {"public": "0"}, 3, False),
        ("anyone", {"public": "0"}, 0, False),
    ],
)
def test_the_way_to_play_decides_who_gets_the_seats(
    as_alice: Client, way: str, change: dict[str, str], bots: int, public: bool
) -> None:
    left = CHOICES | {"way": way, "players": "4", "bots": "others", "public": ""}
    as_alice.post("/tables/new/", left | change)
    game = Game.objects.get()
    assert Seat.objects.filter(game=game).exclude(bot="").count() == bots
    assert (game.is_public, game.status) == (public, "playing" if bots == 3 else "open")


@pytest.mark.long
@pytest.mark.parametrize("preset", rules.PRESETS)
def test_the_form_offers_lengths_that_suit_each_preset(as_alice: Client, preset: str) -> None:
    lengths = rules.LENGTHS_OF[preset]
    html = as_alice.get(f"/tables/new/?preset={preset}").content.decode()
    hints = re.findall(r'name="target"[^>]*>\s*<span[^>]*>[^<]*<small>([^<]*)', html)
    assert len(hints) == len(lengths)
    for hint, (name, length) in zip(hints, lengths._asdict().items(), strict=True):
        rounds = f"{length.rounds} round{'s' * (length.rounds > 1)}"
        assert hint == f"About {rounds} with four players, to {length.points:,} points."
        as_alice.post("/tables/new/", CHOICES | {"preset": preset, "target": name})
        assert Game.objects.latest("pk").target == length.points
    assert rules.PRESETS[preset].target in {length.points for length in lengths}


@pytest.mark.long
def test_programs_can_send_the_points_to_play_to(as_alice: Client) -> None:
    as_alice.post("/tables/new/", CHOICES | {"target": "200"})
    assert Game.objects.get().target == 200
    refused = as_alice.post("/tables/new/", CHOICES | {"target": "200", "players": "7"})
    assert re.search(r'name="target" value="200"[^>]*checked', refused.content.decode())
    for wrong in ("9999", "-1", "forever", "²"):
        refused = as_alice.post("/tables/new/", CHOICES | {"target": wrong})
        assert (refused.status_code, list(refused.context["form"].errors)) == (422, ["target"])


def test_each_preset_is_a_card_with_two_lines(as_alice: Client) -> None:
    html = unescape(as_alice.get("/tables/new/").content.decode())
    for name, title in rules.PRESET_TITLES.items():
        summary = rules.PRESET_SUMMARIES[name]
        assert len(summary) <= 90
        words = rf"<b[^>]*>{title}</b><small>{summary}</small>"
        assert re.search(rf'value="{name}"(?:(?!</label>).)*{words}', html, re.DOTALL)


@pytest.mark.long
def test_a_link_chooses_the_way_to_play(as_alice: Client) -> None:
    for way, title in (("bots", "Bots"), ("friends", "Friends"), ("anyone", "Anyone")):
        page = as_alice.get(f"/tables/new/?way={way}")
        assert re.findall(r'name="way" value="(\w+)"[^>]*checked', page.content.decode()) == [way]
        assert title in text_of(page)
    unknown = as_alice.get("/tables/new/?way=nobody").content.decode()
    assert re.findall(r'name="way" value="(\w+)"[^>]*checked', unknown) == ["bots"]


def test_the_front_page_leads_to_each_way_to_play(client: Client, as_alice: Client) -> None:
    for page in (client.get("/").content.decode(), as_alice.get("/").content.decode()):
        assert 'href="/tables/new/?way=friends"' in page
        assert 'href="/tables/new/?way=anyone"' in page


@pytest.mark.long
def test_only_the_part_of_the_form_with_an_error_is_unfolded(as_alice: Client) -> None:
    def unfolded(change: dict[str, str]) -> list[str]:
        html = as_alice.post("/tables/new/", CHOICES | change).content.decode()
        return re.findall(r"<details[^>]* open><summary>([^<\n]*)", html)

    assert unfolded({"players": "7"}) == ["Seats"]
    assert unfolded({"option_mercy_limit": "5"}) == ["Rules", "Elimination"]
    assert unfolded({"pace": "custom"}) == ["Time", "Custom clock"]


def summary(html: str, title: str) -> str:
    """Return what a folded part of the form says of its choices."""
    found = re.search(rf"<summary>{title}\s*<span[^>]*>([^<]*)", html)
    assert found is not None
    return unescape(found[1])


@pytest.mark.parametrize(
    ("change", "seats"),
    [
        ({"way": "bots", "bots": "others"}, "3 players, bots: careful"),
        ({"way": "friends", "bots": "others"}, "3 players"),
        ({"way": "anyone", "bots": "others"}, "3 players"),
        ({"way": "friends", "bots": "1"}, "3 players, 1 bot, bots: careful"),
        ({"way": "bots", "bots": "0"}, "3 players, no bots"),
    ],
)
def test_a_form_speaks_of_the_kind_of_bots_only_if_there_are_some(
    as_alice: Client, change: dict[str, str], seats: str
) -> None:
    refused = as_alice.post("/tables/new/", CHOICES | {"public": "", "option_mercy_limit": "1"} | change)
    assert summary(refused.content.decode(), "Seats") == seats


def test_a_link_for_friends_speaks_of_no_bots(as_alice: Client) -> None:
    assert summary(as_alice.get("/tables/new/?way=friends").content.decode(), "Seats") == "4 players"


def test_without_scripts_the_form_offers_all_numbers_and_says_which_fit(as_alice: Client) -> None:
    page = as_alice.get("/tables/new/").content.decode()
    assert "disabled" not in page[page.index('class="form newtable"') :]
    refused = as_alice.post("/tables/new/", CHOICES | {"players": "8", "bots": "5"})
    assert "A table with these rules has 2 to 6 players." in text_of(refused)
    assert re.findall(r'name="(players|bots)" value="(\d+)"[^>]* checked', refused.content.decode()) == [
        ("players", "8"), ("bots", "5")
    ]  # fmt: skip
