"""The two groups of staff and their permissions. The row of an act says which role it needs.

After adding an act or changing its role, add a migration that calls `set_roles`: copy the newest one with `ROLES`.
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

APP_LABELS: Final = ("accounts", "games")

VIEW_PERMISSIONS: Final = (
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
    "view_announcement",
    "view_signupinvitation",
)

ROLES: Final = {
    MODERATOR: (*VIEW_PERMISSIONS, *(f"do_{act.name}" for act in ACTS.values() if act.role == MODERATOR)),
    ADMIN: (
        *VIEW_PERMISSIONS,
        "see_address",
        *(f"do_{act.name}" for act in ACTS.values() if act.role in (MODERATOR, ADMIN)),
    ),
}
"""The permissions of each group. Superusers have every permission without a group."""


def set_roles() -> None:
    """Create a permission for each act, and give the two groups exactly the permissions in `ROLES`."""
    with transaction.atomic():
        for label in APP_LABELS:
            create_permissions(apps.get_app_config(label), verbosity=0)
        audit = ContentType.objects.get_for_model(AuditEntry)
        for act in ACTS.values():
            Permission.objects.update_or_create(
                content_type=audit, codename=f"do_{act.name}", defaults={"name": f"Can {act.phrase}"}
            )
        for name, codenames in ROLES.items():
            group, _ = Group.objects.get_or_create(name=name)
            rights = Permission.objects.filter(codename__in=codenames, content_type__app_label__in=APP_LABELS)
            assert rights.count() == len(codenames), f"the role {name} lists permissions that do not exist"
            group.permissions.set(rights)
