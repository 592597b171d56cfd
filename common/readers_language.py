"""Say texts in the language that is active for the reader of a page or of a mail (`django.utils.translation`)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from django.utils.formats import number_format
from django.utils.translation import get_language, npgettext, pgettext

from common.say import Say


class ReadersLanguage(Say):
    """Find the texts in Django's catalogues."""

    def found(self, context: str, message: str) -> str:
        return _found(context, message, get_language())

    def found_plural(self, context: str, one: str, many: str, n: int) -> str:
        return _found_plural(context, one, many, n, get_language())

    def number(self, n: int) -> str:
        # No language separates the digits of small numbers, and Django's function is slow.
        return number_format(n, use_l10n=True, force_grouping=True) if n >= 1000 else str(n)


@lru_cache(maxsize=8192)  # a page says a hundred texts, and Django asks each catalogue again for each of them
def _found(context: str, message: str, _language: str | None) -> str:
    return pgettext(context, message)


@lru_cache(maxsize=8192)
def _found_plural(context: str, one: str, many: str, n: int, _language: str | None) -> str:
    return npgettext(context, one, many, n)


say: Final = ReadersLanguage()
"""Used like `common.say.ENGLISH`, by pages, notices and mails."""
