"""A private game with a person in every role, and a row of everything that a URL can name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from allauth.mfa.models import Authenticator
from django.test import Client
from django.utils import timezone

from accounts import invitations
from accounts.models import SignUpInvitation, User
from games.actions import lobby
from games.models import Announcement, Appeal, AuditEntry, Case, Game, Invitation, Notice, Seat, Suspension, Warned
from games.notices import player_notices
from games.queries import Table, Viewer
from games.staff import appeals, cases, people
from mail.models import SITE
from tests.conftest import api_token, logged_in, person, staff
from tests.security.urls import Address
from tests.support.codes import staff_browser
from tests.support.passkeys import Device, store_passkey
from tests.support.push import set_up
from tests.support.tables import TWO_HANDS, table_at

ROLES: Final = (
    "anonymous", "seated", "opponent", "outsider", "spectator", "moderator", "seated moderator", "admin", "suspended",
)  # fmt: skip
WHY: Final = "To have something in every row"


def two_cards_each(people: Sequence[User]) -> Table:
    """Return a game of these three people where it is the first one's turn."""
    return table_at({**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3"], ["b2", "y7"]]}, people)


class World:
    """A game, people in every role with their browsers, and a row of everything that a URL can name.

    The game is private unless said otherwise. `deal` makes it for the "seated", the "opponent" and the "seated
    moderator", in this order.
    """

    def __init__(self, deal: Callable[[Sequence[User]], Table] = two_cards_each, *, public: bool = False) -> None:
        now = timezone.now()
        alice, bob, charlie, dora = (person(name) for name in ("alice", "bob", "charlie", "dora"))
        mo, mia, ann, eve = staff("mo", "moderator"), staff("mia", "moderator"), staff("ann", "admin"), person("eve")
        game = deal([alice, bob, mia]).game
        later = now + timedelta(hours=1)
        Game.objects.filter(pk=game.pk).update(is_public=public, host=alice, turn_since=now, deadline=later)
        Seat.objects.filter(game=game, index=1).update(misses=1)
        game.refresh_from_db()
        waiting = lobby.create_table(user=charlie, choices=lobby.TableChoices(), now=now).game
        case = cases.report(code=game.code, viewer=Viewer(alice), seat=1, kind="name", text=f"{WHY} of this.", now=now)
        people.warn(person_id=bob.pk, by=ann, reason=WHY, now=now)
        people.suspend(person_id=eve.pk, by=ann, days=9, reason=WHY, now=now)
        appeal = appeals.appeal(person_id=eve.pk, text=f"{WHY} of this.", now=now)
        player_notices.write(game, [player_notices.NewNotice(bob.pk, "staff_said", "said", {"words": WHY})], now=now)
        shown = Notice.objects.get(user=bob, kind="staff_said", channel=SITE)
        Notice.objects.filter(pk=shown.pk).update(state=Notice.State.SENT)
        Invitation.objects.create(pk=shown.pk, game=waiting, user=bob, at=now)  # the number in addresses is one
        set_up(bob, pk=shown.pk)
        api_token(alice)
        invitations.invite(user=bob, note=WHY, days=7, now=now)
        token = alice.api_tokens.get()
        factor = Authenticator.objects.create(user=bob, type=Authenticator.Type.TOTP, data={})
        self.arguments: dict[str, Any] = {
            "code": game.code, "key": game.invite_key, "username": bob.username,
            "link": f"join/{game.invite_key}", "tail": "/.",
            "token_id": token.pk, "uidb36": "1", "token": "no-such-token",
            "number": shown.pk, "pk": store_passkey(bob, Device("https://cards.example.org")).pk,
            "act": "hold", "person_id": bob.pk, "game_id": game.pk, "case_id": case.case_id,
            "appeal_id": appeal.pk, "app_label": "games", "url": "nowhere", "id": bob.pk, "content_type_id": 1,
        }  # fmt: skip
        self.objects: dict[str, Any] = {
            "accounts/user": bob.pk, "accounts/apitoken": token.pk, "mfa/authenticator": factor.pk,
            "games/game": game.pk, "games/round": game.round_id, "games/case": Case.objects.get().pk,
            "games/report": case.pk, "games/appeal": Appeal.objects.get().pk, "games/warned": Warned.objects.get().pk,
            "games/suspension": Suspension.objects.get().pk, "games/auditentry": AuditEntry.objects.earliest("pk").pk,
            "games/notice": Notice.objects.earliest("pk").pk,
            "games/announcement": Announcement.objects.create(pk=Announcement.NUMBER, text=WHY).pk,
            "accounts/signupinvitation": SignUpInvitation.objects.get().pk,
        }  # fmt: skip
        everybody = (None, alice, bob, charlie, dora, mo, mia, ann, eve)
        self.people: dict[str, User | None] = dict(zip(ROLES, everybody, strict=True))
        spectator = logged_in(dora)
        session = spectator.session
        session["links"] = [game.invite_key]
        session.save()
        self.browsers: dict[str, Client] = dict(
            zip(
                ROLES,
                (Client(), logged_in(alice), logged_in(bob), logged_in(charlie), spectator, staff_browser(mo),
                 staff_browser(mia), staff_browser(ann), logged_in(eve)),
                strict=True,
            )
        )  # fmt: skip

    def url(self, address: Address, act: str = "") -> str:
        """Return the URL of this route with the row that it names. Pages of acts are those of `act`."""
        values = dict(self.arguments)
        values["object_id"] = next((pk for name, pk in self.objects.items() if f"admin/{name}/" in address.route), 0)
        values["act"] = act or values["act"]
        return address.url(values)
