"""The Django app of users, guests and API tokens."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
