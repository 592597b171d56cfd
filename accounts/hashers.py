"""The password hasher."""

from __future__ import annotations

import threading
from typing import Final

from django.contrib.auth.hashers import Argon2PasswordHasher

AT_ONCE: Final = 2
"""How many passwords a process hashes at the same time. Others wait."""
_slots = threading.BoundedSemaphore(AT_ONCE)


class SmallArgon2(Argon2PasswordHasher):
    """Argon2id as OWASP recommends: 19 MiB, two passes, one lane. Django's default takes 100 MiB (decision 100).

    It also verifies hashes with other parameters. `actions.renew_hash` replaces those at the next log-in.
    """

    memory_cost = 19_456  # KiB
    time_cost = 2
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with _slots:
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _slots:
            return super().verify(password, encoded)
