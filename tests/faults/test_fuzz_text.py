"""Test random text: moves, positions and records are parsed or refused with a sentence."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

import pytest
from django.test import Client
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from accounts.models import User
from games import rules
from games.models import NoticeSettings
from games.notices import mail_links
from games.queries import records
from tests.support.tables import TWO_HANDS, table_after

pytestmark = pytest.mark.long

texts = settings(max_examples=100, derandomize=True, deadline=None, database=None)
pieces = st.sampled_from(
    [
        "play",
        "draw",
        "take",
        "color",
        "catch",
        "leave",
        "clock",
        "uno",
        "r5",
        "WC",
        "g",
        "1",
        " ",
        "  ",
        "\n",
        "٣",
        "-1",
    ]
)


@texts
@given(st.text(max_size=40) | st.lists(pieces, max_size=6).map(" ".join))
@example("catch " + "9" * 5000)
def test_a_move_text_is_parsed_or_refused(text: str) -> None:
    try:
        move = rules.parse_move(text)
    except rules.Refused as told:
        refused: rules.Refused | None = told
    else:
        refused = None
        assert rules.parse_move(str(move)) == move
    assert refused is None or (refused.code == "malformed" and str(refused))


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | pieces
anything = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner))


@texts
@given(st.sampled_from(sorted(TWO_HANDS)), anything)
def test_a_position_with_one_random_field_is_read_or_refused(field: str, value: object) -> None:
    options = rules.options_from("no-mercy", {})
    try:
        position = rules.position_from_json({**TWO_HANDS, field: value}, options)
    except rules.BadInput as told:
        refused = str(told)
    else:
        refused = "not refused"
        written = rules.position_to_json(position, options)
        assert rules.position_to_json(rules.position_from_json(written, options), options) == written
    assert refused


@pytest.fixture
def record(alice: User, bob: User) -> str:
    return rules.print_record(records.record_of(table_after([alice, bob], 10_000, seed=5)))


@pytest.mark.django_db
def test_a_record_with_a_damaged_line_is_replayed_or_refused(record: str) -> None:
    lines = record.splitlines()
    refused = 0

    @settings(texts, max_examples=60)
    @given(
        st.integers(0, len(lines) - 1),
        st.integers(0, len(lines) - 1),
        st.sampled_from(["cut", "swap", "drop", "text"]),
        st.text(max_size=20),
    )
    def spoil(n: int, other: int, how: str, text: str) -> None:
        nonlocal refused
        spoiled = list(lines)
        if how == "cut":
            spoiled[n] = spoiled[n][: len(text)]
        elif how == "swap":
            spoiled[n], spoiled[other] = spoiled[other], spoiled[n]
        elif how == "drop":
            del spoiled[n]
        else:
            spoiled[n] += text
        try:
            list(rules.replay_record(rules.parse_record("\n".join(spoiled) + "\n")))
        except rules.BadInput:
            refused += 1

    spoil()
    assert refused > 20


@pytest.mark.django_db
def test_a_forged_mail_link_is_refused_and_changes_nothing(alice: User) -> None:
    NoticeSettings.objects.create(user=alice, mail_key="key")
    links = {
        purpose: urlsplit(mail_links.link_url(purpose, user_id=alice.pk, target="turn", key="key")).path
        for purpose in (mail_links.OPEN, mail_links.STOP, mail_links.WORKS)
    }
    before = list(NoticeSettings.objects.values())
    good = st.sampled_from(sorted(links.values())).map(lambda path: path.rsplit("/", 2)[1])
    spoiled = st.builds(
        lambda token, at, letter: token[:at] + letter + token[at + 1 :],
        good, st.integers(0, 60), st.characters(codec="utf-8"),
    )  # fmt: skip

    @settings(texts, max_examples=30)
    @given(st.sampled_from(sorted(links)), spoiled | st.text(min_size=1, max_size=80), st.booleans())
    def spoil(purpose: str, token: str, one_click: bool) -> None:
        assume(token != links[purpose].rsplit("/", 2)[1])
        path = f"{links[purpose].rsplit('/', 2)[0]}/{quote(token, safe='')}/"
        browser = Client()
        answer = browser.post(path, {"List-Unsubscribe": "One-Click"}) if one_click else browser.get(path)
        assert answer.status_code == (405 if one_click and purpose == mail_links.OPEN else 404), answer.content
        assert not browser.cookies
        assert list(NoticeSettings.objects.values()) == before

    spoil()
