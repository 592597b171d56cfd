"""The pages of the rules, and the About page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from games import queries, rules
from games.models import Game
from games.render.rulebook import table_rules_url
from tests.support.pages import Page, open_table, text_of, words_of

pytestmark = pytest.mark.django_db


PAGES = {"no-mercy": "/rules/"} | {
    name: f"/rules/?preset={name}" for name in (*rules.PRESETS, "all") if name != "no-mercy"
}


def page_of(browser: Client, path: str) -> str:
    html: str = browser.get(path).content.decode()
    return html


def rules_on(html: str) -> list[str]:
    """Return the numbers of the rules on a page, in order."""
    return re.findall(r'class="rule" id="([A-Z0-9]+-[0-9]+)"', html)


def applying(game: Game) -> list[str]:
    return [rule.id for rule in rules.rules_that_apply(queries.options_of(game), game.players)]


def dead_links(client: Client, html: str) -> list[str]:
    """Return the links of a page to rules and options that lead nowhere."""
    everything = page_of(client, PAGES["all"])
    return [
        page + name
        for page, name in re.findall(r'href="(/rules/[^"#]*|)#([A-Z0-9]+-[0-9]+|option-\w+)"', html)
        if f'id="{name}"' not in (everything if page == PAGES["all"] else html)
    ]


@pytest.mark.parametrize("preset", rules.PRESETS)
def test_the_page_of_a_preset_has_the_rules_that_apply_and_starts_with_how_to_play(client: Client, preset: str) -> None:
    html, players = page_of(client, PAGES[preset]), rules.MAX_PLAYERS_OF[preset]
    assert rules_on(html) == [rule.id for rule in rules.rules_that_apply(rules.PRESETS[preset], players)]
    assert [spec.name for spec in rules.OPTIONS if f'id="option-{spec.name}"' not in html] == []
    assert f"<h1>The {rules.PRESET_TITLES[preset]} rules</h1>" in html
    assert dead_links(client, html) == []
    start = html[html.index('id="how-to-play"') : html.index('id="TERM-1"')]
    linked = re.findall(r'href="#([A-Z0-9]+-[0-9]+)"', start)
    assert len(linked) >= 9
    assert [rule for rule in linked if f'id="{rule}"' not in html] == []
    assert "/rules/?preset=all#" not in start


def test_one_page_has_every_rule(client: Client) -> None:
    html = page_of(client, PAGES["all"])
    assert rules_on(html) == [rule.id for rule in rules.RULEBOOK]
    assert [rule for rule in rules.REFUSALS.values() if rule and rule not in rules_on(html)] == []
    assert dead_links(client, html) == []


VALUES_OF_THE_API = [value for spec in rules.OPTIONS for value in spec.values if spec.label(value) != value]


@pytest.mark.long
def test_options_are_shown_in_words(as_alice: Client, alice: User) -> None:
    game = open_table(alice, options={"last_draw_card": "draw_then_win", "scoring": "penalty"})
    for path in (*PAGES.values(), f"/rules/?table={game.code}"):
        html = as_alice.get(path).content.decode()
        options = re.sub(r"<[^>]+>", " ", html[html.index('<section id="options"') : html.index('id="sources"')])
        assert [value for value in VALUES_OF_THE_API if re.search(rf"[.] +{value}:", options)] == []
        assert "The player who must draw: The player who must draw chooses the colour of a Color Roulette." in options
    text = text_of(as_alice.get(game.get_absolute_url()))
    assert "If your last card is a draw card, the next player draws without an answer, and you win." in text
    assert not re.search(r"draw_then_win|penalty", text)


@pytest.mark.long
def test_the_pages_of_rules_link_to_each_other_and_are_written_for_players(client: Client) -> None:
    for path in PAGES.values():
        page = Page(client.get(path))
        assert [other for other in PAGES.values() if not page.links_to(other)] == []
        current = [link.get("href") for link in page.all("a", aria_current="page") if words_of(link) != "Rules"]
        assert current == [path]
        assert re.findall(r"Source:|console|G's|S and G|\bcolors?\b", page.text) == []


def test_a_rule_says_what_a_preset_makes_of_it_and_links_to_its_options(client: Client) -> None:
    html = page_of(client, "/rules/?preset=house-party")
    said = html[html.index('id="TURN-4"') : html.index('id="TURN-5"')]
    assert "Here: You draw one card. You may keep a playable card that you draw, and pass." in said
    assert "Here: Eight buzzers are added to the deck: chance decides" in html
    assert "Here: " not in page_of(client, "/rules/").split('id="options"')[0].split('id="OPT-1"')[0]
    assert '<a href="#option-roulette_color"><code>' in page_of(client, "/rules/")


def test_unknown_rules_are_not_found(client: Client) -> None:
    for query in ("preset=golf", "preset=", "table=", "table=NONE1", "table=NONE1&preset=flip", "table=%F0%9F%98%80"):
        assert client.get(f"/rules/?{query}").status_code == 404, query
    assert client.get("/join/no-such-key/rules/").status_code == 404


def test_the_rules_of_a_table_are_those_of_its_options(as_alice: Client, alice: User) -> None:
    game = open_table(alice, preset="classic", options={"straights": True, "callout_penalty": 5}, target=500)
    page = Page(as_alice.get(f"/rules/?table={game.code}"))
    assert rules_on(page.html) == applying(game)
    assert dead_links(as_alice, page.html) == []
    for said in (
        "The rules of your table",
        "Classic rules. A match to 500 points. Different from the Classic rules: You may play a straight",
        "If you are caught without having called UNO, you draw 5 cards.",
        "before you call it, you draw 5 cards.",
    ):
        assert said in page.text
    assert Page(as_alice.get(game.get_absolute_url())).links_to(f"/rules/?table={game.code}#how-to-play")


def test_a_table_without_changes_has_the_rules_of_its_preset(as_alice: Client, alice: User) -> None:
    for preset in rules.PRESETS:
        game = open_table(alice, preset=preset, players=rules.MAX_PLAYERS_OF[preset])
        assert Page(as_alice.get(game.get_absolute_url())).links_to(f"{PAGES[preset]}#how-to-play")


def test_a_table_too_small_for_a_rule_of_its_preset_does_not_show_it(as_alice: Client, alice: User) -> None:
    """Six hands below the mercy limit do not hold all cards, and seven do (STUCK-1)."""
    assert "STUCK-1" in rules_on(page_of(as_alice, PAGES["playroom-no-mercy"]))
    for players, shown in ((6, False), (7, True)):
        game = open_table(alice, preset="playroom-no-mercy", players=players)
        link = re.search(r'href="([^"]*)#how-to-play"', page_of(as_alice, game.get_absolute_url()))
        assert link is not None
        html = page_of(as_alice, link[1])
        assert ("STUCK-1" in rules_on(html)) == shown
        assert dead_links(as_alice, html) == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("preset", "changes"), [*((preset, {}) for preset in rules.PRESETS), ("no-mercy", {"callout_penalty": 5})]
)
def test_a_rule_that_a_refusal_names_has_a_page(
    as_alice: Client, alice: User, preset: str, changes: dict[str, object]
) -> None:
    game = open_table(alice, preset=preset, players=rules.MAX_PLAYERS_OF[preset], options=changes)
    view = queries.view_of(queries.load(game), alice)
    named = {rule for rule in rules.REFUSALS.values() if rule}
    for key, own_page in (("", "?table="), (game.invite_key, f"/join/{game.invite_key}/rules/")):
        urls = {rule: table_rules_url(view, rule, key=key) for rule in named}
        pages = {url.split("#")[0] for url in urls.values()}
        shown = {page: as_alice.get(page).content.decode() for page in pages}
        assert [url for rule, url in urls.items() if f'id="{rule}"' not in shown[url.split("#")[0]]] == []
        assert any(own_page in page for page in pages) == bool(changes)


def test_only_who_may_see_a_table_sees_its_rules(client: Client, as_alice: Client, as_bob: Client, alice: User) -> None:
    games = [open_table(alice, preset="flip", public=public).code for public in (False, True)]
    secret, public = (f"/rules/?table={code}" for code in games)
    assert [browser.get(secret).status_code for browser in (client, as_alice, as_bob)] == [404, 200, 404]
    assert client.get(public).status_code == 200


@pytest.mark.long
def test_who_has_the_link_of_a_table_reads_its_own_rules(client: Client, as_bob: Client, alice: User) -> None:
    secret = open_table(alice, preset="house-party", public=False, options={"buzzers": "race"}, pace="live")
    path = f"/join/{secret.invite_key}/rules/"
    assert Page(client.get(f"/join/{secret.invite_key}/")).links_to(f"{path}#how-to-play")
    for browser in (client, as_bob):
        page = Page(browser.get(path))
        assert "The rules of alice’s table" in page.text
        assert "everybody presses, and the slowest draws two cards" in page.text
        assert rules_on(page.html) == applying(secret)
        assert dead_links(client, page.html) == []
    assert client.get(f"/games/{secret.code}/").status_code == 404


def test_static_pages_run_no_query_for_a_visitor(client: Client, django_assert_num_queries: Any) -> None:
    for url in ("/rules/", "/rules/?preset=flip", "/rules/?preset=all", "/about/", "/notation/", "/privacy/"):
        with django_assert_num_queries(0):
            assert client.get(url).status_code == 200
