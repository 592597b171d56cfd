"""The page where a superuser makes an account."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from games.admin.acts import act_page
from games.models import AuditEntry
from games.staff.acts import MAKE_ACCOUNT
from games.staff.new_accounts import PERFORM

PEOPLE: Final = ("People", "admin:accounts_user_changelist")


def page(request: HttpRequest) -> HttpResponse:
    def show(entry: AuditEntry) -> HttpResponse:
        messages.success(request, MAKE_ACCOUNT.done)
        return redirect("admin:accounts_user_change", entry.person_id)

    return act_page(
        request,
        MAKE_ACCOUNT,
        PERFORM[MAKE_ACCOUNT],
        subject={"new_account_id": 0},
        possible=lambda: True,
        about="New account",
        within=PEOPLE,
        back=reverse(PEOPLE[1]),
        show=show,
    )
