"""Mails about accounts: queued by a request, limited, and sent by the outbox."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import allauth
import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core import mail
from django.db import connection
from django.db.models.signals import post_init
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import DjangoCaptureOnCommitCallbacks, Settings

from accounts import actions, mails, queries
from accounts.models import AccountMail, CountedTry, User
from accounts.tries import Key
from common.limits import CONFIRMATIONS, MAILS_BY_PERSON, Limit, TooManyTries
from games.notices.kinds import WORKS
from mail import outbox
from mail.addresses import canonical, mailbox_of, validate_address
from mail.channels.email import mail_addresses
from tests.conftest import logged_in, person
from tests.support import account_pages as pages
from tests.support.account_pages import claim, confirmed, who
from tests.support.codes import confirmed_browser, totp

pytestmark = pytest.mark.django_db

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NO_SERVER = "tests.support.mail.NoServer"
NOT_HERE = {
    # What this site does not use: codes by mail, security keys, mails to addresses without an account.
    "account/email/login_code",
    "account/email/password_reset_code",
    "account/email/unknown_account",
    "mfa/email/webauthn_added",
    "mfa/email/webauthn_removed",
    # What `accounts.mails` says in the mails to confirm an address.
    "account/email/account_already_exists",
    "account/email/email_confirmation_signup",
}


@pytest.fixture
def limits(settings: Settings) -> None:
    """Turn on the limits, which are off in other tests."""
    settings.RATE_LIMITS = 100


def sign_up(username: str, email: str, browser: Client | None = None) -> Client:
    browser = browser or Client()
    assert pages.sign_up(browser, username, email=email).status_code == 302
    return browser


def deliver(after: timedelta = timedelta(), since: datetime | None = None) -> list[str]:
    """Send what is due `after` from now (or from `since`), and return the address of each new mail."""
    before = len(mail.outbox)
    outbox.deliver(clock=lambda: (since or timezone.now()) + after)
    return [message.to[0] for message in mail.outbox[before:]]


# No mail is sent inside a request


def test_every_kind_has_a_sentence_or_a_layout_of_its_own() -> None:
    assert {name for name, kind in mails.KINDS.items() if not kind.sentence} == {mails.CONFIRM, mails.RESET}


def test_every_mail_of_allauth_has_a_kind_here() -> None:
    packages = Path(allauth.__file__).parent
    code = "".join(
        path.read_text() for part in ("account", "mfa", "socialaccount") for path in (packages / part).rglob("*.py")
    )
    asked = set(re.findall(r'"((?:account|mfa|socialaccount)/email/\w+)"', code))
    assert len(asked) > 12
    assert asked - NOT_HERE <= set(mails.KINDS)


@pytest.mark.long
@pytest.mark.parametrize("verification", ["none", "optional", "mandatory"])
def test_pages_work_without_the_mail_server(
    settings: Settings,
    verification: str,
    alice: User,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.EMAIL_BACKEND = NO_SERVER
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    confirmed(alice)
    asked_for: dict[str, list[str]] = {}

    def posted(browser: Client, path: str, form: dict[str, str]) -> None:
        before = set(AccountMail.objects.values_list("pk", flat=True))
        with django_capture_on_commit_callbacks(execute=True):
            assert browser.post(path, form).status_code == 302, path
        new = AccountMail.objects.exclude(pk__in=before).order_by("pk").values_list("kind", flat=True)
        asked_for[" ".join([path, *(name for name in form if name.startswith("action"))])] = list(new)

    posted(Client(), pages.SIGN_UP, {"username": "dora", "email": "dora@example.org", **pages.NEW_PASSWORD})
    posted(Client(), pages.LOG_IN, {"login": "dora", "password": pages.PASSWORD})
    for address in ("alice@example.org", "nobody@example.org"):
        posted(Client(), pages.RESET, {"email": address})
    browser = Client()
    posted(browser, pages.LOG_IN, {"login": "alice", "password": "alice"})
    posted(browser, pages.CONFIRM, {"password": "alice"})
    new = {"email": "new@example.org"}
    posted(browser, pages.EMAIL, {"action_add": "", **new})
    posted(browser, pages.EMAIL, {"action_send": "", **new})
    EmailAddress.objects.filter(**new).update(verified=True)
    posted(browser, pages.EMAIL, {"action_primary": "", **new})
    posted(browser, pages.EMAIL, {"action_remove": "", "email": "alice@example.org"})
    posted(browser, pages.SET_UP, {"code": totp(browser.get(pages.SET_UP).context["form"].secret)})
    posted(browser, pages.MAKE_CODES, {})
    posted(browser, pages.TURN_OFF, {})
    posted(browser, pages.CHANGE, {"oldpassword": "alice", **pages.NEW_PASSWORD})
    User.objects.filter(pk=alice.pk).update(password="!")
    posted(logged_in(queries.reread_user(alice.pk)), pages.SET, pages.NEW_PASSWORD)
    row = AccountMail.objects.filter(kind=mails.RESET, address="alice@example.org").latest("pk")
    row.address = "new@example.org"
    letter = mails.build(row, now=timezone.now())
    assert letter is not None
    (link,) = pages.links_to("password/reset/key", letter)
    reset = Client()
    posted(reset, reset.get(link).headers["Location"], pages.NEW_PASSWORD)

    reset_page = next(path for path in asked_for if "set-password" in path)
    confirm = [mails.CONFIRM]
    assert asked_for == {
        "/accounts/signup/": [] if verification == "none" else confirm,
        "/accounts/login/": [],
        "/accounts/password/reset/": [mails.RESET],
        "/accounts/reauthenticate/": [],
        "/accounts/email/ action_add": [*confirm, mails.ADDED],
        "/accounts/email/ action_send": confirm,
        "/accounts/email/ action_primary": ["account/email/email_changed"] * 2,  # to both addresses
        "/accounts/email/ action_remove": [mails.DELETED] * 2,
        "/accounts/2fa/recovery-codes/generate/": ["mfa/email/recovery_codes_generated"],
        "/accounts/2fa/totp/activate/": ["mfa/email/totp_activated"],
        "/accounts/2fa/totp/deactivate/": ["mfa/email/totp_deactivated"],
        "/accounts/password/change/": ["account/email/password_changed"],
        "/accounts/password/set/": ["account/email/password_set"],
        reset_page: ["account/email/password_reset"],
    }
    assert deliver() == []
    assert set(AccountMail.objects.values_list("state", flat=True)) == {"waiting", "dropped"}


@pytest.mark.long
def test_mails_that_waited_for_the_server_are_sent_once(optional: None, alice: User) -> None:
    confirmed(alice)
    with override_settings(EMAIL_BACKEND=NO_SERVER):
        sign_up("dora", "dora@example.org")
        pages.ask_reset("alice@example.org")
        assert deliver() == []
    assert AccountMail.objects.filter(state="waiting", tries=0).count() == 2
    assert deliver(timedelta(minutes=1)) == ["dora@example.org", "alice@example.org"]
    assert deliver(timedelta(minutes=2)) == []


# Signing up


@pytest.mark.parametrize(("asks", "is_guest"), [("optional", False), ("mandatory", False), ("mandatory", True)])
def test_after_signing_up_a_button_sends_the_mail_again(settings: Settings, asks: str, is_guest: bool) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = asks
    browser = sign_up("dora", "dora@example.org", logged_in(actions.create_guest()) if is_guest else None)
    before, after = ("/", pages.EMAIL) if asks == "optional" else (pages.CONFIRM_ADDRESS, pages.CONFIRM_ADDRESS)
    page = browser.get(before).content.decode()
    assert "Your account has been created. We are sending an email to dora@example.org" in page
    assert f'<form method="post" action="{pages.SEND_AGAIN}">' in page
    assert deliver() == ["dora@example.org"]
    assert browser.post(pages.SEND_AGAIN).headers["Location"] == after
    assert "We are sending an email to dora@example.org" in browser.get(after).content.decode()
    assert deliver() == ["dora@example.org"]


def test_the_button_does_nothing_for_other_visitors(alice: User) -> None:
    assert Client().post(pages.SEND_AGAIN).headers["Location"] == pages.LOG_IN
    confirmed(alice)
    assert logged_in(alice).post(pages.SEND_AGAIN).headers["Location"] == pages.EMAIL
    assert deliver() == []


# One mail for an address, which lists its accounts


@pytest.mark.long
def test_a_reset_mail_lists_all_accounts_of_an_unconfirmed_address(optional: None) -> None:
    for n in range(7):
        sign_up(f"dora{n}", "dora@example.org")
    AccountMail.objects.all().delete()
    for _ in range(3):
        pages.ask_reset("dora@example.org")
    assert deliver() == ["dora@example.org"]
    found = pages.links_to("password/reset/key", mail.outbox[-1])
    assert len(found) == queries.MOST_CLAIMS == 5
    assert re.findall(r"dora\d", str(mail.outbox[-1].body)) == [f"dora{n}" for n in range(5)]
    for link in found:
        assert "set-password" in Client().get(link).headers["Location"]


def test_a_reset_mail_to_a_confirmed_address_is_for_its_account_only(alice: User, bob: User) -> None:
    confirmed(alice)
    claim(bob, alice.email)
    pages.ask_reset("ALICE@example.org")
    assert deliver() == ["alice@example.org"]
    text = str(mail.outbox[-1].body)
    assert "the account alice" in text
    assert "bob" not in text
    # A second address may belong to somebody else, because people mistype addresses.
    claim(alice, "alcie@example.org")
    pages.ask_reset("alcie@example.org")
    assert deliver() == []
    EmailAddress.objects.filter(email=alice.email).update(verified=False)
    pages.ask_reset("alcie@example.org")
    assert deliver() == ["alcie@example.org"]


@pytest.mark.parametrize("kind", [mails.RESET, mails.CONFIRM, WORKS])
def test_a_mail_says_until_when_its_links_work(alice: User, kind: str) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Europe/Berlin")
    claim(alice, primary=True)
    now = timezone.now()
    user = queries.reread_user(alice.pk)
    mails.queue(kind=kind, address=alice.email, user=None if kind == mails.RESET else user, now=now)
    outbox.deliver(clock=lambda: now)
    text = str(mail.outbox[-1].body)
    end = (now + 3 * DAY).astimezone(ZoneInfo("Europe/Berlin"))
    assert f"until {end:%A} {end.day} {end:%B, %H:%M} (Europe/Berlin)." in text
    assert "three days" not in text


def test_an_address_without_an_account_gets_no_mail() -> None:
    pages.ask_reset("nobody@example.org")
    assert deliver() == []
    assert AccountMail.objects.get().reason == "nothing"


def accounts_in(message: Any) -> list[str]:
    """Return the usernames that a confirmation lists, in order."""
    return re.findall(r"(?:the account )?(\w+)(?:: http| at No Mercy\. If)", str(message.body))


@pytest.mark.long
def test_a_confirmation_lists_ten_accounts_and_the_next_one_lists_the_others(optional: None) -> None:
    for n in range(12):
        sign_up(f"dora{n}", "dora@example.org")
    assert deliver() == ["dora@example.org"] * 2
    assert [accounts_in(message) for message in mail.outbox] == [
        [f"dora{n}" for n in range(10)],
        ["dora10", "dora11"],
    ]
    Client().post(pages.links_to("confirm-email", mail.outbox[0])[3])
    assert EmailAddress.objects.get(verified=True).user.username == "dora3"


@pytest.mark.long
def test_a_confirmation_that_is_sent_again_lists_the_same_accounts(optional: None) -> None:
    for n in range(3):
        sign_up(f"dora{n}", "dora@example.org")
    with override_settings(EMAIL_BACKEND=NO_SERVER):
        assert deliver() == []
    sign_up("dora3", "dora@example.org")
    assert deliver(timedelta(minutes=1)) == ["dora@example.org"]
    assert accounts_in(mail.outbox[-1]) == [f"dora{n}" for n in range(4)]


def test_an_unconfirmed_address_can_log_in_a_limited_number_of_accounts(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    for n in range(7):
        claimant(f"dora{n}", "dora@example.org")
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode

    def count(self: MD5PasswordHasher, password: str, salt: str) -> str:
        hashed.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", count)
    assert pages.log_in(Client(), "dora@example.org", "x").status_code == 200
    assert len(hashed) == queries.MOST_CLAIMS + 1  # and one for a username that nobody has
    for name, status in (("dora4", 302), ("dora5", 200)):
        assert pages.log_in(Client(), "dora@example.org", name).status_code == status


# At most three of a kind an hour


@pytest.mark.long
@pytest.mark.parametrize(
    ("is_confirmed", "written"),
    [
        (True, "alice@example.org"),
        (False, "alice@example.org"),
        (False, "alice@ＥXAMPLE.org"),
        (False, "alice+n@example.org"),
    ],
)
def test_all_spellings_of_a_mailbox_together_get_three_reset_mails_an_hour(
    limits: None, is_confirmed: bool, written: str, alice: User
) -> None:
    sent = []
    for n in range(6):
        address = written.replace("n@", f"{n}@")
        defaults = {"verified": is_confirmed, "primary": is_confirmed}
        EmailAddress.objects.get_or_create(user=alice, email=canonical(address), defaults=defaults)
        pages.ask_reset(address)
        sent += deliver()
    assert len(sent) == 3
    assert AccountMail.objects.filter(reason="enough").count() == 3
    # A request for the same address is dropped, one for another spelling waits for its turn.
    assert len(deliver(HOUR)) == (3 if "+" in written else 0)
    pages.ask_reset("alice@example.org")
    assert len(deliver(HOUR)) == (0 if "+" in written else 1)


ENCODED = "=?utf-8?q?=61lice?=@example.org"
"""Django sends this to alice@example.org, because it decodes RFC 2047."""


def test_a_log_in_by_another_spelling_adds_no_address(alice: User, settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    confirmed(alice)
    browser = Client()
    answer = pages.log_in(browser, "Alice@ｅxample.org", "alice")
    assert (answer.headers["Location"], who(browser)) == ("/", "alice")
    assert queries.addresses_of(alice) == ["alice@example.org"]
    assert not AccountMail.objects.exists()


REFUSED = {
    "Enter a valid email address.": [
        *('"alice"@example.org', '"\\alice"@example.org', "alice@[127.0.0.1]", "alice@example.org\u3002", ENCODED),
        *("=?us-ascii?b?YWxpY2U=?=@example.org", "=?utf-8?q?al?=ice@example.org"),
        *("=?utf-8?q?a=0Alice?=@example.org", "=?utf-8?q?=c3=a4?=@example.org"),
    ],
    "a domain with this letter": [f"dora@{name}.example" for name in ("straße", "STRAẞE", "ς", "a\u200db")],
}
"""Addresses that have any number of spellings, or whose mail would go to another domain than the one written."""


@pytest.mark.long
def test_an_address_that_is_not_the_only_spelling_is_refused(alice: User) -> None:
    forms: tuple[tuple[Client, str, dict[str, str]], ...] = (
        (Client(), pages.SIGN_UP, {"username": "dora", **pages.NEW_PASSWORD}),
        (Client(), pages.RESET, {}),
        (confirmed_browser(alice), pages.EMAIL, {"action_add": ""}),
    )
    for sentence, addresses in REFUSED.items():
        for number, address in enumerate(addresses):
            for browser, path, form in forms[:1] if number else forms:
                answer = browser.post(path, {**form, "email": address})
                assert (answer.status_code, sentence in answer.content.decode()) == (200, True), (path, address)
    assert not AccountMail.objects.exists()


def test_an_address_is_accepted_if_mail_goes_to_it(alice: User) -> None:
    for domain in ("bücher.example", "BÜCHER.example", "ｅxample.org", "xn--strae-oqa.example", "例え.テスト"):
        validate_address(f"dora@{domain}")
    browser = confirmed_browser(alice)
    for address in ("alice@bücher.example", "alice@xn--strae-oqa.example", "ann@EXAMPLE.org", "a=?b?=@example.org"):
        assert pages.change_address(browser, "add", address).status_code == 302, address
        assert EmailAddress.objects.filter(email=canonical(address)).exists(), address


def test_a_stored_address_that_another_one_gets_the_mail_of_gets_none(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(email=ENCODED)
    confirmed(alice, ENCODED)
    for kind in (mails.CONFIRM, mails.RESET, WORKS, "account/email/password_changed"):
        mails.queue(kind=kind, address=ENCODED, user=alice, now=timezone.now())
    assert deliver() == []
    assert set(AccountMail.objects.values_list("state", "reason")) == {("dropped", "nothing")}
    assert mail_addresses([alice.pk]) == {}


@pytest.mark.long
def test_a_confirmation_waits_while_the_limit_is_used_up(limits: None, optional: None) -> None:
    for n in range(3):
        sign_up(f"mallory{n}", "dora@example.org")
        assert deliver() == ["dora@example.org"]
    sign_up("mallory3", "dora@example.org")
    sign_up("dora", "dora@example.org")
    assert deliver() == []
    assert deliver(timedelta(minutes=59)) == []
    assert deliver(HOUR) == ["dora@example.org"]  # one for both
    assert "dora: http" in str(mail.outbox[-1].body)
    assert deliver(HOUR) == []


def claimant(name: str, address: str) -> User:
    """Create an account that claims this address."""
    user = person(name)
    claim(user, address)
    return user


@pytest.mark.long
def test_accounts_of_strangers_do_not_delay_the_owner_of_an_address(limits: None) -> None:
    address, minute = "dora@example.org", timedelta(minutes=1)
    strangers = [claimant(f"mallory{n}", address) for n in range(12)]
    dora = claimant("dora", address)
    start = timezone.now()

    def ask(users: list[User], after: timedelta) -> None:
        for user in users:
            with suppress(TooManyTries):
                mails.queue(kind=mails.CONFIRM, address=address, user=user, now=start + after)

    for n in range(3):
        ask(strangers[n : n + 1], n * minute)
        assert deliver(n * minute) == [address]
    ask([dora], 5 * minute)
    told: list[str] = []
    for n in range(6, 72, 6):
        ask(strangers, n * minute)
        deliver(n * minute)
        told = [name for message in mail.outbox for name in accounts_in(message)]
        if "dora" in told:
            break
    assert n == 60


@pytest.mark.long
def test_reset_requests_of_strangers_do_not_delay_the_owner_of_a_mailbox(limits: None, alice: User) -> None:
    confirmed(alice)
    spellings = [f"alice+{n}@example.org" for n in range(9)]
    for n, spelling in enumerate(spellings):
        claimant(f"mallory{n}", spelling)
        pages.ask_reset(spelling)
    assert deliver() == spellings[:3]
    pages.ask_reset(alice.email)
    pages.ask_reset("alice+nobody@example.org")
    assert deliver() == [alice.email]
    row = AccountMail.objects.get(address="alice+nobody@example.org")
    assert (row.state, row.reason) == ("dropped", "nothing")  # at once: it has no account to wait for
    assert deliver(timedelta(minutes=59)) == []
    assert deliver(HOUR) == spellings[3:6]
    assert deliver(2 * HOUR) == spellings[6:9]


@pytest.mark.long
def test_no_other_address_counts_as_a_confirmed_one(limits: None, alice: User) -> None:
    confirmed(alice)
    other = f"={alice.email}"
    claimant("mallory", other)
    for _ in range(3):
        pages.ask_reset(other)
        assert deliver() == [other]
    pages.ask_reset(alice.email)
    assert deliver() == [alice.email]


def ask_for_spellings(user: User, mailbox: str, most: int) -> datetime:
    """Ask for confirmations to many spellings of a mailbox from one network. Return the time of the last one."""
    now = timezone.now()
    spellings = [mailbox.replace("@", f"+{n}@") for n in range(most)]
    EmailAddress.objects.bulk_create(EmailAddress(user=user, email=spelling) for spelling in spellings)
    at = {"created_at": now, "due_at": now, "since": now}
    AccountMail.objects.bulk_create(
        AccountMail(kind=mails.CONFIRM, address=address, mailbox=mailbox, user=user, **at) for address in spellings
    )
    with connection.cursor() as cursor:  # or a plan made for a few rows may take 20 s
        cursor.execute("ANALYZE account_emailaddress, mail_delivery")
    return now


@contextmanager
def counted_work() -> Iterator[Counter[str]]:
    """Count the rows of mails that are read and the statements that are run in a block."""
    work: Counter[str] = Counter()

    def read(**_: object) -> None:
        work["rows"] += 1

    post_init.connect(read, sender=AccountMail)
    try:
        with CaptureQueriesContext(connection) as statements:
            yield work
    finally:
        post_init.disconnect(read, sender=AccountMail)
    work["statements"] = len(statements)


@pytest.mark.long
def test_a_thousand_waiting_mails_cost_little(limits: None, bob: User) -> None:
    start = ask_for_spellings(bob, "dora@example.org", 1000)
    dora = claimant("dora", "dora@example.org")
    for hour in range(3):
        with counted_work() as work:
            assert len(deliver(hour * (HOUR + timedelta(minutes=1)), start)) == 3
        assert work["rows"] <= 300, work
        assert work["statements"] <= 300, work
        with counted_work() as work:
            assert deliver(hour * (HOUR + timedelta(minutes=1)) + timedelta(minutes=1), start) == []
        assert work["rows"] == 0
    mails.queue(kind=mails.CONFIRM, address="dora@example.org", user=dora, now=start)
    with counted_work() as work:
        assert deliver(2 * HOUR + timedelta(minutes=10), start) == []
    assert work["rows"] <= 3, work


@pytest.mark.long
def test_all_mails_that_waited_too_long_are_dropped_at_once(limits: None, bob: User) -> None:
    ask_for_spellings(bob, "dora@example.org", 300)
    AccountMail.objects.update(created_at=timezone.now() - mails.LATEST)
    assert deliver() == []
    assert set(AccountMail.objects.values_list("state", "reason")) == {("dropped", "late")}


def test_a_mailbox_with_many_requests_delays_no_others(
    limits: None, monkeypatch: pytest.MonkeyPatch, alice: User, bob: User
) -> None:
    monkeypatch.setattr("mail.outbox.BATCH", 10)
    now = ask_for_spellings(bob, "dora@example.org", 30)
    claim(alice)
    mails.queue(kind=mails.CONFIRM, address=alice.email, user=alice, now=now)
    assert deliver() == [*(f"dora+{n}@example.org" for n in range(3)), alice.email]
    assert deliver(HOUR) == [f"dora+{n}@example.org" for n in range(3, 6)]


def test_a_person_who_asks_too_often_is_told_when_to_ask_again(limits: None, alice: User) -> None:
    browser = logged_in(alice)
    for _ in range(3):
        assert pages.change_address(browser, "send", alice.email).status_code == 302
    for refused in (pages.change_address(browser, "send", alice.email), browser.post(pages.SEND_AGAIN)):
        assert refused.status_code == 429
        assert 3500 < int(refused.headers["Retry-After"]) <= 3600
        assert "Too many emails of this kind to this address. Try again in 60 minutes." in refused.content.decode()
    assert AccountMail.objects.count() == 3


def test_an_owner_who_asks_for_too_many_reset_mails_is_told(limits: None, alice: User) -> None:
    confirmed(alice)
    browser = logged_in(alice)
    for _ in range(3):
        assert browser.post(pages.RESET, {"email": alice.email}).status_code == 302
    refused = browser.post(pages.RESET, {"email": alice.email})
    assert (refused.status_code, "to this address. Try again in 60 minutes." in refused.content.decode()) == (200, True)
    assert browser.post(pages.RESET, {"email": "bob@example.org"}).status_code == 302
    pages.ask_reset(alice.email)
    assert AccountMail.objects.filter(address=alice.email, user=alice).count() == 3


@pytest.mark.long
def test_requests_of_others_for_an_address_do_not_show(limits: None, optional: None, alice: User, bob: User) -> None:
    """Somebody who claims an address learns nothing about who else does, or has asked for it in the last hour."""

    def seen(user: User, address: str) -> list[tuple[int, str]]:
        browser = confirmed_browser(user)
        answers = [pages.change_address(browser, action, address) for action in ("add", *["send"] * 4)]
        deliver()
        answers += [browser.get(pages.EMAIL)]
        shown = [re.sub(r'value="[^"]*"|svg#\w+', "", answer.content.decode()) for answer in answers]
        return [(a.status_code, page.replace(address, "…")) for a, page in zip(answers, shown, strict=True)]

    for n in range(4):
        sign_up(f"dora{n}", "claimed@example.org")
        deliver()
    for user in (alice, bob):
        claim(user, f"{user.username}@example.org", primary=True)
    User.objects.filter(pk=bob.pk).update(username="alicf")
    free = seen(alice, "free@example.org")
    claimed = seen(queries.reread_user(bob.pk), "claimed@example.org")
    assert [status for status, _ in free] == [302, 302, 302, 429, 429, 200]
    assert [(s, p.replace("alicf", "alice").replace("bob@", "alice@")) for s, p in claimed] == free


@pytest.mark.parametrize("asks", ["optional", "mandatory"])
@pytest.mark.parametrize("guest", [False, True])
def test_a_network_can_ask_for_thirty_confirmations_an_hour(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, asks: str, guest: bool
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = asks
    settings.RATE_LIMITS = 10  # per cent: three an hour
    monkeypatch.setattr("accounts.address_forms.SIGN_UPS", Limit("sign-ups", "address", 1000))
    for n in range(3):
        sign_up(f"mallory{n}", f"victim{n}@example.org")
    browser = sign_up("dora", "dora@example.org", logged_in(actions.create_guest()) if guest else None)
    assert User.objects.filter(username="dora").exists()
    assert AccountMail.objects.filter(kind=mails.CONFIRM).count() == 3
    page = browser.get(pages.CONFIRM_ADDRESS if asks == "mandatory" else "/").content.decode()
    assert "send the email to" in page
    assert "We are sending" not in page
    assert ("Send the email</button>" if asks == "mandatory" else "Request it in an hour") in page
    assert browser.post(pages.SEND_AGAIN).status_code == 429
    CountedTry.objects.all().delete()  # as after an hour
    assert browser.post(pages.SEND_AGAIN).status_code == 302
    assert AccountMail.objects.filter(kind=mails.CONFIRM, address="dora@example.org").count() == 1
    if asks == "mandatory":
        assert "We are sending" in browser.get(pages.CONFIRM_ADDRESS).content.decode()


def test_a_network_can_ask_for_thirty_reset_mails_an_hour(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = 10
    monkeypatch.setattr("accounts.password_forms.RESETS_BY_ADDRESS", Limit("resets-address", "address", 1000))
    for n in range(3):
        pages.ask_reset(f"stranger{n}@example.org")
    refused = Client().post(pages.RESET, {"email": "another@example.org"})
    assert refused.status_code == 429
    assert "requests for a new password from your network. Try again in 60 minutes." in refused.content.decode()
    assert AccountMail.objects.filter(kind=mails.RESET).count() == 3


def test_adding_addresses_counts_for_the_network(settings: Settings, optional: None, alice: User) -> None:
    settings.RATE_LIMITS = 10
    CountedTry.objects.bulk_create(
        [CountedTry(key=Key.of(CONFIRMATIONS, "127.0.0.1").text, count=3, until=timezone.now() + HOUR)]
    )
    answer = pages.change_address(confirmed_browser(alice), "add", "n@example.org")
    assert answer.status_code == 429
    assert not EmailAddress.objects.filter(email="n@example.org").exists()


def test_an_account_can_ask_for_ten_confirmations_an_hour(limits: None, alice: User) -> None:
    for n in range(9):
        mails.queue(kind=mails.CONFIRM, address=f"n{n}@example.org", user=alice, now=timezone.now())
    browser = confirmed_browser(alice)
    for n in range(9, 12):
        answer = pages.change_address(browser, "add", f"n{n}@example.org")
        assert answer.status_code == (302 if n < 10 else 200), n
    assert "Too many emails of this kind for this account. Try again in 60 minutes." in answer.content.decode()
    assert not EmailAddress.objects.filter(email="n11@example.org").exists()
    assert AccountMail.objects.filter(kind=mails.CONFIRM).count() == MAILS_BY_PERSON.most == 10


def test_each_limit_has_its_own_window(limits: None, monkeypatch: pytest.MonkeyPatch, alice: User, bob: User) -> None:
    for module in ("accounts.mails", "accounts.due_mails"):
        monkeypatch.setattr(f"{module}.MAILS_TO_MAILBOX", Limit("mails-mailbox", "mailbox", 1, 7200))
    monkeypatch.setattr("accounts.mails.MAILS_BY_PERSON", Limit("mails-person", "person", 2, 120))
    now = timezone.now()

    def ask(user: User, address: str, at: datetime) -> int:
        """Return the seconds to wait, 0 if the mail is queued."""
        try:
            mails.queue(kind=mails.CONFIRM, address=address, user=user, now=at)
        except TooManyTries as many:
            return many.wait
        return 0

    for user in (alice, bob):
        claim(user, "n@example.org")
    assert ask(alice, "n@example.org", now) == 0
    assert deliver() == ["n@example.org"]
    assert ask(alice, "n@example.org", now + HOUR) == 3600
    assert ask(alice, "m@example.org", now) == 0
    assert ask(alice, "o@example.org", now) == 120
    assert ask(alice, "o@example.org", now + timedelta(seconds=121)) == 0
    assert ask(bob, "n@example.org", now) == 0
    assert deliver(HOUR + timedelta(minutes=59)) == []
    assert deliver(2 * HOUR + timedelta(minutes=1)) == ["n@example.org"]


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_simultaneous_senders_respect_the_limit(limits: None, alice: User) -> None:
    addresses = [f"alice+{n}@example.org" for n in range(8)]
    for address in addresses:
        claim(alice, address)
        pages.ask_reset(address)

    pages.sent_at_once([partial(outbox.deliver, clock=timezone.now)] * 4)
    deliver()
    assert len(mail.outbox) == 3


# What is stored, for how long, and what a restore holds


def test_no_token_is_stored(optional: None, alice: User) -> None:
    def stored() -> str:
        return " ".join(str(row) for row in AccountMail.objects.values_list())

    sign_up("dora", "dora@example.org")
    pages.ask_reset("alice@example.org")
    before = stored()
    deliver()
    for message in mail.outbox:
        (link,) = pages.links_to("(?:confirm-email|password/reset/key)", message)
        token = link.rstrip("/").rsplit("/", 1)[-1]
        # The address of a new password is the account's number, a hyphen, and the token.
        secret = token.partition("-")[2] if "/reset/" in link else token
        assert secret not in before + stored()
    assert "/accounts/" not in before + stored()
    assert len(mail.outbox) == 2


def test_a_row_is_deleted_a_day_after_its_mail() -> None:
    pages.ask_reset("nobody@example.org")
    now = timezone.now()
    assert mails.forget_old(now=now + 2 * DAY) == 0
    deliver()
    assert mails.forget_old(now=now + DAY - HOUR) == 0
    assert mails.forget_old(now=now + DAY + HOUR) == 1


def test_mails_are_held_after_a_restore(optional: None, alice: User, bob: User) -> None:
    outbox.hold(why="restored", now=timezone.now())
    sign_up("dora", "dora@example.org")
    pages.ask_reset("alice@example.org")
    AccountMail.objects.filter(kind=mails.RESET).update(created_at=timezone.now() - mails.LATEST)
    pages.ask_reset("bob@example.org")
    assert deliver() == []
    outbox.release()
    assert deliver() == ["dora@example.org", "bob@example.org"]
    assert AccountMail.objects.get(address="alice@example.org").reason == "late"


def test_a_mail_that_fails_does_not_block_others(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for user in (alice, bob):
        pages.ask_reset(user.email)
    made = mails.build

    def broken(row: AccountMail, **rest: Any) -> Any:
        return 1 / 0 if row.address == alice.email else made(row, **rest)

    monkeypatch.setattr(mails, "build", broken)
    assert deliver() == ["bob@example.org"]
    row = AccountMail.objects.get(address=alice.email)
    assert (row.state, row.reason, row.tries) == ("waiting", "again", 1)


# Notices


@pytest.mark.parametrize("is_confirmed", [True, False])
def test_a_notice_goes_only_to_a_confirmed_address(settings: Settings, alice: User, is_confirmed: bool) -> None:
    settings.MAIL_NEEDS_VERIFIED = True
    if is_confirmed:
        confirmed(alice)
    pages.change_password(logged_in(alice))
    assert deliver() == (["alice@example.org"] if is_confirmed else [])


def test_a_notice_says_what_changed_and_when_and_no_network_address(alice: User) -> None:
    confirmed(alice)
    User.objects.filter(pk=alice.pk).update(time_zone="Asia/Kolkata")
    browser = logged_in(queries.reread_user(alice.pk))
    browser.defaults |= {"REMOTE_ADDR": "192.0.2.7", "HTTP_USER_AGENT": "Netscape"}
    pages.change_password(browser)
    now = timezone.localtime(AccountMail.objects.get().created_at, ZoneInfo("Asia/Kolkata"))
    deliver()
    (message,) = mail.outbox
    text = str(message.body)
    assert message.subject == "Your password was changed"
    assert f"Your password was changed.\nThis happened on {now:%-d %B %Y} at {now:%H:%M} IST." in text
    assert "revokes its API tokens:\nhttp://127.0.0.1:8000/accounts/password/reset/\n" in text
    assert "192.0.2.7" not in text
    assert "Netscape" not in text


def test_an_unknown_kind_is_an_error(alice: User) -> None:
    with pytest.raises(KeyError):
        mails.queue(kind="account/email/surprise", address=alice.email, user=alice, now=timezone.now())
    with pytest.raises(KeyError):
        mails.queue(kind="account/email/email_deleted", address=alice.email, user=alice, now=timezone.now(), facts={})
    assert not AccountMail.objects.exists()


@pytest.mark.parametrize(
    ("address", "mailbox"),
    [
        ("Alice+news@Example.org", "alice@example.org"),
        ("a@XN--bcher-kva.de", "a@bücher.de"),
        ("A.lice.B+x@gmail.com", "aliceb@gmail.com"),
        ("al.iceb@GoogleMail.com", "aliceb@gmail.com"),
        ("a.b@example.org", "a.b@example.org"),
        ("+a@example.org", "+a@example.org"),
        ("=?utf-8?q?=61lice+n?=@example.org", "alice@example.org"),
        ("=?utf-8?q?=41.lice?=@gmail.com", "alice@gmail.com"),
        ("alice@example.org\u3002", "alice@example.org"),
        ("alice@stra\u00dfe.example", "alice@strasse.example"),
        ("nobody", "nobody"),
    ],
)
def test_all_spellings_of_a_mailbox_have_one_name(address: str, mailbox: str) -> None:
    assert mailbox_of(address) == mailbox
