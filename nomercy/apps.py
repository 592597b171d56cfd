"""The wiring as Django apps: the admin has our own site behind it."""

from allauth.mfa.apps import MFAConfig
from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class NomercyConfig(AppConfig):
    name = "nomercy"


class StaffConfig(AdminConfig):
    default_site = "nomercy.staff.StaffSite"


class SecondFactorConfig(MFAConfig):  # type: ignore[misc]  # allauth has no types
    """Under a name that the staff pages can show."""

    verbose_name = "Second factors"
