"""The app configurations of the project, of the staff pages (Django's admin), and of second factors."""

from allauth.mfa.apps import MFAConfig
from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class NomercyConfig(AppConfig):
    name = "nomercy"


class StaffConfig(AdminConfig):
    default_site = "nomercy.staff.StaffSite"


class SecondFactorConfig(MFAConfig):  # type: ignore[misc]  # allauth has no types
    """allauth's app under a name for the staff pages."""

    verbose_name = "Second factors"
