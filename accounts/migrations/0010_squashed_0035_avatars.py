"""Make the tables of f8c9a292, the oldest release whose databases this code continues."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

import accounts.avatars


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_last_totp_step"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="AccountMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("sending", "Being sent"),
                            ("handed", "Handed over"),
                            ("sent", "Sent"),
                            ("dropped", "Not sent"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("reason", models.CharField(blank=True, default="", max_length=16)),
                ("created_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("since", models.DateTimeField()),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("claim", models.UUIDField(blank=True, null=True)),
                ("kind", models.CharField(max_length=60)),
                ("address", models.EmailField(max_length=254)),
                ("mailbox", models.EmailField(max_length=254)),
                ("asked_from", models.CharField(blank=True, db_default="", default="", max_length=32)),
                ("facts", models.JSONField(default=dict)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="account_mails",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "waiting")), fields=["due_at"], name="account_mail_due"),
                    models.Index(
                        condition=models.Q(("state__in", ("sending", "handed"))),
                        fields=["since"],
                        name="account_mail_under_way",
                    ),
                    models.Index(
                        condition=models.Q(("state", "waiting")),
                        fields=["mailbox", "kind", "due_at"],
                        name="account_mail_to_mailbox",
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ("sending", "handed", "sent", "failed"))),
                        fields=["mailbox", "kind", "since"],
                        name="account_mail_gone_out",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("waiting", "sending", "handed")), ("user", None)),
                        fields=("kind", "address"),
                        name="account_mail_asked_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CountedTry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64)),
                ("slot", models.PositiveIntegerField()),
                ("until", models.DateTimeField(db_index=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("key", "slot"), name="accounts_countedtry_slot_unique"),
                ],
            },
        ),
        migrations.CreateModel(
            name="NameSkeleton",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("skeleton", models.TextField()),
                ("objection", models.CharField(blank=True, max_length=20)),
                ("freed_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="name_skeletons",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["skeleton"], name="accounts_name_skeleton"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("objection", "")),
                        fields=("skeleton",),
                        name="accounts_name_skeleton_unique",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                (
                    "session_key",
                    models.CharField(max_length=40, primary_key=True, serialize=False, verbose_name="session key"),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("seen_at", models.DateTimeField()),
                ("ending", models.BooleanField(db_default=False, default=False)),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "session",
                "verbose_name_plural": "sessions",
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="SignUpInvitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("note", models.CharField(blank=True, max_length=60)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sign_up_invitations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "used_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "invitation",
                "ordering": ["-created_at", "-pk"],
                "default_permissions": ("view",),
            },
        ),
        migrations.AddField(
            model_name="apitoken",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="apitoken",
            name="scope",
            field=models.CharField(
                choices=[("read", "Only read"), ("play", "Read and play")], default="play", max_length=4
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="avatar",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=16, validators=[accounts.avatars.validate_avatar]
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="deletes_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="deletion_begun",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name="user",
            name="former_names",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=150),
                blank=True,
                db_default=[],
                default=list,
                editable=False,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="is_program",
            field=models.BooleanField(
                db_default=False, default=False, editable=False, verbose_name="played by a program"
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="neutral_name",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=30),
        ),
        migrations.AddField(
            model_name="user",
            name="session_mark",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=22),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.UniqueConstraint(
                condition=models.Q(("neutral_name", ""), _negated=True),
                fields=("neutral_name",),
                name="accounts_user_neutral_name_unique",
            ),
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(django.db.models.functions.text.Upper("username"), name="accounts_user_username"),
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(
                django.db.models.functions.text.Upper("display_name"), name="accounts_user_display_name"
            ),
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(
                django.db.models.functions.text.Upper("neutral_name"), name="accounts_user_neutral_name"
            ),
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(fields=["email"], name="accounts_user_email"),
        ),
        migrations.AddIndex(
            model_name="user",
            index=models.Index(
                condition=models.Q(("deletes_at__isnull", False)),
                fields=["deletes_at"],
                name="accounts_user_deletes_at",
            ),
        ),
    ]
