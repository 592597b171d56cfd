"""Who among the staff may do what: two groups, each with the least rights that its work needs.

A change of these tables comes with a migration that calls `set_roles` (see `0013_acts_on_accounts`).
"""

from __future__ import annotations

from typing import Final

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.db import transaction

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

MODERATES: Final = (
    "do_pause",
    "do_resume",
    "do_extend",
    "do_forgive",
    "do_void_round",
    "do_close",
    "do_remove",
    "do_look",
    "do_warn",
    "do_mute",
    "do_unmute",
    "do_suspend",
    "do_hold",
    "do_close_case",
)

ROLES: Final = {
    "moderator": (*SEES, *MODERATES),
    "admin": (
        *SEES,
        *MODERATES,
        "see_address",
        "do_void_game",
        "do_move_seat",
        "do_suspend_for_good",
        "do_lift",
        "do_decide_appeal",
        "do_rename",
        "do_close_account",
        "do_reopen_account",
    ),
}
"""Permissions by group: what only an admin may do cannot be undone, gives cards to somebody, or judges a moderator.

What makes somebody staff, or lets them in without their second factor, is for superusers alone, who may do anything.
"""


def set_roles() -> None:
    """Give the two groups exactly the rights of `ROLES`, making what is missing."""
    with transaction.atomic():
        for label in OURS:
            create_permissions(apps.get_app_config(label), verbosity=0)
        for name, codenames in ROLES.items():
            group, _ = Group.objects.get_or_create(name=name)
            rights = Permission.objects.filter(codename__in=codenames, content_type__app_label__in=OURS)
            assert rights.count() == len(codenames), f"the role {name} names rights that are not there"
            group.permissions.set(rights)
