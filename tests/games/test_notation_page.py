"""The page of the notation has all of docs/notation.md."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from nomercy.launcher.place import CHECKOUT

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client: Client) -> str:
    return client.get("/notation/").content.decode()


@pytest.fixture
def document() -> str:
    return (CHECKOUT / "docs" / "notation.md").read_text()


def test_every_word_of_the_document_is_on_the_page(page: str, document: str) -> None:
    shown = "".join(unescape(re.sub(r"<[^>]*>", "", page)).split())
    for line in document.splitlines()[1:]:
        plain = re.sub(r"^```.*|`|\*\*|^#+ |^- |\]\([^)]*\)|\[|^\|[-| ]*\|$", "", line)
        for part in filter(None, re.split(r"\s*\|\s*", plain)):
            wanted = "".join(part.replace("[", "").split())
            assert wanted in shown.replace("[", "") or wanted.replace("\\", "") in shown.replace("[", ""), part


def test_each_chapter_has_an_address(page: str, document: str) -> None:
    for title in re.findall("^## (.*)$", document, re.MULTILINE):
        found = re.search(f'<h2 id="([a-z-]+)">{re.escape(title)}</h2>', page)
        assert found, title
        assert f'<a href="#{found[1]}">{title}</a>' in page


def test_tables_have_names_and_scroll_by_keyboard(page: str, document: str) -> None:
    labels = re.findall(r'<div class="scroll" tabindex="0" role="region" aria-label="([^"]+)"><table>', page)
    assert len(labels) == len(set(labels)) == len(re.findall(r"^\|-", document, re.MULTILINE))
    assert "<th></th>" not in page
    assert page.count("<th ") == page.count('<th scope="col">')


def test_the_link_to_the_api_leads_to_its_page(page: str, client: Client) -> None:
    assert ".md" not in page
    assert page.count('href="/api/v1/docs"') >= 2
    assert "/notation/" in client.get("/api/v1/docs").content.decode()
