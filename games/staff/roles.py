"""The two groups of staff, and their rights in the database. Each act says in its row which role it needs.

After a new act, or a change of a role, a migration calls `set_roles` (see `0013_acts_on_accounts`).
"""

from __future__ import annotations

from typing import Final

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import transaction

from games.models import AuditEntry
from games.models.moderation import ADMIN, MODERATOR
from games.staff.acts import ACTS

OURS: Final = ("accounts", "games")

SEES: Final = (
    "view_user",
    "view_game",
    "view_round",
    "view_move",
    "view_seat",
    "view_case",
    "view_report",
    "view_appeal",
    "view_warned",
    "view_suspension",
    "view_auditentry",
    "view_notice",
)

ROLES: Final = {
    MODERATOR: (*SEES, *(f"do_{act.name}" for act in ACTS.values() if act.role == MODERATOR)),
    ADMIN: (*SEES, "see_address", *(f"do_{act.name}" for act in ACTS.values() if act.role in (MODERATOR, ADMIN))),
}
"""The permissions of each group. The rest is for superusers, who may do anything."""


def set_roles() -> None:
    """Make a permission for each act, and give the two groups exactly the rights of `ROLES`."""
    with transaction.atomic():
        for label in OURS:
            create_permissions(apps.get_app_config(label), verbosity=0)
        audit = ContentType.objects.get_for_model(AuditEntry)
        for act in ACTS.values():
            Permission.objects.update_or_create(
                content_type=audit, codename=f"do_{act.name}", defaults={"name": f"Can {act.phrase}"}
            )
        for name, codenames in ROLES.items():
            group, _ = Group.objects.get_or_create(name=name)
            rights = Permission.objects.filter(codename__in=codenames, content_type__app_label__in=OURS)
            assert rights.count() == len(codenames), f"the role {name} names rights that are not there"
            group.permissions.set(rights)
