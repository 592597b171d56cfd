"""Store when an account is to be deleted, and the names that its person gave up."""

from __future__ import annotations

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0026_invitations_to_sign_up")]

    operations = [
        migrations.AddField("user", "deletes_at", models.DateTimeField(blank=True, editable=False, null=True)),
        migrations.AddField(
            "user", "deletion_begun", models.BooleanField(db_default=False, default=False, editable=False)
        ),
        migrations.AddField(
            "user",
            "former_names",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=150),
                blank=True,
                db_default=[],
                default=list,
                editable=False,
                size=None,
            ),
        ),
        migrations.AddIndex(
            "user",
            models.Index(
                condition=models.Q(("deletes_at__isnull", False)),
                fields=["deletes_at"],
                name="accounts_user_deletes_at",
            ),
        ),
    ]
