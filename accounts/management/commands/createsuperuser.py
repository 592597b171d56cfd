"""`manage.py createsuperuser`: Django's, for people who are known by one name and log in by a confirmed address."""

from __future__ import annotations

import os
from typing import Any

from allauth.account import app_settings
from django.contrib.auth.management.commands import createsuperuser
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.db.models import Field

from accounts import actions, queries
from accounts.addresses import validate_address
from accounts.models import User
from accounts.names import username_validators


class Command(createsuperuser.Command):
    """Whoever has the shell vouches for the address: mail may not even go out yet."""

    username = ""

    def handle(self, *args: Any, **options: Any) -> None:
        interactive = options["interactive"]
        address = options["email"] if interactive else options["email"] or os.environ.get("DJANGO_SUPERUSER_EMAIL", "")
        if address is not None and (refusal := _refusal_of_address(address)):
            raise CommandError(refusal)
        with transaction.atomic(), connection.cursor() as cursor:
            # Nobody need type in haste: until the end this transaction only reads.
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            super().handle(*args, **options)
            if self.username:
                actions.mark_address_verified(username=self.username)

    def get_input_data(self, field: Field[Any, Any], message: str, default: str | None = None) -> str | None:
        """What was typed, or None to be asked again."""
        value = super().get_input_data(field, message, default)
        if field.name == "email" and value is not None and (refusal := _refusal_of_address(value)):
            self.stderr.write(f"Error: {refusal}")
            return None
        return value

    def _validate_username(self, username: str, verbose_field_name: str, database: str) -> str | None:
        """What is wrong with a username, of those that are asked for and those that are given; None if nothing is."""
        self.username = username
        if username != username.lower():
            return f"Error: Usernames are written in small letters here: {username.lower()}"
        refusal: str | None = super()._validate_username(username, verbose_field_name, database)  # type: ignore[misc]
        if refusal is None and (reason := _refusal_of_username(username)):
            refusal = f"Error: {reason}"
        return refusal


def _refusal_of_username(username: str) -> str:
    """Return why this username cannot be taken, or an empty text. Reserved names are fine: superusers are staff."""
    for validate in username_validators:
        try:
            validate(username)
        except ValidationError as error:
            if error.code != "reserved":
                return " ".join(error.messages)
    return queries.name_clash(username, but=User())


def _refusal_of_address(address: str) -> str:
    """Why a superuser could not log in with this address, which may be empty; empty if that is no reason."""
    if not address:
        mandatory = app_settings.EMAIL_VERIFICATION == app_settings.EmailVerificationMethod.MANDATORY
        return "Give an address: EMAIL_VERIFICATION=mandatory lets nobody in without." if mandatory else ""
    if queries.holder_of(address) is not None:
        return "Another account has confirmed this address: give one of your own."
    try:
        validate_address(address)
    except ValidationError as error:
        return " ".join(error.messages)
    return ""
