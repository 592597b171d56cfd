"""The app configurations of the project, of the staff pages (Django's admin), and of second factors."""

from collections.abc import Sequence
from typing import Any

from allauth.mfa.apps import MFAConfig
from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin.apps import AdminConfig
from django.core import checks
from django.db.backends.signals import connection_created
from structlog import get_logger

from common.schema import used_by_too_old_code

log = get_logger(__name__)


class NomercyConfig(AppConfig):
    name = "nomercy"

    def ready(self) -> None:
        checks.register(warn_without_https, checks.Tags.security, deploy=True)
        checks.register(refuse_too_old, checks.Tags.database)
        connection_created.connect(log_connection)
        if settings.SENTRY_DSN:
            from nomercy import error_reports  # noqa: PLC0415  # sentry_sdk is loaded only where it is used

            error_reports.start()


def warn_without_https(**_: Any) -> list[checks.Warning]:
    """Return one warning if the site has no https, instead of Django's four about its own settings."""
    if settings.HTTPS:
        return []
    said = f"SITE_URL is {settings.SITE_URL}, without https: passwords and sessions can be read on the way."
    return [checks.Warning(said, hint="Set SITE_URL to an address with https (docs/operations.md).", id="nomercy.W001")]


def log_connection(**_: Any) -> None:
    """Log that PostgreSQL has taken a new connection. `nomercy.faults` drops the line, unless it ends an outage."""
    log.info("the database answers", back="PostgreSQL")


def refuse_too_old(databases: Sequence[str] | None = None, **_: Any) -> list[checks.Error]:
    """Return an error if no migration leads from the database to this release. `manage.py migrate` asks first."""
    said = used_by_too_old_code() if databases else ""
    return [checks.Error(said, id="nomercy.E001")] if said else []


class StaffConfig(AdminConfig):
    default_site = "nomercy.staff.StaffSite"


class SecondFactorConfig(MFAConfig):  # type: ignore[misc]  # allauth has no types
    """allauth's app under a name for the staff pages."""

    verbose_name = "Second factors"
