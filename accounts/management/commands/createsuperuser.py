"""`manage.py createsuperuser`: Django's command with this site's rules for names and addresses."""

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
from accounts.models import User
from accounts.names import username_validators
from mail.addresses import validate_address


class Command(createsuperuser.Command):
    """Marks the address as confirmed, because mail may not work yet when a site is set up."""

    username = ""

    def handle(self, *args: Any, **options: Any) -> None:
        interactive = options["interactive"]
        address = options["email"] if interactive else options["email"] or os.environ.get("DJANGO_SUPERUSER_EMAIL", "")
        if address is not None and (refusal := _refusal_of_address(address)):
            raise CommandError(refusal)
        with transaction.atomic(), connection.cursor() as cursor:
            # No time limit for typing: until the end this transaction only reads.
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            super().handle(*args, **options)
            if self.username:
                actions.mark_address_verified(username=self.username)

    def get_input_data(self, field: Field[Any, Any], message: str, default: str | None = None) -> str | None:
        """Return what was typed, or None to ask again."""
        value = super().get_input_data(field, message, default)
        if field.name == "email" and value is not None and (refusal := _refusal_of_address(value)):
            self.stderr.write(f"Error: {refusal}")
            return None
        return value

    def _validate_username(self, username: str, verbose_field_name: str, database: str) -> str | None:
        """Return what is wrong with a username, or None. Django calls it for typed names and for given ones."""
        self.username = username
        if username != username.lower():
            return f"Error: Usernames are in lowercase: {username.lower()}"
        refusal: str | None = super()._validate_username(username, verbose_field_name, database)  # type: ignore[misc]
        if refusal is None and (reason := _refusal_of_username(username)):
            refusal = f"Error: {reason}"
        return refusal


def _refusal_of_username(username: str) -> str:
    """Return why this username cannot be used, or "". Reserved names are fine, because superusers are staff."""
    for validate in username_validators:
        try:
            validate(username)
        except ValidationError as error:
            if error.code != "reserved":
                return " ".join(error.messages)
    return queries.name_clash(username, except_for=User())


def _refusal_of_address(address: str) -> str:
    """Return why a superuser could not log in with this address, or "". The address may be empty."""
    if not address:
        mandatory = app_settings.EMAIL_VERIFICATION == app_settings.EmailVerificationMethod.MANDATORY
        return "Give an address: with EMAIL_VERIFICATION=mandatory nobody can log in without one." if mandatory else ""
    if queries.holder_of(address) is not None:
        return "Another account has confirmed this address. Give another one."
    try:
        validate_address(address)
    except ValidationError as error:
        return " ".join(error.messages)
    return ""
