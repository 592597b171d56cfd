"""Test the table of notice kinds: every row is complete, and only its name is stored."""

from __future__ import annotations

import pytest
from django.template.loader import get_template

from accounts.models import User
from games.models import Notice
from games.notices import kinds
from games.notices.kinds import GROUPS, KINDS, NoticeKind
from mail.channels import CHANNELS
from mail.sources import sources
from mail.verdicts import Reason, sentence_of
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.tables import NOON
from tests.test_sentences import marked

NAMES = {
    "turn", "deadline", "bot_took_over", "taken_out", "day_taken", "caught", "out", "round_over", "game_over",
    "round_cancelled", "invited", "table_full", "seat_moved", "report_settled", "outcome_changed", "factor_dropped",
    "appeal_decided", "name_changed", "warned", "muted", "suspended", "lifted", "unmuted",
    "link_changed", "host_changed",
    "digest", "staff_said", "role_changed", "case_arrived", "case_handed_over", "appeal_arrived",
    "orders_ended",
}  # fmt: skip
"""The names stored in databases and mail links of earlier releases."""


def test_stored_names_do_not_change() -> None:
    assert set(KINDS) >= NAMES
    assert {"email", "hook", "push", "site"} <= set(CHANNELS)
    assert [field.name for field in Notice._meta.fields if field.choices] == ["state"]  # titles need no migration
    assert kinds.title_of("of_tomorrow") == sentence_of("of_tomorrow") == "of_tomorrow"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_is_complete(kind: NoticeKind) -> None:
    longest = Notice._meta.get_field("kind").max_length
    assert longest is not None
    assert 0 < len(kind.name) <= longest
    assert kind.title[0].isupper()
    assert kind.group in {"", *GROUPS}
    assert kind.replaces in {"", *KINDS}
    for part in ("txt", "html"):
        get_template(f"emails/{kind.template}.{part}")
    assert ("{n}" in kind.several) == (kind.template == "news" and not kind.only_in)
    if kind.page:
        kind.path(occasion=1)


def test_every_group_has_the_name_of_one_of_its_kinds() -> None:
    assert [KINDS[name].group for name in GROUPS] == list(GROUPS)


def test_every_reason_fits_its_column_and_has_a_sentence() -> None:
    longest = Notice._meta.get_field("reason").max_length
    assert longest is not None
    for reason in Reason:
        assert len(reason.value) <= longest
        assert reason.label.endswith(".")


def test_the_texts_of_kinds_reasons_and_channels_are_marked() -> None:
    every = [*GROUPS.values(), *(kind for source in sources() for kind in source.kinds.values())]
    said = {getattr(kind, part, "") for kind in every for part in ("title", "help", "link", "several", "sentence")}
    said |= {text for kind in every for text in getattr(kind, "sentences", {}).values()}
    said |= {*Reason.labels, *(channel.title for channel in CHANNELS.values())}
    assert said - {""} - marked() == set()


def test_the_list_of_staff_is_filtered_by_the_titles_of_kinds(mo: User, alice: User) -> None:
    for kind in (*KINDS, "of_tomorrow"):
        Notice.objects.create(
            user=alice, version=0, kind=kind, channel="site", created_at=NOON, due_at=NOON, since=NOON
        )
    browser = staff_browser(mo)
    listed = browser.get("/admin/games/notice/")
    shown = {name for name, kind in KINDS.items() if kind.to_staff}
    assert {row.kind for row in listed.context["cl"].queryset} == {*shown, "of_tomorrow"}
    assert all(kinds.title_of(name) in text_of(listed) for name in (*shown, "of_tomorrow"))
    for address, found in (("kind__exact=out", {"out"}), ("channel__exact=email", set())):
        rows = browser.get(f"/admin/games/notice/?{address}").context["cl"].queryset
        assert {row.kind for row in rows} == found
