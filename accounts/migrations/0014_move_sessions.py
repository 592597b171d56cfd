from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import migrations
from django.utils import timezone

BATCH = 1000


def move(apps: Any, schema_editor: Any) -> None:
    """Move the sessions of Django's own table to ours, so that nobody is logged out; drop those that have run out."""
    old, new = apps.get_model("sessions", "Session").objects, apps.get_model("accounts", "Session")
    now, decode = timezone.now(), SessionStore().decode
    moved = (
        new(
            session_key=row.session_key,
            session_data=row.session_data,
            expire_date=row.expire_date,
            user_id=decode(row.session_data).get(SESSION_KEY),
            seen_at=now,
        )
        for row in old.filter(expire_date__gt=now).iterator(chunk_size=BATCH)
    )
    new.objects.bulk_create(moved, batch_size=BATCH, ignore_conflicts=True)
    old.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0013_sessions_know_their_user"),
        ("sessions", "0001_initial"),
    ]

    operations = [migrations.RunPython(move, migrations.RunPython.noop)]  # going back, people log in again
