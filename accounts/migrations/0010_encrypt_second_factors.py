from typing import Any

from django.db import migrations

from accounts import encryption

BATCH = 500


def encrypt(apps: Any, schema_editor: Any) -> None:
    """Encrypt the secrets that are stored plain. What is encrypted already stays as it is, so this is safe to repeat."""
    change(apps, lambda text: text if encryption.is_encrypted(text) else encryption.encrypt(text))


def decrypt(apps: Any, schema_editor: Any) -> None:
    change(apps, encryption.decrypt)


def change(apps: Any, by: Any) -> None:
    factors = apps.get_model("mfa", "Authenticator").objects
    for factor in factors.order_by("pk").iterator(chunk_size=BATCH):
        factor.data = encryption.change_secrets(factor.data, by)
        factor.save(update_fields=["data"])


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_last_totp_step"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [migrations.RunPython(encrypt, decrypt)]
