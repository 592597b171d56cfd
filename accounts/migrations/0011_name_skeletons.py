"""Store what each name looks like, so that nobody else can take a name that looks like it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_encrypt_second_factors"),
    ]

    operations = [
        migrations.CreateModel(
            name="NameSkeleton",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("skeleton", models.TextField()),
                ("objection", models.CharField(blank=True, max_length=20)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="name_skeletons",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["skeleton"], name="accounts_name_skeleton")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("objection", "")),
                        fields=("skeleton",),
                        name="accounts_name_skeleton_unique",
                    )
                ],
            },
        ),
    ]
