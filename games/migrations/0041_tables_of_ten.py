"""Lets ten people sit at a table, and stores the option `stacking` as a text instead of true or false."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models import Q

TO_TEXT = """
UPDATE games_game
SET options = jsonb_set(options, '{stacking}', CASE options->'stacking' WHEN 'true' THEN '"any"' ELSE '"off"' END::jsonb)
WHERE jsonb_typeof(options->'stacking') = 'boolean'
"""
TO_BOOLEAN = """
UPDATE games_game
SET options = jsonb_set(options, '{stacking}', to_jsonb(options->>'stacking' <> 'off'))
WHERE jsonb_typeof(options->'stacking') = 'string'
"""


class Migration(migrations.Migration):
    dependencies = [("games", "0040_reasons_of_reports")]

    operations = [
        migrations.RemoveConstraint("game", "game_has_2_to_6_players"),
        migrations.AddConstraint(
            "game",
            models.CheckConstraint(condition=Q(players__gte=2, players__lte=10), name="game_has_2_to_10_players"),
        ),
        migrations.RunSQL(TO_TEXT, TO_BOOLEAN),
    ]
