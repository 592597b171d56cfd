# Names are checked only when they are chosen. Of two names from before a rule that look alike, that of the older account
# is held, and the owner of the other one keeps it. Names of accounts that are deleted already are held from now on.

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

DROP_LOOK_ALIKES = """
    DELETE FROM accounts_nameskeleton WHERE id IN (
        SELECT id FROM (
            SELECT id, row_number() OVER (
                PARTITION BY skeleton ORDER BY user_id IS NULL, freed_at IS NOT NULL, objection <> '', user_id, id
            ) AS place FROM accounts_nameskeleton
        ) AS rows WHERE place > 1
    )
"""
HOLD_FROM_NOW = "UPDATE accounts_nameskeleton SET freed_at = now() WHERE user_id IS NULL AND freed_at IS NULL"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0011_tries_are_counted_in_one_row")]

    operations = [
        migrations.RunSQL(DROP_LOOK_ALIKES, migrations.RunSQL.noop),
        migrations.RunSQL(HOLD_FROM_NOW, migrations.RunSQL.noop),
        migrations.RemoveConstraint("nameskeleton", "accounts_name_skeleton_unique"),
        migrations.RemoveIndex("nameskeleton", "accounts_name_skeleton"),
        migrations.RemoveField("nameskeleton", "objection"),
        migrations.AddConstraint(
            "nameskeleton", models.UniqueConstraint(fields=["skeleton"], name="accounts_name_skeleton_unique")
        ),
        migrations.AlterField(
            "nameskeleton",
            "user",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="name_skeletons",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
