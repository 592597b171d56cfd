"""The pictures that people choose to be shown with. `static/img/avatars.svg` draws them."""

from __future__ import annotations

from functools import cache
from typing import Final

from django.core.exceptions import ValidationError
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.readers_language import say

AVATARS: Final = {
    "anchor": "Anchor",
    "balloon": "Balloon",
    "boat": "Boat",
    "bolt": "Lightning",
    "cactus": "Cactus",
    "crown": "Crown",
    "mushroom": "Mushroom",
    "rocket": "Rocket",
}
"""What each picture is called, by the id of its `view` in the file."""
FILE: Final = "img/avatars.svg"
"""The file's width and height are those of one picture: WebKit gives each `view` the proportions of the whole file."""
_NAMES: Final = tuple(AVATARS)


def avatar_of(chosen: str, number: int) -> str:
    """Return the picture of the person with this number: the `chosen` one or, without a choice, always the same one."""
    return chosen or _NAMES[number % len(_NAMES)]


@cache
def picture(name: str) -> SafeString:
    """Return the `img` element of a picture. It has no text of its own: put the name of the person beside it."""
    return format_html('<img class="avatar" src="{}#{}" alt="" width="36" height="36">', static(FILE), name)


def validate_avatar(value: str) -> None:
    """Check that there is such a picture.

    :raises ValidationError:
    """
    if value not in AVATARS:
        raise ValidationError(say.text("error", "Choose one of the pictures."), code="avatar")
