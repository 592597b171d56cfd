"""Every link in a mail begins with `SITE_URL`, whatever the Host header of the request."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts import mails
from accounts.models import AccountMail, User
from games.models import Notice
from games.notices import player_notices, preferences
from games.notices.kinds import DIGEST, KINDS, WORKS
from mail import outbox
from tests.support import account_pages as pages
from tests.support.account_pages import claim, confirmed
from tests.support.codes import confirmed_browser
from tests.support.mail import parsed, text_of
from tests.support.notices import won
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

HOSTILE = {
    "HTTP_HOST": "other.example:6666",
    "HTTP_X_FORWARDED_HOST": "evil.example",
    "HTTP_X_FORWARDED_PORT": "6666",
    "HTTP_X_FORWARDED_PROTO": "https",
    "HTTP_FORWARDED": "host=evil.example;proto=https",
    "SERVER_PORT": "6666",
}


def ask_for_everything(alice: User) -> None:
    """Queue a mail of each kind by requests with another Host header."""
    newcomer = Client(headers=None, **HOSTILE)  # type: ignore[arg-type]  # what goes into each request
    assert pages.sign_up(newcomer, email="dora@example.org").status_code == 302
    for address in (alice.email, "dora@example.org"):
        assert newcomer.post("/accounts/password/reset/", {"email": address}).status_code == 302
    browser = confirmed_browser(alice)
    browser.defaults |= HOSTILE
    for address in ("new@example.org", "dora@example.org"):
        assert pages.change_address(browser, "add", address).status_code == 302
    preferences.mark_bounced(address=alice.email, now=timezone.now())
    assert browser.post("/notices/settings/works/").status_code == 303
    assert pages.change_password(browser) == 302
    for kind in mails.KINDS.values():
        if kind.sentence and kind.name != "account/email/password_changed":
            facts = dict.fromkeys(kind.facts, "a@example.org")
            mails.queue(kind=kind.name, address=alice.email, user=alice, facts=facts, now=timezone.now())


@pytest.mark.long
@pytest.mark.parametrize("site", ["https://play.example", "http://play.example:8080"])
def test_every_link_in_mails_is_of_the_site_url(settings: Settings, alice: User, bob: User, site: str) -> None:
    settings.SITE_URL = site
    settings.ALLOWED_HOSTS = ["play.example", "other.example"]
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    confirmed(alice)
    claim(bob, "taken@example.org", verified=True)
    ask_for_everything(alice)
    asker = confirmed_browser(alice)
    asker.defaults |= HOSTILE
    assert pages.change_address(asker, "add", "taken@example.org").status_code == 302
    outbox.deliver(clock=timezone.now)
    table = table_at(TWO_HANDS, [bob, alice], deadline=NOON + timedelta(days=1))
    notices = [
        player_notices.NewNotice(bob.pk, kind) if one.turn else won(bob.pk, "Ada", kind)
        for kind, one in KINDS.items()
        if kind != DIGEST
    ]
    preferences.choose(user=bob, choices={f"{kind}.email": True for kind in KINDS}, digest_hour=13, now=NOON)
    player_notices.write(table.game, notices, now=NOON)
    outbox.deliver(clock=lambda: NOON)

    asked = set(AccountMail.objects.filter(state="sent").values_list("kind", flat=True))
    assert asked == {*mails.KINDS, WORKS}
    assert len(mail.outbox) >= len(mails.KINDS) + 2
    seen = 0
    for message in mail.outbox:
        sent = parsed(message.message().as_bytes())
        head = "\n".join(f"{name}: {value}" for name, value in sent.items() if name not in {"From", "Message-ID"})
        html = text_of(sent, "html") if sent.get_body(("html",)) else ""
        text = "\n".join([head, text_of(sent), html])
        not_random = re.sub(r"/(?:mail/\w+|confirm-email|password/reset/key)/\S+|={15}\d+==", "", text)
        assert not re.search(r"6666|evil|other\.example", not_random), text
        found = re.findall(r"https?://[^/\s\"<>]+", text)
        seen += len(found)
        assert set(found) <= {site}, text
        assert "No Mercy at play.example" in text, text
        assert f"@{site.split('://')[1].split(':', maxsplit=1)[0]}>" in sent["Message-ID"]
    assert seen > len(mail.outbox)
    assert Notice.objects.filter(channel="email", state="sent").exists()
