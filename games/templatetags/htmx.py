"""How the pages set HTMX up."""

import json
from typing import Final

from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

CONFIG: Final[dict[str, object]] = {
    "allowEval": False,  # nor does the content security policy
    "selfRequestsOnly": True,
    "historyCacheSize": 0,  # no page of a game is kept in the browser's storage
    "refreshOnHistoryMiss": True,
    "includeIndicatorStyles": False,  # they would be inline
    "scrollIntoViewOnBoost": False,
    "timeout": 20_000,
    # The first that fits: whether the answer takes its place in the page, and whether scripts hear of an error.
    "responseHandling": [
        {"code": "204", "swap": False},  # done, and nothing to show
        {"code": "[23]..", "swap": True},
        {"code": "40[039]", "swap": True},  # malformed, not your seat, stale or over: the page as it is, and the reason
        {"code": "422", "swap": True},  # against the rules: likewise
        {"code": "429", "swap": True},  # too often: it is empty, with `HX-Reswap: none`, and the page asks again
        {"code": "[45]..", "swap": False, "error": True},  # static/js/announce.js tells who asked
        {"code": "...", "swap": False},
    ],
}
DUMPED: Final = json.dumps(CONFIG, separators=(",", ":"))


@register.simple_tag
def htmx_config() -> SafeString:
    """``{% htmx_config %}``: what stands in the page's `htmx-config`, between single quotes."""
    return mark_safe(DUMPED)  # noqa: S308 (constant markup)
