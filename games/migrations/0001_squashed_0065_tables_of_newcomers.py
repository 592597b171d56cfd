"""Make the tables of f8c9a292, the oldest release whose databases this code continues."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.fields.json
import django.db.models.functions.comparison
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import games.models.notices
import games.models.tables

# Lets entries only be added to the audit log, for every user of the database. A test database can be emptied.
ONLY_ADDED = """
CREATE FUNCTION games_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' AND current_database() LIKE 'test\\_%' AND
        current_setting('nomercy.may_empty_audit', true) = 'on' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'audit entries are never changed or deleted' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON games_auditentry
    FOR EACH ROW EXECUTE FUNCTION games_audit_is_append_only();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON games_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION games_audit_is_append_only();
"""
NO_LIMIT = """
DROP TRIGGER audit_is_not_emptied ON games_auditentry;
DROP TRIGGER audit_is_append_only ON games_auditentry;
DROP FUNCTION games_audit_is_append_only();
"""


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0010_squashed_0035_avatars"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.CreateModel(
            name="Announcement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.CharField(blank=True, max_length=200)),
                ("until", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "announcement",
                "verbose_name_plural": "announcement",
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="Case",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("name", "An offensive name"),
                            ("abandon", "Making others wait, or leaving games"),
                            ("teaming", "Playing together, or with two accounts"),
                            ("cheating", "Cheating in another way"),
                            ("other", "Something else"),
                        ],
                        max_length=12,
                    ),
                ),
                ("opened_at", models.DateTimeField()),
                ("held_at", models.DateTimeField(null=True)),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("acted", "We agreed and acted on it"),
                            ("nothing", "We found nothing against the rules"),
                            ("unclear", "We could not tell"),
                            ("badfaith", "It was reported in bad faith"),
                        ],
                        default="",
                        max_length=8,
                    ),
                ),
                ("answer", models.CharField(blank=True, default="", max_length=500)),
                (
                    "holder",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="held_cases",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="cases",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at", None)), fields=("person", "kind"), name="case_open_once"
                    ),
                ],
            },
        ),
        # Before the indexes in CreateModel, which Django makes at the end, as in the replaced migrations.
        migrations.AddIndex(
            model_name="case",
            index=models.Index(condition=models.Q(("closed_at", None)), fields=["opened_at"], name="case_open"),
        ),
        migrations.CreateModel(
            name="DataCopy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("asked_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("content", models.BinaryField(null=True)),
                ("expires_at", models.DateTimeField(null=True)),
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="data_copy",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "data copies",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Game",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "code",
                    models.CharField(default=games.models.tables.new_code, editable=False, max_length=16, unique=True),
                ),
                (
                    "invite_key",
                    models.CharField(default=games.models.tables.new_invite_key, editable=False, max_length=32),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("open", "Open"), ("playing", "Playing"), ("over", "Over"), ("void", "Void")],
                        default="open",
                        max_length=8,
                    ),
                ),
                ("hosted_by_newcomer", models.BooleanField(db_default=False, default=False, editable=False)),
                ("preset", models.CharField(default="no-mercy", max_length=32)),
                ("options", models.JSONField(blank=True, default=dict)),
                ("target", models.PositiveIntegerField(default=0)),
                ("players", models.PositiveSmallIntegerField()),
                ("pace", models.CharField(default="standard", max_length=16)),
                ("bot_pause", models.FloatField(default=1.0)),
                ("is_public", models.BooleanField(default=True)),
                ("programs", models.BooleanField(db_default=True, default=True)),
                ("created_at", models.DateTimeField()),
                (
                    "people_changed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("version", models.PositiveIntegerField(default=0)),
                ("winner", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("deadline", models.DateTimeField(blank=True, null=True)),
                ("wake_at", models.DateTimeField(blank=True, null=True)),
                ("bots_move_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "react_at",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.DateTimeField(null=True),
                        blank=True,
                        db_default=[],
                        default=list,
                        editable=False,
                        size=None,
                    ),
                ),
                ("remind_at", models.DateTimeField(blank=True, null=True)),
                ("turn_since", models.DateTimeField(blank=True, null=True)),
                ("quiet_given", models.PositiveIntegerField(default=0)),
                ("rested_until", models.DateTimeField(blank=True, null=True)),
                (
                    "paused_reasons",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=32), blank=True, default=list, size=None
                    ),
                ),
                ("paused_at", models.DateTimeField(blank=True, null=True)),
                ("time_left", models.DurationField(blank=True, null=True)),
                (
                    "pause_votes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                ("custom_pace", models.JSONField(blank=True, null=True)),
                ("misses_allowed", models.PositiveSmallIntegerField(default=3)),
                (
                    "after_misses",
                    models.CharField(
                        choices=[
                            ("bot", "A bot takes the seat until its owner is back"),
                            ("leave", "The player leaves the game"),
                        ],
                        default="bot",
                        max_length=8,
                    ),
                ),
                ("looked_at", models.DateTimeField(blank=True, null=True)),
                ("form", models.CharField(blank=True, editable=False, max_length=64, null=True, unique=True)),
                (
                    "form_guest",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "host",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="hosted_games",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "rematch_of",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="rematch",
                        to="games.game",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("finished_at__isnull", False)),
                        fields=["finished_at"],
                        name="game_finished_at",
                    ),
                    models.Index(
                        condition=models.Q(("is_public", True), ("status__in", ("open", "playing"))),
                        fields=["status", "-created_at", "-id"],
                        name="game_public_listed",
                    ),
                    models.Index(
                        condition=models.Q(("is_public", True), ("status", "open")),
                        fields=["hosted_by_newcomer", "-id"],
                        name="game_open_by_host",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("players__gte", 2), ("players__lte", 10)), name="game_has_2_to_10_players"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("paused_at", None),
                            models.Q(("deadline", None), ("remind_at", None), ("wake_at", None)),
                            _connector="OR",
                        ),
                        name="game_paused_has_nothing_due",
                    ),
                ],
            },
        ),
        # Before the indexes in CreateModel, which Django makes at the end, as in the replaced migrations.
        migrations.AddIndex(
            model_name="game",
            index=models.Index(condition=models.Q(("wake_at__isnull", False)), fields=["wake_at"], name="game_wake_at"),
        ),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                condition=models.Q(("remind_at__isnull", False)), fields=["remind_at"], name="game_remind_at"
            ),
        ),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                condition=models.Q(("deadline__isnull", False)), fields=["deadline", "id"], name="game_deadline"
            ),
        ),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(condition=models.Q(("status", "playing")), fields=["id"], name="game_playing"),
        ),
        migrations.AddConstraint(
            model_name="game",
            constraint=models.UniqueConstraint(fields=("invite_key",), name="game_once_per_invite_key"),
        ),
        migrations.CreateModel(
            name="BrowserMark",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mark", models.CharField(max_length=64)),
                ("at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "game",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="games.game"),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["at"], name="browser_mark_at"),
                    models.Index(fields=["mark"], name="browser_mark_of_browser"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("game", "user", "mark"), name="browser_mark_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(null=True)),
                ("given_from", models.DateTimeField(null=True)),
                ("given_to", models.DateTimeField(null=True)),
                ("given_through", models.BigIntegerField(default=0)),
                ("tried_through", models.DateTimeField(null=True)),
                ("home", models.CharField(blank=True, default="", max_length=48)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("pk", 1)), name="heartbeat_is_one_row")],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                (
                    "game",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="games.game"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("game", "user"), name="invited_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Notice",
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
                ("version", models.PositiveIntegerField()),
                ("kind", models.CharField(max_length=16)),
                ("channel", models.CharField(max_length=16)),
                ("mark", models.PositiveBigIntegerField(default=0)),
                ("text", models.CharField(blank=True, default="", max_length=600)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                (
                    "game",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to="games.game",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "waiting")), fields=["due_at"], name="notice_due"),
                    models.Index(
                        condition=models.Q(("state__in", ("sending", "handed"))),
                        fields=["since"],
                        name="notice_under_way",
                    ),
                    models.Index(fields=["user", "-id"], name="notice_of_user"),
                    django.contrib.postgres.indexes.BrinIndex(fields=["created_at"], name="notice_age"),
                    models.Index(
                        condition=models.Q(
                            ("state", "waiting"),
                            models.Q(("channel", "site"), ("read_at", None), ("state", "sent")),
                            _connector="OR",
                        ),
                        fields=["user", "game"],
                        name="notice_open",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("game", "user", "version", "kind", "channel", "mark"),
                        name="notice_once",
                        nulls_distinct=False,
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NoticeSettings",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("choices", models.JSONField(blank=True, default=dict)),
                (
                    "digest_hour",
                    models.PositiveSmallIntegerField(
                        blank=True, null=True, validators=[django.core.validators.MaxValueValidator(23)]
                    ),
                ),
                ("digest_at", models.DateTimeField(blank=True, null=True)),
                ("digest_again_at", models.DateTimeField(blank=True, null=True)),
                (
                    "mail_key",
                    models.CharField(default=games.models.notices.new_mail_key, editable=False, max_length=16),
                ),
                ("bounced", models.EmailField(blank=True, default="", max_length=254)),
                ("bounced_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notice_settings",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "notice settings",
                "indexes": [
                    models.Index(
                        condition=models.Q(("digest_at__isnull", False)), fields=["digest_at"], name="digest_due"
                    ),
                    models.Index(
                        condition=models.Q(("bounced", ""), _negated=True), fields=["bounced"], name="bounced_address"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Outbox",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("held_since", models.DateTimeField(blank=True, null=True)),
                ("held_why", models.CharField(blank=True, default="", max_length=200)),
                ("retry_at", models.DateTimeField(blank=True, null=True)),
                ("failures", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name_plural": "outbox",
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="outbox_has_one_row")],
            },
        ),
        migrations.CreateModel(
            name="PersonName",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(blank=True, max_length=150)),
                (
                    "person",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("name", ""), _negated=True),
                        fields=("person", "name"),
                        name="person_name_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("act", models.CharField(max_length=20)),
                ("reason", models.CharField(max_length=500)),
                ("game_code", models.CharField(blank=True, default="", max_length=16)),
                ("version", models.PositiveIntegerField(null=True)),
                ("seat", models.PositiveSmallIntegerField(null=True)),
                ("details", models.JSONField(default=dict)),
                (
                    "actor",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "game",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="audit_entries",
                        to="games.game",
                    ),
                ),
                (
                    "actor_called",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="games.personname",
                    ),
                ),
                (
                    "before_called",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="games.personname",
                    ),
                ),
                (
                    "person_called",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="games.personname",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(fields=["game", "id"], name="audit_of_game"),
                    models.Index(fields=["person", "id"], name="audit_of_person"),
                    models.Index(
                        django.db.models.functions.comparison.Cast(
                            django.db.models.fields.json.KeyTextTransform("before_id", "details"),
                            models.BigIntegerField(),
                        ),
                        condition=models.Q(("act", "move_seat")),
                        name="audit_of_owner_before",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "sign",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("timeouts", "The clock played many turns"),
                            ("resignations", "Many games resigned at once"),
                            ("browser", "Two accounts in one browser"),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                ("at", models.DateTimeField()),
                ("text", models.CharField(max_length=2000)),
                ("called", models.CharField(blank=True, db_default="", default="", max_length=150)),
                ("form", models.CharField(max_length=64, null=True)),
                ("seen_at", models.DateTimeField(null=True)),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reports", to="games.case"
                    ),
                ),
                (
                    "game",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reports", to="games.game"
                    ),
                ),
                (
                    "reporter",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="reports",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
                "constraints": [
                    models.UniqueConstraint(fields=("case", "reporter", "game"), name="report_once_per_case_and_game"),
                    models.UniqueConstraint(
                        condition=models.Q(("sign", ""), _negated=True),
                        fields=("case", "sign", "game"),
                        name="report_once_per_case_sign_and_game",
                    ),
                    models.UniqueConstraint(fields=("reporter", "form"), name="report_form_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Round",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                ("dealer", models.PositiveSmallIntegerField()),
                ("secret", models.BinaryField(max_length=32)),
                ("commitment", models.CharField(max_length=64)),
                ("deal", models.TextField()),
                (
                    "absent",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                ("from_version", models.PositiveIntegerField()),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("void", models.BooleanField(default=False)),
                ("turn", models.PositiveSmallIntegerField()),
                ("phase", models.CharField(default="play", max_length=16)),
                (
                    "out",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                ("winner", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("points", models.JSONField(blank=True, null=True)),
                ("state", models.JSONField()),
                (
                    "game",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="rounds", to="games.game"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("game", "number"), name="round_once_per_game"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Move",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("n", models.PositiveIntegerField()),
                ("seat", models.PositiveSmallIntegerField()),
                ("text", models.CharField(max_length=40)),
                ("at", models.DateTimeField()),
                ("events", models.JSONField(default=list)),
                ("token", models.CharField(blank=True, max_length=64, null=True)),
                ("further", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("by_bot", models.BooleanField(db_default=False, default=False)),
                ("by_order", models.BooleanField(db_default=False, default=False)),
                (
                    "game",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="moves",
                        to="games.game",
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="moves", to="games.round"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("text", "leave"), ("text__startswith", "clock "), _connector="OR"),
                        fields=["at"],
                        name="move_of_clock_or_leaver",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("game", "n"), name="move_once_per_version"),
                    models.UniqueConstraint(fields=("game", "seat", "token"), name="token_once_per_seat"),
                ],
            },
        ),
        migrations.AddField(
            model_name="game",
            name="round",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name="+", to="games.round"
            ),
        ),
        migrations.CreateModel(
            name="Seat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("index", models.PositiveSmallIntegerField()),
                ("bot", models.CharField(blank=True, default="", max_length=16)),
                ("name", models.CharField(max_length=64)),
                ("score", models.PositiveIntegerField(default=0)),
                ("left", models.BooleanField(default=False)),
                ("bank", models.PositiveIntegerField(default=0)),
                ("misses", models.PositiveSmallIntegerField(default=0)),
                ("seen", models.PositiveIntegerField(default=0)),
                ("orders", models.JSONField(blank=True, null=True)),
                (
                    "game",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="seats", to="games.game"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="seats",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("game", "index"), name="seat_once_per_game"),
                    models.UniqueConstraint(fields=("game", "user"), name="person_sits_once_per_game"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Hand",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("callout_until", models.DateTimeField(blank=True, null=True)),
                (
                    "lost",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=8), blank=True, db_default=[], default=list, size=None
                    ),
                ),
                ("lost_side", models.CharField(blank=True, db_default="", default="", max_length=8)),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="hands", to="games.round"
                    ),
                ),
                (
                    "seat",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.RESTRICT, related_name="hands", to="games.seat"
                    ),
                ),
            ],
        ),
        # Before the indexes in CreateModel, which Django makes at the end, as in the replaced migrations.
        migrations.AddIndex(
            model_name="hand",
            index=models.Index(
                condition=models.Q(("callout_until__isnull", False)),
                fields=["callout_until"],
                name="hand_callout_until",
            ),
        ),
        migrations.AddConstraint(
            model_name="hand",
            constraint=models.UniqueConstraint(fields=("round", "seat"), name="hand_once_per_seat"),
        ),
        migrations.CreateModel(
            name="Suspension",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("until", models.DateTimeField(null=True)),
                ("reason", models.CharField(max_length=500)),
                ("lifted_at", models.DateTimeField(null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="suspensions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("until", None), ("until__gt", models.F("at")), _connector="OR"),
                        name="suspension_has_length",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Appeal",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("text", models.CharField(max_length=2000)),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "decision",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("upheld", "The suspension stays"),
                            ("lifted", "The suspension is lifted"),
                            ("replaced", "A new suspension replaced it"),
                        ],
                        default="",
                        max_length=8,
                    ),
                ),
                ("answer", models.CharField(blank=True, default="", max_length=500)),
                (
                    "suspension",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="appeal", to="games.suspension"
                    ),
                ),
            ],
            options={
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="TableEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("kind", models.CharField(max_length=20)),
                ("seat", models.PositiveSmallIntegerField(null=True)),
                ("at", models.DateTimeField()),
                (
                    "game",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="games.game",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["game", "id"], name="table_event_of_game"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Warned",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("text", models.CharField(max_length=500)),
                ("acknowledged_at", models.DateTimeField(null=True)),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="warnings",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "warning",
                "default_permissions": ("view",),
            },
        ),
        migrations.AddConstraint(
            model_name="game",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("round", None), ("status", "open")),
                    models.Q(("status", "open"), _negated=True),
                    _connector="OR",
                ),
                name="game_open_has_no_round",
            ),
        ),
        migrations.RunSQL(ONLY_ADDED, NO_LIMIT),
        migrations.RunPython(make_roles, migrations.RunPython.noop),
    ]
