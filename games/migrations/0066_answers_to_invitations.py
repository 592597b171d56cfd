"""Stores whether people have answered the invitations to a table."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import Exists, OuterRef

STATES = [
    ("waiting", "Waiting"),
    ("joined", "Joined"),
    ("declined", "Declined"),
    ("withdrawn", "Withdrawn"),
    ("expired", "Expired"),
]


def set_states(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Mark the invitations of people who have a seat at the table as joined, and others to started or closed tables as
    expired. The rest waits for an answer.
    """
    invitations, seats = apps.get_model("games", "Invitation").objects, apps.get_model("games", "Seat").objects
    seated = Exists(seats.filter(game=OuterRef("game"), user=OuterRef("user")))
    invitations.filter(seated).update(state="joined")
    invitations.filter(state="waiting").exclude(game__status="open").update(state="expired")


class Migration(migrations.Migration):
    dependencies = [("games", "0001_squashed_0065_tables_of_newcomers")]

    operations = [
        migrations.AddField(
            model_name="invitation",
            name="state",
            field=models.CharField(choices=STATES, db_default="waiting", default="waiting", max_length=9),
        ),
        migrations.AddField(
            model_name="invitation",
            name="answered_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(set_states, migrations.RunPython.noop, elidable=True),
    ]
