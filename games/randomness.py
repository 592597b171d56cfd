"""Where chance comes from: the shuffle's secrets, the first dealer, the bots' names.

It is the system's own randomness, which nobody can guess; tests put a seeded one in its place and so are repeatable.
"""

from __future__ import annotations

import random
import secrets

source: random.Random = secrets.SystemRandom()
