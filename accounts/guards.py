"""Whom a wrong password or code counts against."""

from __future__ import annotations

from django.http import HttpRequest

from accounts import browsers, queries
from accounts.addresses import canonical
from accounts.backends import people_called
from accounts.limits import WRONG_BY_ADDRESS, WRONG_BY_BROWSER, WRONG_BY_NAME, WRONG_BY_PERSON
from accounts.models import User
from accounts.origin import address_of
from accounts.tries import Key


def log_in(request: HttpRequest, login: str) -> list[Key]:
    """Return what a wrong password for this username or mail address counts against."""
    if browsers.may_be_known(request):
        people = people_called(login)
        # Only where nobody else's password is tried, because a person can get any number of known browsers.
        browser = browsers.known_as(request, people[0]) if len(people) == 1 else None
        if browser is not None:
            return [Key.of(WRONG_BY_BROWSER, browser)]
    return [*Key.of_address(address_of(request), WRONG_BY_ADDRESS), _name(login)]


def second_factor(request: HttpRequest, user: User) -> list[Key]:
    """Return what a wrong code counts against."""
    browser = browsers.known_as(request, user)
    if browser is not None:
        return [Key.of(WRONG_BY_BROWSER, browser)]
    return [*Key.of_address(address_of(request), WRONG_BY_ADDRESS), Key.of(WRONG_BY_PERSON, user.pk)]


def password_again(request: HttpRequest, user: User) -> list[Key]:
    """Return what a wrong password counts against where a session is asked for it once more."""
    browser = browsers.known_as(request, user)
    return [Key.of(WRONG_BY_PERSON, user.pk) if browser is None else Key.of(WRONG_BY_BROWSER, browser)]


def names_of(user: User) -> list[Key]:
    """Return the keys under which strangers may have used up the tries at this account's password.

    That is the username and the confirmed addresses. Anybody can claim an address, which must not clear its count.
    """
    # Not the count of wrong codes: a person with access to the mailbox could clear it by resetting the password.
    return [_name(name) for name in (user.username, *queries.confirmed_addresses(user))]


def _name(login: str) -> Key:
    # One key for all that the look-up takes for the same (`backends.people_called`): a username in any case, and an
    # address in any spelling of its domain.
    return Key.of(WRONG_BY_NAME, canonical(login))
