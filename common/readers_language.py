"""Say texts in the language that is active for the reader of a page or of a mail (`django.utils.translation`)."""

from __future__ import annotations

from typing import Final

from django.utils.formats import number_format
from django.utils.translation import npgettext, pgettext

from common.say import Say


class ReadersLanguage(Say):
    """Find the texts in Django's catalogues."""

    def found(self, context: str, message: str) -> str:
        return pgettext(context, message)

    def found_plural(self, context: str, one: str, many: str, n: int) -> str:
        return npgettext(context, one, many, n)

    def number(self, n: int) -> str:
        # No language separates the digits of small numbers, and Django's function is slow.
        return number_format(n, use_l10n=True, force_grouping=True) if n >= 1000 else str(n)


say: Final = ReadersLanguage()
"""Used like `common.say.ENGLISH`, by pages, notices and mails."""
