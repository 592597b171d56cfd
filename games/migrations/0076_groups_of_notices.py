# Kinds of notices are switched in groups now. What a person chose for the most important kind of a group, whose name the
# group has, is what they chose for the group. What they chose for its other kinds is forgotten. Some kinds are shown on
# the site only now: mails of theirs that wait are not sent.

from django.db import migrations

FORGET = """
    UPDATE games_noticesettings SET choices = (
        SELECT COALESCE(jsonb_object_agg(key, value), '{}') FROM jsonb_each(choices)
        WHERE split_part(key, '.', 1) NOT IN (
            'bot_took_over', 'taken_out', 'day_taken', 'caught', 'out', 'round_over', 'table_full', 'case_handed_over'
        )
    ) WHERE choices <> '{}'
"""
DROP_MAILS = """
    UPDATE mail_delivery SET state = 'dropped', reason = 'off', since = now()
    WHERE channel = 'email' AND state = 'waiting' AND mailbox = '' AND kind IN (
        'caught', 'out', 'round_over', 'staff_said', 'link_changed', 'host_changed', 'role_changed'
    )
"""


class Migration(migrations.Migration):
    dependencies = [("games", "0074_tables_without_vacations")]

    operations = [
        migrations.RunSQL(FORGET, migrations.RunSQL.noop),
        migrations.RunSQL(DROP_MAILS, migrations.RunSQL.noop),
    ]
