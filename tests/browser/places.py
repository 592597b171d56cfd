"""The pages that the layout and accessibility tests open, each with the way to get there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from django.db import transaction
from django.utils import timezone
from playwright.sync_api import Page

from accounts.actions import create_token
from accounts.models import User
from games import queries
from games.actions import lobby, pauses, seating
from games.locks import lock_game
from games.models import Appeal, Case, Game, Invitation, NoticeSettings, Seat, Suspension, Warned
from games.models.orders import FirstPlay, Orders
from games.notices import mail_links, notice_mails, player_notices
from games.queries import Table, Viewer
from games.staff import cases
from mail import outbox
from tests.support.hooks import hook_of
from tests.support.notices import won
from tests.support.push import set_up
from tests.support.races import RACE, RACING, STRAIGHT
from tests.support.tables import table_after, table_at

MANY: Final[Mapping[str, Any]] = {
    "draw_pile": ["b1", "b2", "y3", "g4", "r5", "b6", "y8", "g9", "W6", "r2", "y1", "g1"] * 2,
    "discard_pile": ["y4", "b4", "r4"],
    "hands": [
        ["r3", "r7", "r+2", "rD", "y0", "y5", "yS", "g+4", "g9", "gR", "b2", "b6", "bE", "W6", "WR4", "WC"],
        ["r1", "r2", "y2"],
        [
            *(f"g{n}" for n in range(1, 9)),
            *(f"b{n}" for n in (1, 3, 5, 7, 8, 9)),
            *(f"y{n}" for n in (1, 3, 6, 7, 8, 9)),
        ],
        ["b0"],
    ],
    "turn": 0,
}
"""Seat 0 to move on a red 4, with much to choose from; seat 2 is near mercy, seat 3 has one card left."""

STACK: Final[Mapping[str, Any]] = {
    **MANY,
    "discard_pile": ["y4", "r+2", "g+4"],
    "pending": {"total": 6, "value": 4},
    "color": "g",
    "exposed": [3],
}
"""Seat 0 owes six cards and can stack, and seat 3 can be caught."""


DARK_SIDE: Final[Mapping[str, Any]] = {
    "draw_pile": ["b1/o1", "b2/p2", "y3/u3", "g4/t4"],
    "discard_pile": ["y4/t9", "b4/u5", "r4/oF"],
    "hands": [
        ["r3/o1", "r7/o+5", "rR/pE", "y5/p9", "yS/uR", "g+1/u6", "W/t2", "b2/tF", "bF/W", "W2/t7"],
        ["r1/o4", "r2/W"],
        ["g1/u5", "g2/p3", "y6/WD", "b8/t1", "b9/uF"],
        ["y9/pR", "g3/o2"],
    ],
    "turn": 0,
    "side": "dark",
}
"""Seat 0 to move on the dark side of Flip, with every colour in hand; the backs of the others are light."""


FOUR_HANDS_AND_A_STRAIGHT: Final[Mapping[str, Any]] = {**STRAIGHT, "hands": [*STRAIGHT["hands"], ["g7", "y1"]]}


@dataclass(slots=True)
class Cast:
    """The users and the games that the pages show."""

    alice: User
    bob: User
    charlie: User
    mo: User

    def table(self, position: Mapping[str, Any], **fields: Any) -> Table:
        """Return a table of four with Alice at seat 0 and hours left for her turn."""
        deadline = timezone.now() + timedelta(hours=14, minutes=5)
        return table_at(position, [self.alice, self.bob, self.charlie, self.mo], **{"deadline": deadline, **fields})


class Visitor(Protocol):
    """What opens the address of a page: a page of Playwright, or a window of another browser."""

    def goto(self, url: str) -> object: ...


Open = Callable[[Page, Cast], object]
"""A function that opens a page."""
Visit = Callable[[Visitor, Cast], object]


def at(url: str) -> Visit:
    return lambda page, cast: page.goto(url)


def _home(page: Visitor, cast: Cast) -> None:
    cast.table(STACK, target=1000)
    cast.table(MANY)
    cast.table({**MANY, "turn": 1})
    ended = table_after([cast.alice, cast.bob], 10_000, seed=3)
    assert ended.game.status == Game.Status.OVER
    lobby.create_table(user=cast.bob, choices=lobby.TableChoices(), now=timezone.now())
    asked = lobby.create_table(user=cast.charlie, choices=lobby.TableChoices(public=False), now=timezone.now())
    Invitation.objects.create(game=asked.game, user=cast.alice, at=timezone.now())
    page.goto("/")


def _home_with_20_games(page: Page, cast: Cast) -> None:
    now = timezone.now()
    for minutes in (40, 300, 1500, 3000, 4000, 5000):
        cast.table(STACK if minutes % 1000 else MANY, deadline=now + timedelta(minutes=minutes))
    cast.table(DARK_SIDE, preset="flip", target=500)
    for turn in (1, 2, 3, 1, 2, 3, 1, 2):
        cast.table({**MANY, "turn": turn}, deadline=now + timedelta(hours=7 * turn))
    ten = {**MANY, "hands": [MANY["hands"][0], *[["r1", "r2", "y2"]] * 9], "turn": 7}
    table_at(ten, [cast.alice, cast.bob, cast.charlie, cast.mo, *("careful",) * 6])
    lobby.create_table(user=cast.alice, choices=lobby.TableChoices(bots=1), now=now)
    for seed in (3, 4, 5):
        table_after([cast.alice, cast.bob, cast.mo], 10_000, seed=seed)
    for host in (cast.bob, cast.charlie):
        lobby.create_table(user=host, choices=lobby.TableChoices(), now=now)
    page.goto("/")


def _lobby(page: Visitor, cast: Cast) -> None:
    options = lobby.TableChoices(preset="classic", players=10, bots=5, public=False)
    table = lobby.create_table(user=cast.alice, choices=options, now=timezone.now())
    links = [table.game.invite_key]
    lobby.join(code=table.game.code, viewer=Viewer(cast.bob, links), now=timezone.now())
    page.goto(f"/games/{table.game.code}/")


def game(position: Mapping[str, Any], query: str = "", **fields: Any) -> Visit:
    return lambda page, cast: page.goto(f"/games/{cast.table(position, **fields).game.code}/{query}")


def _over(page: Page, cast: Cast) -> None:
    ended = table_after([cast.alice, cast.bob, cast.charlie], 10_000, seed=3)
    assert ended.game.status == Game.Status.OVER
    # Otherwise the end would lie over the page.
    ended.game.seats.update(end_seen_version=ended.game.version)
    page.goto(f"/games/{ended.game.code}/")


def _log(page: Page, cast: Cast) -> None:
    going = table_after([cast.alice, cast.bob, cast.charlie], 60, seed=4)
    page.goto(f"/games/{going.game.code}/log/")


def _invited(page: Page, cast: Cast) -> None:
    options = lobby.TableChoices(players=5, bots=1, public=False)
    page.goto(f"/join/{lobby.create_table(user=cast.alice, choices=options, now=timezone.now()).game.invite_key}/")


def _name_refused(page: Page, cast: Cast) -> None:
    _invited(page, cast)
    page.get_by_label("Your name").fill("alice")
    page.get_by_role("button", name="Sit down").click()
    page.locator(".errorlist").wait_for()


def _invitation(page: Page, cast: Cast) -> None:
    page.goto(f"/join/{cast.table(MANY, is_public=False).game.invite_key}/")


def _replay(query: str) -> Visit:
    def replay(page: Visitor, cast: Cast) -> None:
        ended = table_after([cast.alice, cast.bob, cast.charlie], 10_000, seed=3)
        page.goto(f"/games/{ended.game.code}/replay/{query}")

    return replay


def _as_guest(page: Page, cast: Cast) -> None:
    page.context.clear_cookies()  # the visitor may be a guest already
    page.goto("/")
    page.get_by_role("button", name="Play now").click()
    page.wait_for_url("**/games/*/")


def _guest_logs_out(page: Page, cast: Cast) -> None:
    _as_guest(page, cast)
    page.goto("/accounts/logout/")


def _move_seats(page: Page, cast: Cast) -> None:
    _as_guest(page, cast)
    page.goto("/accounts/login/")
    page.locator("#id_login").fill("alice")
    page.locator("#id_password").fill("alice")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/move-seats/")


def _leave_seats_behind(page: Page, cast: Cast) -> None:
    page.goto("/move-seats/")
    page.get_by_role("button", name="Leave it behind").click()
    page.wait_for_url("**/move-seats/?lose=1")


def _confirmed(url: str) -> Open:
    """Open a page that asks for the password again first."""

    def confirm(page: Page, cast: Cast) -> None:
        page.goto(f"/accounts/reauthenticate/?next={url}")
        page.locator("#id_password").fill("alice")
        page.get_by_role("button", name="Confirm").click()
        page.wait_for_url(f"**{url}")

    return confirm


def _made_token(page: Page, cast: Cast) -> None:
    _confirmed("/accounts/me/tokens/")(page, cast)
    page.get_by_label("Name of the token").fill("my bot")
    page.get_by_role("button", name="Create the token").click()
    page.get_by_label("Copy it now: it will not be shown again.").wait_for()


def _account(page: Page, cast: Cast) -> None:
    for name in ("x" * 60, "my bot at home"):
        create_token(user=cast.alice, name=name, now=timezone.now(), days=90)
    page.goto("/accounts/me/")


def _addresses(page: Page, cast: Cast) -> None:
    for name in ("alice", "a.very.long.address.that.fits.no.telephone"):
        EmailAddress.objects.get_or_create(user=cast.alice, email=f"{name}@example.org", primary=name == "alice")
    page.goto("/accounts/email/")


def _addresses_to_change(page: Page, cast: Cast) -> None:
    _addresses(page, cast)
    _confirmed("/accounts/email/")(page, cast)


def _conflict(page: Page, cast: Cast) -> None:
    page.goto("/tables/new/")
    page.locator("summary", has_text="Rules").click()
    page.get_by_text("Bluffs", exact=True).click()
    page.locator("[name=option_bluff][value=official]").check()
    page.get_by_role("button", name="Create table").click()
    page.locator(".errorlist").first.wait_for()


def _paused(page: Page, cast: Cast) -> None:
    table = cast.table(MANY, target=1000)
    for user in (cast.alice, cast.bob, cast.charlie, cast.mo):
        pauses.ask_pause(code=table.game.code, viewer=Viewer(user), now=timezone.now())
    page.goto(f"/games/{table.game.code}/")


def _bot_plays(page: Page, cast: Cast) -> None:
    table = cast.table({**MANY, "turn": 1})
    with transaction.atomic():
        seating.replace_by_bot(queries.load(lock_game(pk=table.game.pk)), seat=0, now=timezone.now())
    page.goto(f"/games/{table.game.code}/")


def _orders(page: Page, cast: Cast) -> None:
    table = cast.table({**MANY, "turn": 1}, options={"interceptions": "super"})
    page.goto(f"/games/{table.game.code}/?orders=1")


def _pending_orders(page: Page, cast: Cast) -> None:
    """Orders that draw in 40 seconds, and their form with two cards to play first."""
    table, now = cast.table({**MANY, "turn": 0}), timezone.now()
    orders = Orders(then_draw=True, first=(FirstPlay("g9"), FirstPlay("W6", "g")))
    Seat.objects.filter(game=table.game, index=0).update(orders=orders.to_row())
    Game.objects.filter(pk=table.game.pk).update(orders_at=now + timedelta(seconds=40))
    page.goto(f"/games/{table.game.code}/?orders=1")


def _orders_before_the_start(page: Page, cast: Cast) -> None:
    options = lobby.TableChoices(preset="house-party", players=5, bots=1)
    table = lobby.create_table(user=cast.alice, choices=options, now=timezone.now())
    page.goto(f"/games/{table.game.code}/")
    page.locator("#orders > summary").click()


def _devices(page: Page, cast: Cast) -> None:
    """Two devices, on the page of settings in a browser that refuses to be the third."""
    set_up(cast.alice, "https://push.example/1", ok_at=timezone.now())
    set_up(cast.alice, "https://push.example/2", label="Chrome, Windows", hides_names=True)
    page.goto("/notices/settings/")


def _notices(page: Page, cast: Cast) -> None:
    """A new notice, one that was read, one of a mail that went out, and one of a mail that did not."""
    now, early = timezone.now(), timezone.now() - timedelta(hours=3)
    table = cast.table(MANY)
    player_notices.deal(table, now=early)
    said = player_notices.NewNotice(cast.alice.pk, "staff_said", "said", {"words": "Be kind to each other."})
    player_notices.write(table.game, [said], now=early)
    outbox.deliver(clock=lambda: now)
    table.game.version += 1
    player_notices.write(table.game, [won(cast.alice.pk, "Bob")], now=now)
    outbox.deliver(clock=lambda: now)
    page.goto("/notices/")


def _notice_settings(page: Page, cast: Cast) -> None:
    bounced = {"bounced": cast.alice.email, "bounced_at": timezone.now()}
    NoticeSettings.objects.update_or_create(user=cast.alice, defaults=bounced)
    page.goto("/notices/settings/")


def _hook(**fields: object) -> Open:
    def hook(page: Page, cast: Cast) -> None:
        hook_of(cast.alice, "https://discord.com/api/webhooks/1/abc", mention="123", **fields)
        page.goto("/notices/settings/hook/")

    return hook


def _stop_mails(page: Page, cast: Cast) -> None:
    key = notice_mails.readers_of({cast.alice})[cast.alice.pk].key
    page.goto(urlsplit(mail_links.link_url(mail_links.STOP, user_id=cast.alice.pk, target="turn", key=key)).path)


def _report(page: Page, cast: Cast) -> None:
    page.goto(f"/games/{cast.table(MANY).game.code}/report/?seat=1")


def _reports(page: Page, cast: Cast) -> None:
    code, now = cast.table(MANY).game.code, timezone.now()
    for kind in ("name", "abandon"):
        text = "Their name is a rude word, and they said another."
        cases.report(code=code, viewer=Viewer(cast.alice), seat=1, kind=kind, text=text, now=now)
    Case.objects.filter(kind="name").update(closed_at=now, outcome="acted", answer="The name is gone.")
    User.objects.filter(pk=cast.alice.pk).update(answered=True)
    page.goto("/reports/")


def _profile(rest: str) -> Open:
    def profile(page: Page, cast: Cast) -> None:
        _home(page, cast)
        page.goto(f"/people/bob/{rest}")

    return profile


def _resign(page: Page, cast: Cast) -> None:
    page.goto(f"/games/{cast.table(MANY).game.code}/resign/")


def _suspended(page: Page, cast: Cast) -> None:
    now = timezone.now()
    why = "Rude words at two tables, after a warning"
    Suspension.objects.create(person=cast.alice, at=now, until=now + timedelta(days=7), reason=why)
    User.objects.filter(pk=cast.alice.pk).update(suspended_until=now + timedelta(days=7))
    page.goto("/")


def _appeals(page: Page, cast: Cast) -> None:
    now = timezone.now()
    why, said = "Rude words at two tables, after a warning", "It was my little brother who did it."
    suspension = Suspension.objects.create(person=cast.alice, at=now, lifted_at=now, reason=why)
    decided: dict[str, Any] = {"decided_at": now, "decision": "lifted", "answer": "We looked at the log once more."}
    Appeal.objects.create(suspension=suspension, at=now, text=said, **decided)
    page.goto("/suspended/")


def _warnings(page: Page, cast: Cast) -> None:
    why = "Rude words at two tables: the next ones end in a suspension"
    Warned.objects.create(person=cast.alice, at=timezone.now(), text=why)
    User.objects.filter(pk=cast.alice.pk).update(warned=True)
    page.goto("/warnings/")


VISITORS: Final[Mapping[str, Open]] = {
    "landing": at("/"),
    "rules": at("/rules/"),
    "about": at("/about/"),
    "notation": at("/notation/"),
    "privacy": at("/privacy/"),
    "api": at("/api/v1/docs"),
    "invitation": _invitation,
    "invited": _invited,
    "name-refused": _name_refused,
    "log-in": at("/accounts/login/"),
    "sign-up": at("/accounts/signup/"),
    "stop-mails": _stop_mails,
    "guest-logs-out": _guest_logs_out,
    "guest-is-asked-again": at("/accounts/logout/?lose=1"),
    "move-seats": _move_seats,
    "leave-seats-behind": _leave_seats_behind,
}
"""Pages of visitors and guests. The last four are two pages of each of two guests, and the first logs the guest in."""
# The games of "home-20" are there for "finished".
GAMES: Final[Mapping[str, Open]] = {
    "home": _home,
    "home-20": _home_with_20_games,
    "finished": at("/?finished=1"),
    "new-table": at("/tables/new/"),
    "new-table-conflict": _conflict,
    "log": _log,
    "replay": _replay("?n=20"),
}
TABLES: Final[Mapping[str, Open]] = {
    "lobby": _lobby,
    "orders-before-the-start": _orders_before_the_start,
    "my-turn": game(MANY),
    "color-chooser": game(MANY, "?choose=W6"),
    "swap-chooser": game(MANY, "?choose=r7"),
    "straight-chooser": game(FOUR_HANDS_AND_A_STRAIGHT, "?choose=r4,r5", preset="house-party"),
    "question": game(MANY, "?choose=draw"),
    "dark-side": game(DARK_SIDE, preset="flip"),
    "dark-chooser": game(DARK_SIDE, "?choose=W", preset="flip"),
    "no-color": game({**DARK_SIDE, "discard_pile": ["y4/W"]}, preset="flip"),
    "stack": game(STACK, target=1000),
    "waiting": game({**MANY, "turn": 1}),
    "paused": _paused,
    "bot-plays": _bot_plays,
    "standing-orders": _orders,
    "pending-orders": _pending_orders,
    "locked-cards": game({**FOUR_HANDS_AND_A_STRAIGHT, "turn": 1}, preset="house-party", pace="live"),
    "buzzer": game({**RACE, "hands": [*RACE["hands"], ["g7"]], "buzz": {"by": 0, "pressed": [2]}}, **RACING),
    "over": _over,
}
"""Pages of a table. `test_covered_controls.py` has more of its states."""
ACCOUNT: Final[Mapping[str, Open]] = {
    "account": _account,
    "time-off": at("/accounts/me/rest/"),
    "sessions": at("/accounts/me/sessions/"),
    "program": at("/accounts/me/program/"),
    "confirm": at("/accounts/reauthenticate/?next=/accounts/email/"),
    "my-data": _confirmed("/accounts/me/data/"),
    "delete-account": _confirmed("/accounts/me/delete/"),
    "addresses-to-change": _addresses_to_change,
    "new-token": _confirmed("/accounts/me/tokens/"),
    "made-token": _made_token,
    "change-password": at("/accounts/password/change/"),
    "no-notices": at("/notices/"),
    "notices": _notices,
    "notice-settings": _notice_settings,
    "devices": _devices,
    "no-hook": at("/notices/settings/hook/"),
    "hook": _hook(ok_at=datetime(2026, 11, 21, tzinfo=UTC)),
    "hook-stopped": _hook(stopped_at=datetime(2026, 11, 21, tzinfo=UTC), failures=10, last_error="error_4xx"),
    "report": _report,
    "profile": _profile(""),
    "report-person": _profile("report/"),
    "resign": _resign,
    "not-found": at("/games/nothere/"),
    "appeals": _appeals,
    "reports": _reports,
    "warnings": _warnings,
    "suspended": _suspended,
}
"""Pages of an account. The last three put a line on all pages or, while Alice is suspended, replace them."""
PLACES: Final[Mapping[str, Mapping[str, Open]]] = {
    "visitors": VISITORS, "games": GAMES, "tables": TABLES, "account": ACCOUNT,
}  # fmt: skip

IN_EVERY_BROWSER: Final[Mapping[str, Visit]] = {
    "home": _home,
    "game": game(MANY),
    "new-table": at("/tables/new/"),
    "lobby": _lobby,
    "replay": _replay("?n=20"),
    "account": at("/accounts/me/"),
}
"""The pages that are opened in Firefox and WebKit too, of which only that of a game in the short run."""
