"""The Django app of tables, rounds and moves."""

from django.apps import AppConfig


class GamesConfig(AppConfig):
    name = "games"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from games.live import account_changes  # noqa: PLC0415  # imports models
        from games.notices import source  # noqa: PLC0415  # imports models

        account_changes.connect()
        source.connect()
