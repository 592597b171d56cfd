"""Test the staff pages: what they list, what each role sees, and the page of every act on a person."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from accounts.models import User
from games import queries
from games import render as rendering
from games.models import AuditEntry, Case, Game, Move, Notice, NoticeSettings, Report
from games.notices import player_notices
from games.queries import Viewer
from games.staff import cases, people, tables
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.notices import won
from tests.support.pages import text_of
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at

REASON = "Rude words at two tables"
NAME = "<b id=canary>\u202eEve"


@pytest.fixture
def as_mo(mo: User) -> Client:
    return staff_browser(mo)


@pytest.fixture
def as_ann(ann: User) -> Client:
    return staff_browser(ann)


def listed(browser: Client, query: str) -> set[str]:
    answer = browser.get(f"/admin/games/game/?{query}")
    assert answer.status_code == 200
    return {game.code for game in answer.context["cl"].result_list}


@pytest.mark.long
def test_every_staff_page_opens_for_a_moderator(as_mo: Client, alice: User, bob: User) -> None:
    table_after([alice, bob], 10, seed=1)
    for name in ("game", "round", "move", "auditentry", "case", "report", "suspension", "warned", "appeal", "notice"):
        assert as_mo.get(f"/admin/games/{name}/").status_code == 200, name
    assert as_mo.get("/admin/accounts/user/").status_code == 200
    for name in ("accounts/apitoken", "mfa/authenticator"):
        assert as_mo.get(f"/admin/{name}/").status_code == 403, name
    for name in ("auth/group", "account/emailaddress"):
        assert as_mo.get(f"/admin/{name}/").status_code == 404, name


@pytest.mark.long
def test_every_list_is_sorted_by_each_of_its_columns(as_mo: Client, ann: User, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 10, seed=1)
    cases.report(
        code=table.game.code, viewer=Viewer(alice), seat=1, kind="name", text="A rude name, and a rude word.", now=NOON
    )
    people.warn(person_id=bob.pk, by=ann, reason="A rude name", now=NOON)
    people.suspend(person_id=bob.pk, by=ann, days=3, reason="A rude name", now=NOON)
    followed = 0
    for name in ("game", "round", "move", "auditentry", "case", "report", "suspension", "warned", "appeal", "notice"):
        path = f"/admin/games/{name}/"
        for query in set(re.findall(r'href="(\?[^"]*\bo=[-.\d]+)"', as_mo.get(path).content.decode())):
            assert as_mo.get(path + html.unescape(query)).status_code == 200, (name, query)
            followed += 1
    assert followed > 10


@pytest.mark.long
def test_the_index_lists_what_waits_with_links(
    as_mo: Client, mo: User, alice: User, bob: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    now = timezone.now()

    def case(person: User, kind: str, **more: object) -> None:
        Case.objects.create(person=person, kind=kind, opened_at=now - timedelta(days=3), **more)

    case(alice, "name")
    case(bob, "name", holder=mo)
    case(bob, "other", closed_at=now)
    case(mo, "name")  # about the reader
    table_at(TWO_HANDS, [alice, bob], deadline=now - timedelta(hours=1))
    table_at(TWO_HANDS, [alice, bob])
    table_at(TWO_HANDS, [alice, bob], paused_at=now, paused_reasons=["staff"])
    body = " ".join(as_mo.get("/admin/").content.decode().split())
    said = (
        "<b>2</b> open cases",
        "The oldest has waited 3 days",
        "1 not taken",
        "1 taken by you",
        "<b>0</b> appeals that an admin decides",
    )
    for sentence in (*said, "<b>1</b> overdue game<", "<b>1</b> stuck game<", "<b>1</b> paused game<"):
        assert sentence in body, sentence
    for query in ("case/?held=nobody", "case/?held=me", "game/?ails=overdue", "game/?ails=stuck", "game/?ails=paused"):
        assert f'href="/admin/games/{query}"' in body
        assert as_mo.get(f"/admin/games/{query}").context["cl"].result_count == 1, query
    with django_assert_max_num_queries(12):
        as_mo.get("/admin/")


def test_a_new_case_has_waited_less_than_a_minute(as_mo: Client, alice: User) -> None:
    Case.objects.create(person=alice, kind="name", opened_at=timezone.now())
    assert "The oldest has waited less than a minute." in as_mo.get("/admin/").content.decode()
    assert "less than a minute</td>" in as_mo.get("/admin/games/case/").content.decode()


def test_pages_and_breadcrumbs_use_plain_names(ann: User) -> None:
    User.objects.filter(pk=ann.pk).update(is_superuser=True)
    browser = staff_browser(ann)
    index = browser.get("/admin/").content.decode()
    assert ">API tokens</a>" in index
    assert "Second factors" in index
    assert "MFA" not in index
    crumbs = browser.get("/admin/games/game/").content.decode().split('<div class="breadcrumbs">')[1].split("</div>")[0]
    assert crumbs.count("Games") == 1


@pytest.mark.long
def test_every_search_box_says_what_it_searches(ann: User) -> None:
    User.objects.filter(pk=ann.pk).update(is_superuser=True)
    browser, searched = staff_browser(ann), 0
    for model, of in admin.site._registry.items():
        body = browser.get(
            reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        ).content.decode()
        assert ('id="searchbar_helptext">' in body) == bool(of.search_fields), model
        searched += bool(of.search_fields)
    assert searched > 8


@pytest.mark.long
def test_pages_say_people_count_seats_from_one_and_have_our_icon(as_mo: Client, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 10, seed=1)
    index = as_mo.get("/admin/").content.decode()
    assert ">People</a>" in index
    assert "Users" not in index
    assert 'rel="icon"' in index
    moves = as_mo.get("/admin/games/move/").content.decode()
    assert set(re.findall(r'data-label="Seat"[^>]*>([^<]*)<', moves)) == {"1", "2"}
    Move.objects.filter(game=table.game, n=1).update(text="play r7 swap 1 uno")
    Move.objects.filter(game=table.game, n=2).update(text="catch 0")
    rows = as_mo.get("/admin/games/move/").content.decode()
    assert {"play r7 swap 2 uno", "catch 1"} <= set(re.findall(r'data-label="Text"[^>]*>([^<]*)<', rows))
    Move.objects.filter(game=table.game, n=3).update(text="fly 1")
    assert "fly 1" in as_mo.get("/admin/games/move/").content.decode()
    number = Move.objects.get(game=table.game, n=2).pk
    assert "catch 1" in as_mo.get(f"/admin/games/move/{number}/change/").content.decode()
    hands = as_mo.post(f"/admin/games/game/{table.game.pk}/act/look/", {"reason": "Reported by three people"})
    assert "Seat 2, bob:" in text_of(hands)
    act = as_mo.get(f"/admin/games/game/{table.game.pk}/act/remove/").content.decode()
    assert ">Remove alice, seat 1<" in act
    assert ">Remove bob, seat 2<" in act


@pytest.mark.long
def test_people_are_listed_by_the_state_of_their_account(as_mo: Client, alice: User, bob: User, charlie: User) -> None:
    User.objects.filter(pk=alice.pk).update(suspended_until=timezone.now() + timedelta(days=1))
    User.objects.filter(pk=bob.pk).update(is_active=False)
    User.objects.filter(pk=charlie.pk).update(is_guest=True)

    def listed_as(account: str) -> set[str]:
        rows = as_mo.get(f"/admin/accounts/user/?account={account}").context["cl"].result_list
        return {person.username for person in rows}

    assert listed_as("suspended") == {"alice"}
    assert listed_as("closed") == {"bob"}
    assert listed_as("guests") == {"charlie"}
    assert listed_as("staff") == {"mo"}
    assert listed_as("people") == {"alice", "bob", "mo"}
    body = as_mo.get("/admin/accounts/user/").content.decode()
    assert all(f">{state}</td>" in body for state in ("suspended", "closed", "guest", "staff"))


def test_games_are_found_by_code_and_by_the_names_of_their_people(as_mo: Client, alice: User, bob: User) -> None:
    first, second = table_at(TWO_HANDS, [alice, bob]), table_at(TWO_HANDS, [bob, "careful"])
    assert listed(as_mo, f"q={first.game.code}") == {first.game.code}
    assert listed(as_mo, "q=alice") == {first.game.code}
    assert listed(as_mo, "q=bob") == {first.game.code, second.game.code}


def test_no_column_of_a_list_has_the_name_of_a_relation() -> None:
    """Django sorts such a column by the related rows, and joins all of them to the list."""
    found = []
    for model, page in admin.site._registry.items():
        relations = {field.name for field in model._meta.get_fields() if field.one_to_many or field.many_to_many}
        found += [f"{model.__name__}.{column}" for column in page.list_display if column in relations]
    assert found == []


def test_the_list_of_games_is_sorted_by_moves_with_a_row_for_each_game(as_mo: Client, alice: User, bob: User) -> None:
    short, long = table_after([alice, bob], 5, seed=1), table_after([bob, "careful"], 20, seed=1)
    column = list(admin.site._registry[Game].list_display).index("move_count") + 1
    rows = as_mo.get(f"/admin/games/game/?o=-{column}").context["cl"].result_list
    assert [game.code for game in rows] == [long.game.code, short.game.code]


@pytest.mark.long
@pytest.mark.parametrize("of", ["move", "round"])
def test_rows_of_games_are_found_by_code_and_by_name(as_mo: Client, alice: User, bob: User, of: str) -> None:
    first, second = table_after([alice, bob], 10, seed=1), table_after([bob, "careful"], 10, seed=2)

    def found(text: str) -> set[str]:
        with CaptureQueriesContext(connection) as asked:
            rows = as_mo.get(f"/admin/games/{of}/", {"q": text}).context["cl"].result_list
        assert not any(
            "DISTINCT" in str(query["sql"]) for query in asked
        )  # sorting by it would sort all moves of a long game
        return {row.game.code for row in rows}

    assert found(first.game.code) == found(f" {first.game.code.upper()}") == found("alice") == {first.game.code}
    assert found("bob") == {first.game.code, second.game.code}
    assert found("zzzzzzzzzz") == set()


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (["staff"], "Playing, paused by staff"),
        (["consent", "staff"], "Playing, paused by the players and by staff"),
        (["restored"], "Playing, paused by the site’s operators, who end it with manage.py release"),
    ],
)
def test_the_page_of_a_game_says_who_paused_it(
    as_mo: Client, alice: User, bob: User, reasons: list[str], words: str
) -> None:
    game = table_at(TWO_HANDS, [alice, bob], paused_at=timezone.now(), paused_reasons=reasons).game
    assert words in text_of(as_mo.get(f"/admin/games/game/{game.pk}/change/"))


@pytest.mark.parametrize(
    ("card", "color", "words"), [("b+2", "b", "Blue Draw Two"), ("W6", "g", "Wild Draw Six, green")]
)
def test_the_page_of_a_game_names_the_colour_of_a_wild_only(
    as_mo: Client, alice: User, bob: User, card: str, color: str, words: str
) -> None:
    game = table_at({**TWO_HANDS, "discard_pile": [card], "color": color}, [alice, bob]).game
    text = text_of(as_mo.get(f"/admin/games/game/{game.pk}/change/"))
    assert f"Top card {words} Draw pile, discard pile" in text


def test_games_are_filtered_by_problem(as_mo: Client, alice: User, bob: User) -> None:
    now = timezone.now()
    fine = table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=1)).game
    overdue = table_at(TWO_HANDS, [alice, bob], deadline=now - timedelta(hours=1)).game
    stuck = table_at(TWO_HANDS, [alice, bob]).game
    paused = table_at(TWO_HANDS, [alice, bob], paused_at=now, paused_reasons=["staff"]).game
    case = Case.objects.create(person=bob, kind=Case.Kind.OTHER, opened_at=now)
    Report.objects.create(case=case, reporter=alice, game=fine, at=now, text="He said a bad word to me.")

    assert listed(as_mo, "ails=overdue") == {overdue.code}
    assert listed(as_mo, "ails=stuck") == {stuck.code}
    assert listed(as_mo, "ails=paused") == {paused.code}
    assert listed(as_mo, "ails=reported") == {fine.code}


def shows(body: str, cards: Sequence[str]) -> bool:
    """Return True if the page has these cards in this order, with anything in between."""
    return re.search(r"\W+".join(map(re.escape, cards)), body) is not None


def test_the_game_page_shows_public_information_and_no_hand(as_mo: Client, alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], 12, seed=0)
    body = unescape(as_mo.get(f"/admin/games/game/{table.game.pk}/change/").content.decode())
    round_, position = table.started.round, table.started.position
    said = [line.text for line in rendering.log_of(queries.view_of(table, None), queries.log_of(table, None), NOON)]
    assert len(said) == table.game.version == 12
    assert all(len(hand) > 3 for hand in position.hands)
    assert all(sentence in body for sentence in said)
    assert not any(secret in body for secret in (bytes(round_.secret).hex(), round_.deal))
    assert not any(shows(body, cards) for cards in (position.draw_pile, *position.hands))


def test_notices_are_found_by_code_and_name_and_show_their_state(
    as_mo: Client, alice: User, bob: User, charlie: User
) -> None:
    first, second = table_at(TWO_HANDS, [alice, bob]).game, table_at(TWO_HANDS, [bob, charlie]).game
    NoticeSettings.objects.create(user=alice, choices={"game_over.email": False})
    for game, player in ((first, alice), (second, charlie)):
        player_notices.write(game, [won(player.pk, "canary")], now=NOON)

    def found(query: str) -> set[tuple[str, str]]:
        answer = as_mo.get(f"/admin/games/notice/?q={query}")
        return {(row.user.username, row.channel) for row in answer.context["cl"].result_list}

    assert found(first.code) == found("alice") == {("alice", "site"), ("alice", "email")}
    assert found(second.code) == {("charlie", "site"), ("charlie", "email")}
    mail = Notice.objects.get(user=alice, channel="email")
    page = as_mo.get(f"/admin/games/notice/{mail.pk}/change/").content.decode()
    assert "Not sent" in page
    assert "This is switched off in your notification settings." in page
    assert "This is switched off in your notification settings." in as_mo.get("/admin/games/notice/").content.decode()
    assert "canary" not in page
    assert as_mo.post(f"/admin/games/notice/{mail.pk}/change/", {"state": "waiting"}).status_code == 403


def test_the_list_of_notices_costs_the_same_at_any_length(
    as_mo: Client, alice: User, bob: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(8):
        game = table_at(TWO_HANDS, [alice, bob]).game
        player_notices.write(game, [player_notices.NewNotice(user.pk, "out") for user in (alice, bob)], now=NOON)
    with django_assert_max_num_queries(10):
        assert as_mo.get("/admin/games/notice/").status_code == 200


def test_no_page_shows_a_field_with_cards() -> None:
    cards = {
        "games.Round": {"deal", "secret", "state"},
        "games.Move": {"events", "token"},
    }
    for model, model_admin in admin.site._registry.items():
        hidden = cards.get(model._meta.label)
        if hidden is not None:
            assert model_admin.fields is not None
            assert not hidden & {*model_admin.fields, *model_admin.list_display}, model
    assert "games.Hand" not in {model._meta.label for model in admin.site._registry}


@pytest.mark.long
def test_only_those_who_see_addresses_can_search_by_one(as_mo: Client, as_ann: Client, alice: User, bob: User) -> None:
    def found(browser: Client, query: str) -> set[str]:
        answer = browser.get("/admin/accounts/user/", {"q": query})
        assert "bob@example.org" not in answer.content.decode()
        return {user.username for user in answer.context["cl"].result_list}

    assert found(as_ann, "Alice@example.org") == {"alice"}
    assert found(as_mo, "Alice@example.org") == found(as_ann, "alice@example") == found(as_ann, "@example.org") == set()
    assert found(as_mo, "alice") == {"alice"}
    for browser, offered in ((as_ann, True), (as_mo, False)):
        assert ("or a complete email address" in text_of(browser.get("/admin/accounts/user/"))) is offered
    page = f"/admin/accounts/user/{alice.pk}/change/"
    assert "alice@example.org" not in as_mo.get(page).content.decode()
    assert "alice@example.org" in as_ann.get(page).content.decode()


def test_names_are_escaped_everywhere(as_ann: Client, alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(display_name=NAME)
    alice.refresh_from_db()
    table = table_after([alice, bob], 20, seed=2)
    pages = [
        "/admin/games/game/",
        f"/admin/games/game/{table.game.pk}/change/",
        "/admin/accounts/user/",
        f"/admin/accounts/user/{alice.pk}/change/",
        f"/admin/accounts/user/{alice.pk}/act/warn/",
    ]
    for page in pages:
        body = as_ann.get(page).content.decode()
        assert "<b id=canary>" not in body, page
        assert "&lt;b id=canary&gt;" in body, page


def test_the_page_of_an_act_has_breadcrumbs(as_mo: Client, alice: User, bob: User) -> None:
    game = table_after([alice, bob], 5, seed=1).game
    page = text_of(as_mo.get(f"/admin/games/game/{game.pk}/act/pause/"))
    assert f"Home › Games › Game {game.code} › Pause the game" in unescape(page)


def test_acts_of_other_roles_are_neither_offered_nor_possible(as_mo: Client, alice: User) -> None:
    assert "suspend_for_good" not in as_mo.get(f"/admin/accounts/user/{alice.pk}/change/").content.decode()
    url = f"/admin/accounts/user/{alice.pk}/act/suspend_for_good/"
    assert as_mo.get(url).status_code == 403
    assert as_mo.post(url, {"reason": REASON}).status_code == 403
    assert as_mo.get(f"/admin/accounts/user/{alice.pk}/act/explode/").status_code == 404


@pytest.mark.long
def test_acts_that_would_be_refused_are_replaced_by_the_reason(
    as_mo: Client, as_ann: Client, mo: User, ann: User, alice: User, bob: User
) -> None:
    def offers(browser: Client, url: str) -> tuple[bool, str]:
        page = browser.get(url)
        return bool(page.context["acts"]), page.context["refusal"]

    def person_page(user: User) -> str:
        return f"/admin/accounts/user/{user.pk}/change/"

    own, theirs = table_at(TWO_HANDS, [alice, mo]), table_at(TWO_HANDS, [alice, bob])
    assert offers(as_mo, person_page(bob)) == (True, "")
    for page, reason in (
        (person_page(mo), "You can’t do this to yourself. Ask another staff member."),
        (person_page(ann), "Only an admin can do this to a staff member."),
        (person_page(alice), "You are playing with alice."),
        (f"/admin/games/game/{own.game.pk}/change/", "You are or were a player at this table"),
    ):
        assert offers(as_mo, page)[1].startswith(reason)
        body = as_mo.get(page).content.decode()
        assert reason in body
        assert "/act/" not in body
    body = as_mo.get(f"/admin/games/game/{theirs.game.pk}/change/").content.decode()
    assert "You are playing with someone from this table" in body
    assert "/act/pause/" in body
    assert "/act/look/" not in body
    assert "/act/look/" in as_ann.get(f"/admin/games/game/{theirs.game.pk}/change/").content.decode()


@pytest.mark.long
def test_a_table_offers_the_acts_that_are_possible_now(as_mo: Client, alice: User, bob: User) -> None:
    def offered(**fields: Any) -> set[str]:
        game = table_at(TWO_HANDS, [alice, bob], **fields).game
        page = as_mo.get(f"/admin/games/game/{game.pk}/change/")
        return {act["url"].split("/")[-2] for act in page.context["acts"]}

    now = timezone.now()
    always = {"remove", "look", "say"}
    assert offered() == always | {"pause", "void_round"}
    assert offered(deadline=now) == always | {"pause", "void_round", "extend"}
    assert offered(paused_at=now, paused_reasons=["staff"], time_left=timedelta(hours=1)) == always | {
        "resume",
        "extend",
    }
    assert offered(paused_at=now, paused_reasons=["consent"]) == always | {"pause", "resume"}
    assert offered(paused_at=now, paused_reasons=["restored"]) == always | {"pause"}
    game = table_at(TWO_HANDS, [alice, bob]).game
    game.seats.update(misses=2)
    assert "/act/forgive/" in as_mo.get(f"/admin/games/game/{game.pk}/change/").content.decode()


@pytest.mark.long
def test_acts_on_an_account_are_offered_only_if_possible(alice: User) -> None:
    root = User.objects.create_superuser("root", "root@example.org", "root")
    browser = staff_browser(root)
    page = f"/admin/accounts/user/{alice.pk}"
    assert "/act/drop_factor/" not in browser.get(f"{page}/change/").content.decode()
    assert "/act/set_role/" in browser.get(f"{page}/change/").content.decode()
    assert "They have no name at the table, so" in browser.get(f"{page}/act/mute/").content.decode()
    Authenticator.objects.create(user=alice, type=Authenticator.Type.TOTP, data={})
    User.objects.filter(pk=alice.pk).update(display_name="Ally", is_guest=True)
    assert "/act/drop_factor/" in browser.get(f"{page}/change/").content.decode()
    assert "/act/set_role/" not in browser.get(f"{page}/change/").content.decode()
    assert "They have no name at the table, so" not in browser.get(f"{page}/act/mute/").content.decode()


def test_a_refused_act_says_why_and_keeps_the_form(as_mo: Client, ann: User) -> None:
    answer = as_mo.post(f"/admin/accounts/user/{ann.pk}/act/warn/", {"reason": REASON})
    assert answer.status_code == 403
    assert "Nothing has been done. Only an admin can do this to a staff member." in text_of(answer)
    assert REASON in answer.content.decode()


@pytest.mark.long
def test_a_moderator_cannot_change_rows(as_mo: Client, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 5, seed=1)
    move = table.game.moves.get(n=1)
    for name, pk in (("game", table.game.pk), ("move", move.pk), ("round", table.game.round_id)):
        assert as_mo.post(f"/admin/games/{name}/{pk}/change/", {"status": "void"}).status_code in (200, 403)
        assert as_mo.post(f"/admin/games/{name}/{pk}/delete/", {"post": "yes"}).status_code == 403
    assert as_mo.post(f"/admin/accounts/user/{alice.pk}/change/", {"username": "x"}).status_code == 403
    assert Game.objects.get().status == Game.Status.PLAYING


def test_a_moderator_sees_nothing_more_of_their_own_table(mo: User, alice: User) -> None:
    table = table_after([mo, alice, "careful"], 12, seed=0)
    body = staff_browser(mo).get(f"/admin/games/game/{table.game.pk}/change/").content.decode()
    assert not any(shows(unescape(body), hand) for hand in table.started.position.hands)
    assert logged_in(mo).get(f"/games/{table.game.code}/").status_code == 200


def test_lists_show_times_in_one_format_and_name_their_filters(root: User, alice: User, bob: User, ann: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    tables.pause(game_id=game.pk, by=ann, reason="Asked for by the players", now=NOON)
    people.warn(person_id=bob.pk, by=ann, reason="Asked for by the players", now=NOON)
    browser, said = staff_browser(root), f"{timezone.localtime(NOON):%Y-%m-%d %H:%M}"
    audit = browser.get("/admin/games/auditentry/").content.decode()
    assert "By date" in audit
    assert "By at" not in audit
    entry = AuditEntry.objects.get(person=bob)
    page = browser.get(f"/admin/games/auditentry/{entry.pk}/change/").content.decode()
    assert "None" not in page
    assert "/history/" not in page
    for place in (audit, page, browser.get("/admin/games/warned/").content.decode()):
        assert said in place
