"""Make each change of an account a staff act with a reason, and remove the permission to change people."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0012_due_games_in_order"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="auditentry",
            options={
                "default_permissions": ("view",),
                "permissions": (
                    ("do_pause", "Can pause a game"),
                    ("do_resume", "Can resume a game"),
                    ("do_extend", "Can extend a clock"),
                    ("do_forgive", "Can forgive a miss"),
                    ("do_void_round", "Can void a round"),
                    ("do_void_game", "Can void a game"),
                    ("do_close", "Can close a table"),
                    ("do_remove", "Can remove a player"),
                    ("do_move_seat", "Can give a seat to somebody else"),
                    ("do_look", "Can look at hands"),
                    ("do_warn", "Can warn"),
                    ("do_mute", "Can mute"),
                    ("do_unmute", "Can end a mute"),
                    ("do_suspend", "Can suspend for a time"),
                    ("do_suspend_for_good", "Can suspend for good"),
                    ("do_lift", "Can lift a suspension"),
                    ("do_rename", "Can correct a name"),
                    ("do_close_account", "Can close an account"),
                    ("do_reopen_account", "Can open a closed account again"),
                    ("do_set_role", "Can give or take a role"),
                    ("do_drop_factor", "Can take a second factor away"),
                    ("do_hold", "Can take a case"),
                    ("do_close_case", "Can close a case"),
                    ("do_decide_appeal", "Can decide an appeal"),
                ),
                "verbose_name_plural": "audit entries",
            },
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="act",
            field=models.CharField(
                choices=[
                    ("pause", "Pause a game"),
                    ("resume", "Resume a game"),
                    ("extend", "Extend a clock"),
                    ("forgive", "Forgive a miss"),
                    ("void_round", "Void a round"),
                    ("void_game", "Void a game"),
                    ("close", "Close a table"),
                    ("remove", "Remove a player"),
                    ("move_seat", "Give a seat to somebody else"),
                    ("look", "Look at hands"),
                    ("warn", "Warn"),
                    ("mute", "Mute"),
                    ("unmute", "End a mute"),
                    ("suspend", "Suspend"),
                    ("suspend_for_good", "Suspend for good"),
                    ("lift", "Lift a suspension"),
                    ("rename", "Correct a name"),
                    ("close_account", "Close an account"),
                    ("reopen_account", "Open a closed account again"),
                    ("set_role", "Give or take a role"),
                    ("drop_factor", "Take a lost second factor away"),
                    ("hold", "Take a case"),
                    ("close_case", "Close a case"),
                    ("decide_appeal", "Decide an appeal"),
                ],
                max_length=20,
            ),
        ),
        migrations.RunPython(make_roles, migrations.RunPython.noop),
    ]
