"""`manage.py createsuperuser`: a superuser can log in, get mail, and open the staff pages."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.management.commands import createsuperuser as of_django
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.test import Client

from accounts import queries
from accounts.models import User
from mail.channels.email import MailAddress, mail_addresses
from tests.support import account_pages as pages
from tests.support.account_pages import who
from tests.support.codes import staff_browser

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse 9 battery"


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)


def create_superuser(username: str = "rita", email: str = "rita@example.org") -> User:
    call_command("createsuperuser", interactive=False, username=username, email=email, verbosity=0)
    return User.objects.get(is_superuser=True)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def answer_prompts(
    monkeypatch: pytest.MonkeyPatch, *lines: str, type_password: Callable[[str], str] = lambda prompt: PASSWORD
) -> str:
    """Type these lines and the password, and return the errors of the command."""
    answers: Iterator[str] = iter(lines)
    monkeypatch.setattr("builtins.input", lambda message: next(answers))
    monkeypatch.setattr(of_django.getpass, "getpass", lambda prompt="": type_password(prompt))
    output = io.StringIO()
    call_command("createsuperuser", stdin=Terminal(), stdout=io.StringIO(), stderr=output)
    assert next(answers, None) is None
    return output.getvalue()


def test_no_superuser_is_created_if_the_address_cannot_be_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_to_create(**fields: object) -> None:
        raise OperationalError("the connection is closed")

    with monkeypatch.context() as fault:
        fault.setattr(EmailAddress.objects, "create", fail_to_create)
        with pytest.raises(OperationalError):
            create_superuser()
    assert not User.objects.exists()
    assert queries.holder_of("rita@example.org") is None
    assert create_superuser().email == "rita@example.org"


def test_typing_has_no_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 60000")
    allowed = []

    def type_password(prompt: str = "") -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW idle_in_transaction_session_timeout")
            allowed.extend(cursor.fetchone())
        return PASSWORD

    answer_prompts(monkeypatch, "rita", "rita@example.org", type_password=type_password)
    assert allowed == ["0", "0"]


@pytest.mark.long
@pytest.mark.parametrize("verification", ["none", "optional", "mandatory"])
def test_a_superuser_logs_in_at_once_by_name_or_address(settings: Any, verification: str) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    create_superuser(email="Rita@Example.ORG")
    for name in ("rita", "Rita@Example.org"):
        browser = Client()
        answer = browser.post("/accounts/login/?next=/admin/", {"login": name, "password": PASSWORD})
        assert (answer.status_code, answer.headers["Location"], who(browser)) == (302, "/admin/", "rita")
    assert pages.new_mails() == []
    browser.post(pages.CONFIRM, {"password": PASSWORD})
    assert browser.get("/admin/", follow=True).redirect_chain[-1][0] == "/accounts/2fa/totp/activate/"


@pytest.mark.long
def test_mail_goes_to_the_address_and_the_address_can_be_changed(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    person = create_superuser()
    assert mail_addresses([person.pk])[person.pk] == MailAddress("rita@example.org", verified=True)
    browser = staff_browser(person)  # with the second factor that the staff pages ask for
    assert pages.change_address(browser, "add", "new@example.org").status_code == 302
    (sent,) = (message for message in pages.new_mails() if message.to == ["new@example.org"])
    (link,) = pages.links_to("confirm-email", sent)
    browser.post(link)
    pages.change_address(browser, "primary", "new@example.org")
    assert mail_addresses([person.pk])[person.pk] == MailAddress("new@example.org", verified=True)


def test_an_address_is_required_if_log_in_needs_one(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    with pytest.raises(CommandError, match="mandatory nobody can log in"):
        create_superuser(email="")
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    assert create_superuser(email="").email == ""
    assert not EmailAddress.objects.exists()
    assert pages.log_in(Client(), "rita", PASSWORD).status_code == 302


def test_an_address_may_come_from_the_environment(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    monkeypatch.setenv("DJANGO_SUPERUSER_EMAIL", "rita@example.org")
    monkeypatch.setenv("DJANGO_SUPERUSER_USERNAME", "rita")
    call_command("createsuperuser", interactive=False, verbosity=0)
    assert EmailAddress.objects.get().verified


@pytest.mark.parametrize(
    ("username", "email", "says"),
    [
        ("Rita", "rita@example.org", "in lowercase: rita"),
        ("alice", "rita@example.org", "already taken"),
        ("wonder", "rita@example.org", "Somebody else goes by this name"),
        ("rita", "alice@example.org", "Another account has confirmed this address"),
        ("rita", "ritä@example.org", "only unaccented letters"),
        ("rita", "=?utf-8?q?r?=ita@example.org", "Enter a valid email address"),
    ],
)
def test_a_taken_name_or_address_is_refused(alice: User, username: str, email: str, says: str) -> None:
    User.objects.filter(pk=alice.pk).update(display_name="Wonder")
    EmailAddress.objects.create(user=alice, email=alice.email, primary=True, verified=True)
    with pytest.raises(CommandError, match=says):
        create_superuser(username, email)
    assert User.objects.get() == alice


def test_the_prompts_are_repeated_after_a_bad_answer(
    settings: Any, monkeypatch: pytest.MonkeyPatch, alice: User
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    output = answer_prompts(monkeypatch, "Rita", "alice", "rita", "", "rita@", "rita@example.org")
    assert output.splitlines() == [
        "Error: Usernames are in lowercase: rita",
        "Error: That username is already taken.",
        "Error: Give an address: with EMAIL_VERIFICATION=mandatory nobody can log in without one.",
        "Error: Enter a valid email address.",
    ]
    assert EmailAddress.objects.get().user == User.objects.get(username="rita", is_superuser=True)
