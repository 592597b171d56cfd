"""The name of the site, the texts of its operator, and `security.txt`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone

from accounts import names
from accounts.models import User
from games.render.site_texts import Block, blocks_of
from tests.support.pages import Page, text_of

pytestmark = pytest.mark.django_db


def test_a_text_has_paragraphs_and_headings() -> None:
    text = "# Imprint\nCards Ltd\n1 High Street\n\n\n  \n# Phone\n\n+44 20 7946 0000  "

    assert blocks_of(text) == [
        Block("Imprint", is_heading=True),
        Block("Cards Ltd\n1 High Street", is_heading=False),
        Block("Phone", is_heading=True),
        Block("+44 20 7946 0000", is_heading=False),
    ]


def test_the_about_page_shows_the_texts_of_the_operator(client: Client, settings: Any) -> None:
    before = Page(client.get("/about/"))
    assert (before.has(id="contact"), before.links_to("/about/#imprint")) == (False, [])
    assert "not affiliated with or endorsed by Mattel" in before.text
    settings.CONTACT_TEXT = "Write to us@example.org."
    settings.IMPRINT_TEXT = "# Who\nCards Ltd <b>&</b> Sons\nHigh Street"
    page = Page(client.get("/about/"))
    assert (page.part("contact"), "Cards Ltd <b>&</b> Sons High Street" in page.text) == ("Contact", True)
    assert [link.text for link in page.links_to("mailto:us@example.org")] == ["us@example.org"]
    assert "Who" in [heading.text for heading in page.all("h3")]
    rules = Page(client.get("/rules/"))
    assert all(rules.links_to(link) for link in ("/about/#contact", "/about/#imprint", "/privacy/"))


def test_the_privacy_page_says_what_is_stored_unless_the_operator_says_it(client: Client, settings: Any) -> None:
    assert "No network address is stored." in text_of(client.get("/privacy/"))
    settings.PRIVACY_TEXT = "# What we keep\nNothing, see https://example.org/."
    page = Page(client.get("/privacy/"))
    assert "What we keep" in [heading.text for heading in page.all("h2")]
    assert page.links_to("https://example.org/")
    assert "No network address is stored." not in page.text


def test_the_name_of_the_site_is_on_pages_and_in_mails(as_alice: Client, alice: User, settings: Any) -> None:
    settings.SITE_NAME = "Cards <& Co>"
    html = as_alice.get("/about/").content.decode()
    assert "<title>About · Cards &lt;&amp; Co&gt;</title>" in html
    assert "<h1>About Cards &lt;&amp; Co&gt;</h1>" in html
    assert "Cards &lt;&amp; Co&gt; is independent" in html

    mail = render_to_string("account/email/email_confirmation_message.txt", {"links": [(alice, "https://x")]})
    assert "the account alice at Cards <& Co>." in mail


def test_nobody_takes_the_name_of_the_site(settings: Any) -> None:
    names.validate_display_name("Kartenstube")
    settings.SITE_NAME = "Karten-Stube"
    for name in ("Kartenstube", "KARTEN STUBE", "the Kartenstube"):
        with pytest.raises(ValidationError, match="reserved"):
            names.validate_display_name(name)
    names.validate_display_name("42")


def test_security_txt_names_the_contact(client: Client, settings: Any) -> None:
    path = "/.well-known/security.txt"
    assert client.get(path).status_code == 404

    settings.SECURITY_CONTACT = "mailto:security@example.org"
    answer = client.get(path)

    fields = dict(line.split(": ", 1) for line in answer.content.decode().splitlines())
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert fields["Contact"] == "mailto:security@example.org"
    assert fields["Canonical"] == f"{settings.SITE_URL}{path}"
    assert timedelta(days=100) < datetime.fromisoformat(fields["Expires"]) - timezone.now() < timedelta(days=365)


def test_robots_are_asked_to_stay_away_from_pages_of_people_and_games(client: Client, settings: Any) -> None:
    answer = client.get("/robots.txt")
    agent, *lines = answer.content.decode().splitlines()
    assert (answer["Content-Type"], agent) == ("text/plain; charset=utf-8", "User-agent: *")
    closed = [line.removeprefix("Disallow: ") for line in lines]
    for path in ("/games/abc/", "/accounts/login/", "/admin/", "/api/v1/games"):
        assert any(path.startswith(place) for place in closed), path
    for path in ("/", "/rules/", "/about/", "/people/alice/"):
        assert not any(path.startswith(place) for place in closed), path

    settings.LOGIN_REQUIRED = True
    assert client.get("/robots.txt").content == b"User-agent: *\nDisallow: /\n"


def test_the_icon_is_where_browsers_look_for_it(client: Client) -> None:
    answer = client.get("/favicon.ico", follow=True)
    icon = b"".join(answer) if answer.streaming else answer.content
    assert (answer.status_code, icon[:6]) == (200, b"\0\0\1\0\3\0")  # an icon with three pictures
