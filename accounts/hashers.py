"""The password hasher, and the form in which passwords are hashed."""

from __future__ import annotations

import threading
import unicodedata
from typing import Final

from django.contrib.auth.hashers import Argon2PasswordHasher

AT_ONCE: Final = 2
"""How many passwords a process hashes at the same time. Others wait."""
LONGEST_NORMALIZED: Final = 1000
"""Longer passwords are taken as they are typed. NFKC of 100,000 accents takes 20 seconds."""
_slots = threading.BoundedSemaphore(AT_ONCE)


def normalized(password: str) -> str:
    """Return the form of a password that is checked and hashed: NFKC, because keyboards send “ü” in two ways."""
    return password if len(password) > LONGEST_NORMALIZED else unicodedata.normalize("NFKC", password)


class SmallArgon2(Argon2PasswordHasher):
    """Argon2id as OWASP recommends: 19 MiB, two passes, one lane. Django's default takes 100 MiB (decision 100).

    It also verifies hashes with other parameters, and hashes of a password that was not normalized, as earlier releases
    made them. `actions.renew_hash` replaces those at the next log-in.
    """

    memory_cost = 19_456  # KiB
    time_cost = 2
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        if password != normalized(password):
            # As many hashes as in `verify`. Django encodes the password of a log-in with an unknown name.
            self._encode(password, salt)
        return self._encode(normalized(password), salt)

    def _encode(self, password: str, salt: str) -> str:
        with _slots:
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        forms = dict.fromkeys((normalized(password), password))
        return any(self._verify(form, encoded) for form in forms)

    def _verify(self, password: str, encoded: str) -> bool:
        with _slots:
            return super().verify(password, encoded)
