"""Move the names in audit entries to a table of their own, so that they can be deleted with an account (decision 143).

Entries are only added, so the trigger that refuses changes is off during this migration.
"""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

TRIGGER_OFF = "ALTER TABLE games_auditentry DISABLE TRIGGER audit_is_append_only"
TRIGGER_ON = "ALTER TABLE games_auditentry ENABLE TRIGGER audit_is_append_only"
# Otherwise PostgreSQL refuses to change the table while checks of its new keys are still to be made.
CHECK_KEYS = "SET CONSTRAINTS ALL IMMEDIATE"

# Who had the seat which was given away: a person, or the one whom staff had removed for the bot that had it.
HAD_SEAT = """
CREATE TEMPORARY TABLE had_seat ON COMMIT DROP AS
SELECT e.id, e.details ->> 'before' AS name, COALESCE((e.details ->> 'before_id')::bigint, CASE WHEN (
    SELECT r.act FROM games_auditentry r
    WHERE r.game_id = e.game_id AND r.seat = e.seat AND r.id < e.id AND r.act IN ('remove', 'move_seat')
    ORDER BY r.id DESC LIMIT 1
) = 'remove' THEN (
    SELECT r.person_id FROM games_auditentry r
    WHERE r.game_id = e.game_id AND r.seat = e.seat AND r.id < e.id AND r.act = 'remove' ORDER BY r.id DESC LIMIT 1
) END) AS person_id
FROM games_auditentry e WHERE e.act = 'move_seat' AND e.details ->> 'before' <> ''
"""
NAMES = """
INSERT INTO games_personname (person_id, name)
SELECT DISTINCT person_id, name FROM (
    SELECT actor_id, actor_name FROM games_auditentry
    UNION ALL SELECT person_id, person_name FROM games_auditentry
    UNION ALL SELECT person_id, name FROM had_seat
    UNION ALL SELECT e.person_id, n.value FROM games_auditentry e
        CROSS JOIN LATERAL jsonb_each(e.details) d CROSS JOIN LATERAL jsonb_each_text(d.value) n
        WHERE e.act = 'rename' AND d.key IN ('before', 'after') AND jsonb_typeof(d.value) = 'object'
    UNION ALL SELECT person_id, details ->> 'name' FROM games_auditentry
        WHERE act IN ('neutral_name', 'end_neutral_name')
) AS stored (person_id, name) WHERE person_id IS NOT NULL AND name <> '' ORDER BY person_id, name
"""
KEYS = """
UPDATE games_auditentry e SET
    actor_called_id = (SELECT n.id FROM games_personname n WHERE n.person_id = e.actor_id AND n.name = e.actor_name),
    person_called_id = (SELECT n.id FROM games_personname n WHERE n.person_id = e.person_id AND n.name = e.person_name)
"""
KEYS_OF_SEATS = """
UPDATE games_auditentry e SET before_called_id = n.id, details = e.details - 'before'
FROM had_seat h JOIN games_personname n ON n.person_id = h.person_id AND n.name = h.name WHERE h.id = e.id
"""
KEYS_IN_DETAILS = """
UPDATE games_auditentry e SET details = e.details || (
    SELECT jsonb_object_agg(d.key, (
        SELECT jsonb_object_agg(v.key, COALESCE((
            SELECT to_jsonb(n.id) FROM games_personname n WHERE n.person_id = e.person_id AND n.name = v.value
        ), '""'))
        FROM jsonb_each_text(d.value) v
    )) FROM jsonb_each(e.details) d WHERE d.key IN ('before', 'after') AND jsonb_typeof(d.value) = 'object'
) WHERE e.act = 'rename' AND e.details ?| ARRAY['before', 'after']
"""
KEYS_OF_NEUTRAL_NAMES = """
UPDATE games_auditentry e SET details = e.details || jsonb_build_object('name', n.id)
FROM games_personname n
WHERE e.act IN ('neutral_name', 'end_neutral_name') AND n.person_id = e.person_id AND n.name = e.details ->> 'name'
"""
FORWARDS: list[Any] = [
    TRIGGER_OFF,
    HAD_SEAT,
    NAMES,
    KEYS,
    KEYS_OF_SEATS,
    KEYS_IN_DETAILS,
    KEYS_OF_NEUTRAL_NAMES,
    CHECK_KEYS,
]

# The name of a deleted account stays empty.
NAMES_BACK = """
UPDATE games_auditentry e SET
    actor_name = (SELECT n.name FROM games_personname n WHERE n.id = e.actor_called_id),
    person_name = COALESCE((SELECT n.name FROM games_personname n WHERE n.id = e.person_called_id), '')
"""
NAMES_OF_SEATS_BACK = """
UPDATE games_auditentry e SET details = e.details || jsonb_build_object('before', n.name)
FROM games_personname n WHERE n.id = e.before_called_id
"""
NAMES_IN_DETAILS_BACK = """
UPDATE games_auditentry e SET details = e.details || (
    SELECT jsonb_object_agg(d.key, (
        SELECT jsonb_object_agg(v.key, COALESCE((
            SELECT n.name FROM games_personname n WHERE n.id::text = v.value
        ), ''))
        FROM jsonb_each_text(d.value) v
    )) FROM jsonb_each(e.details) d WHERE d.key IN ('before', 'after') AND jsonb_typeof(d.value) = 'object'
) WHERE e.act = 'rename' AND e.details ?| ARRAY['before', 'after']
"""
NEUTRAL_NAMES_BACK = """
UPDATE games_auditentry e SET details = e.details || jsonb_build_object('name', n.name)
FROM games_personname n WHERE e.act IN ('neutral_name', 'end_neutral_name') AND n.id::text = e.details ->> 'name'
"""
BACKWARDS: list[Any] = [
    TRIGGER_OFF, NAMES_BACK, NAMES_OF_SEATS_BACK, NAMES_IN_DETAILS_BACK, NEUTRAL_NAMES_BACK, CHECK_KEYS, TRIGGER_ON,
]  # fmt: skip


def key(*, null: bool) -> models.ForeignKey[Any, Any]:
    return models.ForeignKey(
        null=null, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="games.personname"
    )


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0053_marks_by_browser"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PersonName",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "person",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=150)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        condition=~models.Q(name=""), fields=("person", "name"), name="person_name_once"
                    )
                ],
            },
        ),
        migrations.AddField("auditentry", "actor_called", key(null=True)),
        migrations.AddField("auditentry", "person_called", key(null=True)),
        migrations.AddField("auditentry", "before_called", key(null=True)),
        # Backwards this is when the old columns are there again: with no value for the names, which cannot be null.
        migrations.RunSQL(FORWARDS, BACKWARDS),
        migrations.RunSQL(TRIGGER_ON, migrations.RunSQL.noop),
        migrations.AlterField("auditentry", "actor_name", models.CharField(default="", max_length=150)),
        migrations.RemoveField("auditentry", "actor_name"),
        migrations.RemoveField("auditentry", "person_name"),
        migrations.AlterField("auditentry", "actor_called", key(null=False)),
    ]
