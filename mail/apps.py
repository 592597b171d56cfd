"""The Django app of the outbox."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class MailConfig(AppConfig):
    name = "mail"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from mail import site_keys  # noqa: PLC0415  # imports models

        post_migrate.connect(site_keys.make, sender=self, dispatch_uid="mail.site_keys")
