"""The wiring as Django apps: the admin has our own site behind it."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class NomercyConfig(AppConfig):
    name = "nomercy"


class StaffConfig(AdminConfig):
    default_site = "nomercy.staff.StaffSite"
