"""The source of randomness for the secrets of shuffles, the first dealer and the names of bots.

It is the randomness of the operating system. Tests replace it with a seeded one.
"""

from __future__ import annotations

import random
import secrets

source: random.Random = secrets.SystemRandom()
