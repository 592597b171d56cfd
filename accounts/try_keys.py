"""The keys (`tries.Key`) that a wrong password or code counts against."""

from __future__ import annotations

from django.http import HttpRequest

from accounts import known_browsers, queries
from accounts.backends import people_for_login
from accounts.models import User
from accounts.origin import address_of
from accounts.tries import Key
from common.limits import WRONG_BY_ADDRESS, WRONG_BY_BROWSER, WRONG_BY_NAME, WRONG_BY_PERSON, WRONG_IN_KNOWN
from mail.addresses import canonical


def log_in(request: HttpRequest, login: str) -> list[Key]:
    """Return the keys for a wrong password at a log-in by this username or mail address."""
    if known_browsers.may_be_known(request):
        people = people_for_login(login)
        # Only if no other account is tried: anybody can get any number of browsers known to an account of theirs.
        browser = known_browsers.known_as(request, people[0]) if len(people) == 1 else None
        if browser is not None:
            return [Key.of(WRONG_BY_BROWSER, browser)]
    return [Key.of(WRONG_BY_ADDRESS, address_of(request)), _name(login)]


def second_factor(request: HttpRequest, user: User) -> list[Key]:
    """Return the keys for a wrong code of a second factor.

    All browsers known to a person share one count, so that more of them give no more tries.
    """
    if known_browsers.known_as(request, user) is not None:
        return [Key.of(WRONG_IN_KNOWN, user.pk)]
    return [Key.of(WRONG_BY_ADDRESS, address_of(request)), Key.of(WRONG_BY_PERSON, user.pk)]


def password_again(request: HttpRequest, user: User) -> list[Key]:
    """Return the keys for a wrong password of a user who is logged in and is asked for it again."""
    browser = known_browsers.known_as(request, user)
    return [Key.of(WRONG_BY_PERSON, user.pk) if browser is None else Key.of(WRONG_BY_BROWSER, browser)]


def names_of(user: User) -> list[Key]:
    """Return the keys that strangers may have used up by guessing this account's password.

    These are the username and the confirmed addresses. Addresses that are only claimed are left out: claiming one must
    not clear its count.
    """
    # Without the count of wrong codes: a thief with access to the mailbox could clear it by resetting the password.
    return [_name(name) for name in (user.username, *queries.confirmed_addresses(user))]


def _name(login: str) -> Key:
    # One key for all spellings that `backends.people_for_login` treats alike: a username in any case, and an address
    # with any spelling of its domain.
    return Key.of(WRONG_BY_NAME, canonical(login))
