"""The pages of the rules, and the About page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from games import queries, rules
from games.render.rulebook import table_rules_url
from tests.support.pages import open_table, text_of

pytestmark = pytest.mark.django_db


PAGES = {"no-mercy": "/rules/"} | {
    name: f"/rules/?preset={name}" for name in (*rules.PRESETS, "all") if name != "no-mercy"
}


def rules_on(html: str) -> list[str]:
    """Return the numbers of the rules on a page, in order."""
    return re.findall(r'class="rule" id="([A-Z0-9]+-[0-9]+)"', html)


def dead_links(client: Client, html: str) -> list[str]:
    """Return the links of a page to rules and options that lead nowhere."""
    everything = client.get(PAGES["all"]).content.decode()
    return [
        page + name
        for page, name in re.findall(r'href="(/rules/[^"#]*|)#([A-Z0-9]+-[0-9]+|option-\w+)"', html)
        if f'id="{name}"' not in (everything if page == PAGES["all"] else html)
    ]


@pytest.mark.parametrize("preset", rules.PRESETS)
def test_the_page_of_a_preset_has_the_rules_that_apply(client: Client, preset: str) -> None:
    html, players = client.get(PAGES[preset]).content.decode(), rules.MAX_PLAYERS_OF[preset]
    assert rules_on(html) == [rule.id for rule in rules.rules_that_apply(rules.PRESETS[preset], players)]
    assert [spec.name for spec in rules.OPTIONS if f'id="option-{spec.name}"' not in html] == []
    assert f"<h1>The {rules.PRESET_TITLES[preset]} rules</h1>" in html
    assert dead_links(client, html) == []


def test_one_page_has_every_rule(client: Client) -> None:
    html = client.get(PAGES["all"]).content.decode()
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
def test_the_pages_of_rules_link_to_each_other(client: Client) -> None:
    for path in PAGES.values():
        html = client.get(path).content.decode()
        assert [other for other in PAGES.values() if f'href="{other}"' not in html] == []
        assert re.findall(r'href="(/rules/[^"]*)"\s+aria-current="page">(?!Rules)', html) == [path]


def test_a_rule_says_what_a_preset_makes_of_it(client: Client) -> None:
    html = client.get("/rules/?preset=house-party").content.decode()
    said = html[html.index('id="TURN-4"') : html.index('id="TURN-5"')]
    assert "Here: You draw one card. You may keep a playable card that you draw, and pass." in said
    assert "Here: Eight buzzers are added to the deck: chance decides" in html
    assert "Here: " not in client.get("/rules/").content.decode().split('id="options"')[0].split('id="OPT-1"')[0]


UNKNOWN = ["preset=golf", "preset=", "table=", "table=NONE1", "table=NONE1&preset=flip", "table=%F0%9F%98%80"]


@pytest.mark.parametrize("query", UNKNOWN)
def test_unknown_rules_are_not_found(client: Client, query: str) -> None:
    assert client.get(f"/rules/?{query}").status_code == 404


@pytest.mark.parametrize("preset", rules.PRESETS)
def test_the_rules_of_a_preset_start_with_how_to_play(client: Client, preset: str) -> None:
    html = client.get(PAGES[preset]).content.decode()
    start = html[html.index('id="how-to-play"') : html.index('id="TERM-1"')]
    linked = re.findall(r'href="#([A-Z0-9]+-[0-9]+)"', start)
    assert len(linked) >= 9
    assert [rule for rule in linked if f'id="{rule}"' not in html] == []
    assert "/rules/?preset=all#" not in start


def test_the_rules_of_a_table_are_those_of_its_options(as_alice: Client, alice: User) -> None:
    game = open_table(alice, preset="classic", options={"straights": True, "callout_penalty": 5}, target=500)
    html = as_alice.get(f"/rules/?table={game.code}").content.decode()
    assert rules_on(html) == [rule.id for rule in rules.rules_that_apply(queries.options_of(game), game.players)]
    assert dead_links(as_alice, html) == []
    text = text_of(as_alice.get(f"/rules/?table={game.code}"))
    assert "The rules of your table" in text
    assert "Classic rules, a match to 500 points. Different from the Classic rules: You may play a straight" in text
    assert "If you are caught without having called UNO, you draw 5 cards." in text
    assert "before you call it, you draw five." in text
    lobby = as_alice.get(game.get_absolute_url()).content.decode()
    assert f'href="/rules/?table={game.code}#how-to-play"' in lobby


def test_a_table_without_changes_has_the_rules_of_its_preset(as_alice: Client, alice: User) -> None:
    for preset, path in PAGES.items():
        if preset != "all":
            game = open_table(alice, preset=preset, players=rules.MAX_PLAYERS_OF[preset])
            assert f'href="{path}#how-to-play"' in as_alice.get(game.get_absolute_url()).content.decode()


def test_a_table_too_small_for_a_rule_of_its_preset_does_not_show_it(as_alice: Client, alice: User) -> None:
    """Six hands below the mercy limit do not hold all cards, and seven do (STUCK-1)."""
    assert 'id="STUCK-1"' in as_alice.get(PAGES["playroom-no-mercy"]).content.decode()
    for players, shown in ((6, False), (7, True)):
        game = open_table(alice, preset="playroom-no-mercy", players=players)
        link = re.search(r'href="([^"]*)#how-to-play"', as_alice.get(game.get_absolute_url()).content.decode())
        assert link is not None
        html = as_alice.get(link[1]).content.decode()
        assert ('id="STUCK-1"' in html) == shown
        assert dead_links(as_alice, html) == []


@pytest.mark.long
@pytest.mark.parametrize("preset", rules.PRESETS)
@pytest.mark.parametrize("changes", [{}, {"callout_penalty": 5}])
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
    secret = open_table(alice, preset="flip", public=False)
    path = f"/rules/?table={secret.code}"
    assert [browser.get(path).status_code for browser in (client, as_alice, as_bob)] == [404, 200, 404]
    open_to_all = open_table(alice, preset="flip")
    assert client.get(f"/rules/?table={open_to_all.code}").status_code == 200


@pytest.mark.long
def test_who_has_the_link_of_a_table_reads_its_own_rules(client: Client, as_bob: Client, alice: User) -> None:
    secret = open_table(alice, preset="house-party", public=False, options={"buzzers": "race"}, pace="live")
    path = f"/join/{secret.invite_key}/rules/"
    assert f'href="{path}#how-to-play"' in client.get(f"/join/{secret.invite_key}/").content.decode()
    for browser in (client, as_bob):
        text = text_of(browser.get(path))
        assert "The rules of alice’s table" in text
        assert "everybody presses, and the slowest draws two cards" in text
    html = client.get(path).content.decode()
    assert rules_on(html) == [rule.id for rule in rules.rules_that_apply(queries.options_of(secret), secret.players)]
    assert dead_links(client, html) == []
    assert client.get(f"/games/{secret.code}/").status_code == 404
    assert client.get("/join/no-such-key/rules/").status_code == 404


@pytest.mark.parametrize("path", PAGES.values())
def test_the_rules_pages_are_written_for_players(client: Client, path: str) -> None:
    made_for_makers = r"Source:|console|G's|S and G|\bcolors?\b"
    assert re.findall(made_for_makers, text_of(client.get(path))) == []


def test_an_option_named_by_a_rule_is_a_link_to_it(client: Client) -> None:
    assert '<a href="#option-roulette_color"><code>' in client.get("/rules/").content.decode()


def test_the_about_page_says_that_this_is_independent(client: Client) -> None:
    assert "not affiliated with or endorsed by Mattel" in text_of(client.get("/about/"))


@pytest.mark.parametrize(
    "url", ["/rules/", "/rules/?preset=flip", "/rules/?preset=all", "/about/", "/notation/", "/privacy/"]
)
def test_static_pages_run_no_query_for_a_visitor(client: Client, url: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert client.get(url).status_code == 200
