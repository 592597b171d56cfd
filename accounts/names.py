"""Names people go by: what is allowed, and the friendly ones that guests get."""

import re
import secrets
import unicodedata
from collections.abc import Callable
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

DISPLAY_NAME_LENGTH = 30
GUEST_USERNAME_PREFIX = "guest-"
TAKEN_BY_THE_HOUSE = {
    "admin",
    "administrator",
    "bot",
    "clock",
    "mattel",
    "moderator",
    "no mercy",
    "nomercy",
    "spectator",
    "staff",
    "system",
}

GUEST_ADJECTIVES = (
    "Amber", "Bold", "Brave", "Breezy", "Bright", "Calm", "Cheery", "Clever", "Cosmic", "Crisp", "Daring", "Dapper",
    "Eager", "Early", "Fancy", "Fearless", "Gentle", "Giddy", "Golden", "Happy", "Humble", "Jolly", "Keen", "Kind",
    "Lively", "Lucky", "Mellow", "Merry", "Mighty", "Misty", "Nimble", "Noble", "Patient", "Plucky", "Proud",
    "Quick", "Quiet", "Rapid", "Rosy", "Shiny", "Silver", "Sleepy", "Sly", "Snowy", "Steady", "Sunny", "Swift",
    "Tidy", "Velvet", "Wandering", "Wise", "Witty", "Zesty",
)  # fmt: skip
GUEST_ANIMALS = (
    "Badger", "Bat", "Bear", "Beaver", "Bison", "Cat", "Crane", "Crow", "Deer", "Dolphin", "Eagle", "Falcon",
    "Ferret", "Finch", "Fox", "Gecko", "Goose", "Hare", "Hawk", "Hedgehog", "Heron", "Ibex", "Jackal", "Jay",
    "Koala", "Lark", "Lemur", "Lynx", "Magpie", "Marmot", "Mole", "Moose", "Newt", "Octopus", "Otter", "Owl",
    "Panda", "Penguin", "Puffin", "Rabbit", "Raven", "Robin", "Seal", "Sparrow", "Squirrel", "Stork", "Swan",
    "Tiger", "Toad", "Turtle", "Walrus", "Weasel", "Wolf", "Wren", "Yak",
)  # fmt: skip


def guest_display_name() -> str:
    """`Quiet Otter 27`: friendly, and seldom taken."""
    return f"{secrets.choice(GUEST_ADJECTIVES)} {secrets.choice(GUEST_ANIMALS)} {secrets.randbelow(90) + 10}"


def guest_username() -> str:
    return f"{GUEST_USERNAME_PREFIX}{secrets.token_hex(8)}"


def clean_display_name(value: str) -> str:
    """One spelling of a name: composed characters, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", value).split())


def validate_display_name(value: str) -> None:
    """Letters that print, starting and ending with one that shows; nothing that could break a line or a mail header."""
    if value != clean_display_name(value) or not value.isprintable() or not any(map(str.isalnum, value)):
        raise ValidationError(
            "A name has visible characters only, with single spaces between words.", code="unprintable"
        )
    if value.casefold() in TAKEN_BY_THE_HOUSE:
        raise ValidationError("This name is reserved.", code="reserved")


def validate_time_zone(value: str) -> None:
    if value not in available_timezones():
        raise ValidationError("Choose a time zone from the list, like Europe/Helsinki.", code="time_zone")


def validate_username(value: str) -> None:
    """Guests' and the house's own names cannot be signed up for."""
    if value.casefold() in TAKEN_BY_THE_HOUSE or value.casefold().startswith(GUEST_USERNAME_PREFIX):
        raise ValidationError("This username is reserved.", code="reserved")


# No @: a username that looks like somebody's email address would be ambiguous at log-in.
username_validators: list[Callable[[str], None]] = [
    RegexValidator(
        re.compile(r"^[a-z0-9][a-z0-9._-]{1,29}\Z", re.IGNORECASE),
        "A username has 2 to 30 letters, digits, dots, hyphens or underscores, starting with a letter or digit.",
    ),
    validate_username,
]
