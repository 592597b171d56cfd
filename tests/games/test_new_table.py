"""The form for a new table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from django.test import Client

from accounts.models import User
from games import queries, rules
from games.bots import BOTS
from games.models import Game, Seat
from tests.support.pages import CHOICES, Page, words_of

pytestmark = pytest.mark.django_db


def form(browser: Client, query: str = "") -> Page:
    return Page(browser.get(f"/tables/new/{query}"))


def sent(browser: Client, change: Mapping[str, str], *, follow: bool = False) -> Page:
    """Send the form with these fields changed, and return the answer."""
    return Page(browser.post("/tables/new/", {**CHOICES, **change}, follow=follow))


def made(browser: Client, **change: str) -> Game:
    """Make a table with these fields changed."""
    assert sent(browser, change).status == 303
    return Game.objects.latest("pk")


def options_of(game: Game) -> rules.Options:
    return queries.options_of(game)


def bots_at(game: Game) -> list[str]:
    return list(Seat.objects.filter(game=game).exclude(bot="").order_by("index").values_list("bot", flat=True))


def summary(page: Page, title: str) -> str:
    """Return what a folded part of the form says of its choices."""
    (found,) = [one for one in map(words_of, page.all("summary")) if one.startswith(title)]
    return found.removeprefix(title).strip()


def test_the_form_offers_every_option_preset_and_kind_of_bot(client: Client) -> None:
    page = form(client)
    names = {field.get("name") for field in page.all() if field.get("name")}
    assert [spec.name for spec in rules.OPTIONS if f"option_{spec.name}" not in names] == ["target"]
    assert "target" in names
    headings = dict.fromkeys(spec.group for spec in rules.OPTIONS)
    summaries = [words_of(one) for one in page.all("summary")]
    assert [sum(one.startswith(heading) for one in summaries) for heading in headings] == [1] * 10
    assert page.values("preset") == list(rules.PRESETS)
    for name, title in rules.PRESET_TITLES.items():
        assert len(rules.PRESET_SUMMARIES[name]) <= 90
        assert f"{title} {rules.PRESET_SUMMARIES[name]}" in page.text
        assert rules.PRESET_DESCRIPTIONS[name] in page.text
    assert all(f"{bot.label} {bot.help}" in page.text for bot in BOTS.values())


@pytest.mark.parametrize("players", [2, 6])
def test_an_unchanged_form_seats_bots_everywhere_and_starts(as_alice: Client, players: int) -> None:
    page = form(as_alice)
    names = {field.get("name", "") for field in page.all("input")}
    chosen = {name: value for name in names for value in page.chosen(name)}
    assert chosen["bots"] == "others"
    as_alice.post("/tables/new/", {**chosen, "bot_pause": "1", "players": str(players)})
    game = Game.objects.get()
    assert (game.status, len(bots_at(game))) == ("playing", players - 1)


def test_a_new_table_has_the_options_of_the_form(as_alice: Client, alice: User) -> None:
    table = {"players": "5", "bots": "2", "bot": "sharp", "bot_pause": "0.5", "target": "500", "pace": "slow"}
    options = {"option_mercy_limit": "30", "option_voluntary_draw": "False", "option_last_draw_card": "win_now"}
    game = made(as_alice, **table, **options, public="0")
    assert (game.players, game.target, game.pace, game.is_public, game.bot_pause) == (5, 500, "slow", False, 0.5)
    assert game.options == {"mercy_limit": 30, "voluntary_draw": False, "last_draw_card": "win_now"}
    assert (bots_at(game), game.host) == (["sharp", "sharp"], alice)


def test_unchanged_options_have_the_presets_values(as_alice: Client) -> None:
    for preset, offered in rules.PRESETS.items():
        game = made(as_alice, preset=preset)
        assert (game.preset, options_of(game)) == (preset, replace(offered, target=0))


def test_options_are_explained_in_sentences(as_alice: Client) -> None:
    text = form(as_alice).text
    assert "the next player draws If your last card is a draw card, the next player draws without an answer" in text
    assert "Default: on with No Mercy; else off. Rule TURN-4 ." in text
    assert "7: Each player is dealt 7 cards. Default: 7. Rule SETUP-2 ." in text
    assert "Default: any with No Mercy; the same family with Playroom No Mercy; the same card with House Party;" in text


@pytest.mark.long
def test_a_link_chooses_the_rules_and_the_way_to_play(as_alice: Client) -> None:
    for query, preset, way in (
        ("", "no-mercy", "bots"),
        ("?preset=golf", "no-mercy", "bots"),
        ("?preset=flip", "flip", "bots"),
        ("?way=friends", "no-mercy", "friends"),
        ("?way=anyone", "no-mercy", "anyone"),
        ("?way=nobody", "no-mercy", "bots"),
    ):
        page = form(as_alice, query)
        assert (page.chosen("preset"), page.chosen("way")) == ([preset], [way]), query


def test_the_front_page_leads_to_each_way_to_play(client: Client, as_alice: Client) -> None:
    for browser in (client, as_alice):
        page = Page(browser.get("/"))
        assert all(page.links_to(f"/tables/new/?way={way}") for way in ("friends", "anyone"))


@pytest.mark.long
def test_how_to_play_leads_to_the_rules_of_the_chosen_preset(as_alice: Client) -> None:
    for page, address in (
        (form(as_alice), "/rules/#how-to-play"),
        (form(as_alice, "?preset=classic"), "/rules/?preset=classic#how-to-play"),
        (sent(as_alice, {"preset": "flip", "players": "11"}), "/rules/?preset=flip#how-to-play"),
        (sent(as_alice, {"preset": "golf"}), "/rules/#how-to-play"),
    ):
        assert page.one("a", id="how-to").get("href") == address


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
    assert options_of(made(as_alice, preset="house-party", **change)).buzzers == value


@pytest.mark.parametrize(
    ("change", "stored", "says"),
    [
        (
            {"option_advanced_stacking": "True"},
            {"advanced_stacking": True, "stacking": "same", "last_draw_card": "contest"},
            ["Also switched on: Stacking. A draw card can be stacked on the same draw card, in any colour.",
             "Also changed: A draw card as the last card. If your last card is a draw card, the others may"],
        ),
        (
            {"option_deck": "nomercy168", "option_mercy_limit": "25"},
            {"deck": "nomercy168", "bluff": "off", "first_discard": "number"},
            ["Also switched off: Challenging a bluff. A wild draw card cannot be challenged."],
        ),
    ],
    ids=["what an option needs", "what a deck does not have"],
)  # fmt: skip
def test_options_change_others_and_the_table_says_so(
    as_alice: Client, change: dict[str, str], stored: dict[str, object], says: list[str]
) -> None:
    text = sent(as_alice, {"preset": "classic", **change}, follow=True).text
    options = options_of(Game.objects.get())
    assert {name: getattr(options, name) for name in stored} == stored
    assert [sentence for sentence in says if sentence not in text] == []


@pytest.mark.long
def test_the_form_says_what_else_its_options_change(as_alice: Client) -> None:
    stacking, last = "Stacking: the same card", "A draw card as the last card: the others may answer"
    passing_on = {"option_advanced_stacking": "True"}
    for change, said in (
        (passing_on, f"Pass a debt on: on, also {stacking}, {last}"),
        (passing_on | {"option_stacking": "any"}, f"Stacking: any, Pass a debt on: on, also {last}"),
        ({"option_straights": "True"}, "Straights: on"),
    ):
        assert summary(sent(as_alice, {"preset": "classic", "players": "11", **change}), "Rules") == said


@pytest.mark.long
def test_a_default_is_that_of_the_chosen_preset(as_alice: Client) -> None:
    for preset, option, said in (
        ("no-mercy", "stacking", "any"),
        ("classic", "stacking", "off"),
        ("house-party", "buzzers", "lottery; at Live tables race"),
    ):
        assert form(as_alice, f"?preset={preset}").labels(f"option_{option}")[""] == f"Default {said}"
    placeholders = [form(as_alice, query).has(placeholder="Default: 25") for query in ("", "?preset=classic")]
    assert placeholders == [True, False]


def test_a_no_mercy_deck_without_a_limit_is_warned_about(as_alice: Client) -> None:
    sentence = "With a No Mercy deck and no mercy limit, hands may grow until the piles run short."
    assert sentence in form(as_alice).text
    address = made(as_alice, option_mercy_limit="0").get_absolute_url()
    counts = [Page(as_alice.get(address)).text.count(sentence) for _ in range(2)]
    assert counts == [2, 1]  # first as a message, too


CONFLICTS = [
    ({"option_bluff": "official"}, "option_bluff",
     "The option “Challenging a bluff” must be “off” with a No Mercy deck."),
    ({"preset": "classic", "option_advanced_stacking": "True", "option_stacking": "off"}, "option_advanced_stacking",
     ("The option “Pass a debt on” needs “Stacking” other than “off”, and “A draw card as the last card” “the others"
      " may answer”.")),
    ({"option_mercy_limit": "5"}, "option_mercy_limit", "The option “Mercy limit” must be 0 or 10 to 50."),
    ({"option_hand_size": "12", "option_mercy_limit": "10"}, "option_mercy_limit",
     "The option “Mercy limit” must exceed “Cards dealt to each”."),
    ({"preset": "flip", "option_roulette_color": "victim"}, "option_roulette_color",
     ("The option “Who chooses the roulette’s colour” must be “the player of the card” with the deck “Flip, 112 cards"
      " with two sides”.")),
    ({"preset": "house-party", "option_buzzers": "race"}, "option_buzzers",
     "A race for the buzzer needs the pace Live. Choose “lottery” for the buzzers instead."),
    ({"preset": "classic", "players": "10", "option_hand_size": "9"}, "players",
     "The deck has too few cards for 10 players with 9 cards each: at least 20 must be left."),
    ({"players": "7"}, "players", "A table with these rules has 2 to 6 players."),
    ({"players": "2", "bots": "2"}, "bots", "Choose 0 to 1 bots for 2 players: one seat is yours."),
]  # fmt: skip
"""Changes of the form that do not go together, the field at which that is said, and the sentence."""


@pytest.mark.long
@pytest.mark.parametrize(("change", "field", "sentence"), CONFLICTS, ids=[field for _, field, _ in CONFLICTS])
def test_a_conflict_is_one_sentence_at_the_field_and_names_no_option_as_the_api_does(
    as_alice: Client, change: dict[str, str], field: str, sentence: str
) -> None:
    answer = sent(as_alice, change)
    assert (answer.status, answer.response.context["form"].errors) == (422, {field: [sentence]})
    assert not {spec.name for spec in rules.OPTIONS if "_" in spec.name} & set(re.findall(r"\w+", sentence))
    assert not Game.objects.exists()


def test_all_conflicts_are_shown_together(as_alice: Client) -> None:
    chosen = {
        "players": "7", "option_bluff": "official", "option_first_discard": "official",
        "option_advanced_stacking": "True", "option_stacking": "off",
    }  # fmt: skip
    errors = sent(as_alice, chosen).response.context["form"].errors
    assert {name: len(said) for name, said in errors.items()} == {
        "option_advanced_stacking": 1, "option_bluff": 1, "option_first_discard": 1, "players": 1,
    }  # fmt: skip


def test_ten_players_play_where_the_deck_is_big_enough(as_alice: Client) -> None:
    assert made(as_alice, preset="classic", players="10", option_hand_size="8").players == 10


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
    answer = sent(as_alice, change)
    assert (answer.status, sentence in answer.text, Game.objects.count()) == (422, True, 0)


def test_a_visitor_becomes_a_guest_only_with_a_valid_form(client: Client) -> None:
    sent(client, {"players": "11"})
    assert not User.objects.exists()
    assert made(client).host == User.objects.get(is_guest=True)


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
    game = made(as_alice, **{"way": way, "players": "4", "bots": "others", "public": "", **change})
    assert (len(bots_at(game)), game.is_public, game.status) == (bots, public, "playing" if bots == 3 else "open")


@pytest.mark.long
@pytest.mark.parametrize("preset", rules.PRESETS)
def test_the_form_offers_lengths_that_suit_each_preset(as_alice: Client, preset: str) -> None:
    lengths = rules.LENGTHS_OF[preset]
    labels = form(as_alice, f"?preset={preset}").labels("target")
    assert set(labels) == {"0", *lengths._asdict()}
    for name, length in lengths._asdict().items():
        rounds = f"{length.rounds} round{'s' * (length.rounds > 1)}"
        assert labels[name].endswith(f"About {rounds} with four players, to {length.points:,} points.")
        assert made(as_alice, preset=preset, target=name).target == length.points
    assert rules.PRESETS[preset].target in {length.points for length in lengths}


@pytest.mark.long
def test_programs_can_send_the_points_to_play_to(as_alice: Client) -> None:
    assert made(as_alice, target="200").target == 200
    assert sent(as_alice, {"target": "200", "players": "7"}).chosen("target") == ["200"]
    for wrong in ("9999", "-1", "forever", "²"):
        refused = sent(as_alice, {"target": wrong})
        assert (refused.status, list(refused.response.context["form"].errors)) == (422, ["target"])


@pytest.mark.long
def test_only_the_part_of_the_form_with_an_error_is_unfolded(as_alice: Client) -> None:
    for change, unfolded in (
        ({"players": "7"}, ["Seats"]),
        ({"option_mercy_limit": "5"}, ["Rules", "Elimination"]),
        ({"pace": "custom"}, ["Time", "Custom clock"]),
    ):
        parts = [part.find("summary") for part in sent(as_alice, change).all("details", open="")]
        assert [part is not None and (part.text or "").strip() for part in parts] == unfolded


@pytest.mark.parametrize(
    ("change", "seats"),
    [
        ({"way": "bots", "bots": "others"}, "3 players, bots: Careful"),
        ({"way": "friends", "bots": "others"}, "3 players"),
        ({"way": "anyone", "bots": "others"}, "3 players"),
        ({"way": "friends", "bots": "1"}, "3 players, 1 bot, bots: Careful"),
        ({"way": "bots", "bots": "0"}, "3 players, no bots"),
    ],
)
def test_a_form_speaks_of_the_kind_of_bots_only_if_there_are_some(
    as_alice: Client, change: dict[str, str], seats: str
) -> None:
    assert summary(sent(as_alice, {"public": "", "option_mercy_limit": "1", **change}), "Seats") == seats
    assert summary(form(as_alice, "?way=friends"), "Seats") == "4 players"


def test_without_scripts_the_form_offers_all_numbers_and_says_which_fit(as_alice: Client) -> None:
    assert not any("disabled" in field.attrib for field in form(as_alice).one("form", class_="form newtable").iter())
    refused = sent(as_alice, {"players": "8", "bots": "5"})
    assert "A table with these rules has 2 to 6 players." in refused.text
    assert (refused.chosen("players"), refused.chosen("bots")) == (["8"], ["5"])
