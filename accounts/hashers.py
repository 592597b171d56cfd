"""How passwords are hashed."""

from __future__ import annotations

import threading
from typing import Final

from django.contrib.auth.hashers import Argon2PasswordHasher

AT_ONCE: Final = 2
"""The most passwords that a process hashes at the same time; others wait for their turn."""
_places = threading.BoundedSemaphore(AT_ONCE)


class SmallArgon2(Argon2PasswordHasher):
    """Argon2id as OWASP advises: 19 MiB, two passes, one lane. Django's own takes 100 MiB (decision 100).

    It verifies hashes with any other parameters too. `actions.renew_hash` replaces those at the next log-in.
    """

    memory_cost = 19_456  # KiB
    time_cost = 2
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with _places:
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _places:
            return super().verify(password, encoded)
