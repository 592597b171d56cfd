"""The rules and the About page, which are the same for all visitors."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from games import rules
from tests.support.pages import text_of

pytestmark = pytest.mark.django_db


def test_the_rules_page_has_every_rule_under_its_number(client: Client) -> None:
    html = client.get("/rules/").content.decode()
    assert [rule.id for rule in rules.RULEBOOK if f'id="{rule.id}"' not in html] == []
    assert [spec.name for spec in rules.OPTIONS if f'id="option-{spec.name}"' not in html] == []


def test_the_rules_page_starts_with_how_to_play(client: Client) -> None:
    html = client.get("/rules/").content.decode()
    start = html[html.index('id="how-to-play"') : html.index('id="TERM-1"')]
    linked = re.findall(r'href="#([A-Z0-9]+-[0-9]+)"', start)
    assert len(linked) >= 10
    assert [rule for rule in linked if f'id="{rule}"' not in html] == []


def test_the_rules_page_is_written_for_players(client: Client) -> None:
    text = text_of(client.get("/rules/"))
    made_for_makers = r"Source:|console|G's|S and G|\bcolors?\b"
    assert re.findall(made_for_makers, text) == []


def test_an_option_named_by_a_rule_is_a_link_to_it(client: Client) -> None:
    assert '<a href="#option-roulette_color"><code>' in client.get("/rules/").content.decode()


def test_every_rule_named_by_a_refusal_has_an_anchor(client: Client) -> None:
    html = client.get("/rules/").content.decode()
    assert [rule for rule in rules.REFUSALS.values() if rule and f'id="{rule}"' not in html] == []


def test_the_about_page_says_that_this_is_independent(client: Client) -> None:
    assert "not affiliated with or endorsed by Mattel" in text_of(client.get("/about/"))


@pytest.mark.parametrize("url", ["/rules/", "/about/"])
def test_static_pages_run_no_query_for_a_visitor(client: Client, url: str, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert client.get(url).status_code == 200
