"""Adds the mark of sessions, and ends what opened an account before its second factor was set up.

Sessions and known browsers of people with an app become invalid: some may be from before the app, by the password
alone. Recovery codes of people without an app are deleted: a later app would have kept them.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.utils.crypto import get_random_string


def close(apps: Any, schema_editor: Any) -> None:
    """Give the people with an app a new mark, and delete recovery codes without an app. Safe to repeat."""
    factors = apps.get_model("mfa", "Authenticator").objects
    owners = list(factors.filter(type="totp").order_by("user").values_list("user", flat=True))
    people = apps.get_model("accounts", "User").objects
    for number in owners:
        people.filter(pk=number).update(session_mark=get_random_string(22))
    factors.filter(type="recovery_codes").exclude(user__in=owners).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0022_neutral_names"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [
        migrations.AddField(
            "user",
            "session_mark",
            models.CharField(blank=True, db_default="", default="", editable=False, max_length=22),
        ),
        migrations.RunPython(close, migrations.RunPython.noop),
    ]
