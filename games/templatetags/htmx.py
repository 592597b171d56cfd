"""The configuration of HTMX."""

import json
from typing import Final

from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

CONFIG: Final[dict[str, object]] = {
    "allowEval": False,  # the content security policy forbids it too
    "selfRequestsOnly": True,
    "historyCacheSize": 0,  # keep no page of a game in the browser's storage
    "refreshOnHistoryMiss": True,
    "includeIndicatorStyles": False,  # they would be inline
    "scrollIntoViewOnBoost": False,
    "timeout": 20_000,
    # The first row that matches decides: `swap` puts the answer into the page, `error` fires an error event.
    "responseHandling": [
        {"code": "204|304", "swap": False},  # nothing to show, or nothing new
        {"code": "[23]..", "swap": True},
        {"code": "40[039]", "swap": True},  # malformed, not your seat, stale, over: the current page and the reason
        {"code": "422", "swap": True},  # against the rules: the same
        {"code": "429", "swap": True},  # too often: static/js/live.js shows no whole page in the place of a game
        {"code": "[45]..", "swap": False, "error": True},  # static/js/announce.js tells the player
        {"code": "...", "swap": False},
    ],
}
CONFIG_JSON: Final = json.dumps(CONFIG, separators=(",", ":"))


@register.simple_tag
def htmx_config() -> SafeString:
    """``{% htmx_config %}``: the content of the `htmx-config` meta tag, to be put in single quotes."""
    return mark_safe(CONFIG_JSON)  # noqa: S308 (constant markup)
