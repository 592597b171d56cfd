"""Compare names without the spaces between their words."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from accounts.names import Person, held_names


def remove_spaces(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    user, name_skeleton = (apps.get_model("accounts", name) for name in ("User", "NameSkeleton"))
    people = user.objects.order_by("pk").values_list("pk", "username", "display_name", "is_guest", "is_staff")
    found = list(held_names(Person(*row) for row in people.iterator()))
    name_skeleton.objects.filter(freed_at=None).exclude(user=None).delete()
    freed = {row.skeleton.replace(" ", ""): row for row in name_skeleton.objects.order_by("-pk")}  # the oldest is kept
    for held in found:
        freed.pop(held.skeleton, None)
    name_skeleton.objects.exclude(pk__in=[row.pk for row in freed.values()]).delete()
    for skeleton, row in freed.items():
        row.skeleton = skeleton
    name_skeleton.objects.bulk_update(freed.values(), ["skeleton"], batch_size=1000)
    name_skeleton.objects.bulk_create((name_skeleton(**held._asdict()) for held in found), batch_size=1000)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0019_index_account_mails_by_mailbox_and_state"),
    ]

    operations = [
        migrations.RunPython(remove_spaces, migrations.RunPython.noop),
    ]
