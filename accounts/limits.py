"""How wide limits are: each is a number in the code, scaled by the setting `RATE_LIMITS`."""

from django.conf import settings


def scaled(most: int) -> int | None:
    """Return a limit scaled by `RATE_LIMITS`, in per cent and rounded down, but at least 1; None for no limit.

    `RATE_LIMITS=0` turns every limit off, so that tests and benches can ask as often as they need.
    """
    if settings.RATE_LIMITS == 0:
        return None
    return max(1, most * settings.RATE_LIMITS // 100)
