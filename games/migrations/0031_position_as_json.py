from django.db import migrations, models

TO_JSON = """
UPDATE games_round SET state = jsonb_build_object(
    'hands', (SELECT jsonb_agg(string_to_array(h.cards, ' ') ORDER BY s.index)
        FROM games_hand h JOIN games_seat s ON s.id = h.seat_id WHERE h.round_id = games_round.id),
    'direction', direction,
    'draw_pile', string_to_array(draw_pile, ' '),
    'discard_pile', string_to_array(discard_pile, ' '),
    'color', color,
    'pending', CASE WHEN pending_total IS NOT NULL
        THEN jsonb_build_object('total', pending_total, 'value', pending_value) END,
    'drawn', drawn,
    'set_aside', string_to_array(set_aside, ' '),
    'declared', declared,
    'exposed', exposed,
    'going_out', going_out,
    'reshuffles', reshuffles
)
"""

TO_COLUMNS = """
UPDATE games_round SET
    direction = (state->>'direction')::smallint,
    draw_pile = (SELECT COALESCE(string_agg(card, ' ' ORDER BY n), '')
        FROM jsonb_array_elements_text(state->'draw_pile') WITH ORDINALITY AS cards (card, n)),
    discard_pile = (SELECT COALESCE(string_agg(card, ' ' ORDER BY n), '')
        FROM jsonb_array_elements_text(state->'discard_pile') WITH ORDINALITY AS cards (card, n)),
    color = state->>'color',
    pending_total = (state->'pending'->>'total')::smallint,
    pending_value = (state->'pending'->>'value')::smallint,
    drawn = state->>'drawn',
    set_aside = (SELECT COALESCE(string_agg(card, ' ' ORDER BY n), '')
        FROM jsonb_array_elements_text(state->'set_aside') WITH ORDINALITY AS cards (card, n)),
    declared = ARRAY(SELECT seat::smallint FROM jsonb_array_elements_text(state->'declared') AS seats (seat)),
    exposed = ARRAY(SELECT seat::smallint FROM jsonb_array_elements_text(state->'exposed') AS seats (seat)),
    going_out = ARRAY(SELECT seat::smallint FROM jsonb_array_elements_text(state->'going_out') AS seats (seat)),
    reshuffles = (state->>'reshuffles')::smallint;
UPDATE games_hand SET cards = (SELECT COALESCE(string_agg(card, ' ' ORDER BY n), '')
    FROM jsonb_array_elements_text(r.state->'hands'->s.index::int) WITH ORDINALITY AS cards (card, n))
FROM games_round r, games_seat s WHERE r.id = games_hand.round_id AND s.id = games_hand.seat_id
"""

COLUMNS = (
    "direction",
    "draw_pile",
    "discard_pile",
    "color",
    "pending_total",
    "pending_value",
    "drawn",
    "set_aside",
    "declared",
    "exposed",
    "going_out",
    "reshuffles",
)


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0030_reports_count_once"),
    ]

    operations = [
        # A default, so that the column can be made again when this is undone.
        migrations.AlterField("round", "discard_pile", models.TextField(default="")),
        migrations.AddField("round", "state", models.JSONField(default=dict)),
        migrations.RunSQL(TO_JSON, TO_COLUMNS),
        migrations.AlterField("round", "state", models.JSONField()),
        *(migrations.RemoveField("round", name) for name in COLUMNS),
        migrations.RemoveField("hand", "cards"),
    ]
