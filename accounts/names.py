"""Usernames and names at the table: what is allowed, reserved or alike, and the names that guests get."""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache, lru_cache
from typing import Final
from zoneinfo import available_timezones

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.crypto import salted_hmac

from accounts.lookalikes import (
    INVISIBLE,
    misplaced_joiner,
    mixes_scripts,
    plain_letters,
    skeleton,
    stacks_marks,
    without_joiners,
    words,
)
from accounts.zones import formatted
from common.readers_language import say
from common.say import N_

DISPLAY_NAME_LENGTH = 30
NAME_TAKEN: Final = N_("Somebody else goes by this name.")
GUEST_USERNAME_PREFIX = "guest-"
BOT_NAMES: Final = ("Ada", "Brook", "Cleo", "Dev", "Esme", "Finn", "Gus", "Hana", "Ivo", "June")

RESERVED_NAMES: Final = (
    *BOT_NAMES,
    "a former player", "all", "bank", "chance", "computer", "crew", "croupier", "dealer", "deleted user", "everybody",
    "everyone", "former player", "free seat", "gm", "guest", "host", "judge", "nobody", "no mercy", "none", "notice",
    "operator", "root", "server", "site", "somebody", "spectator", "superuser", "sysop", "umpire", "you",
)  # fmt: skip
"""No name is one of these, that of a card or `SITE_NAME`, and neither is its part inside or outside brackets. As a part
of a name they are fine."""
_CARD_COLORS: Final = ("Red", "Yellow", "Green", "Blue", "Orange", "Pink", "Purple", "Teal")
_CARDS: Final = (
    "Skip", "Reverse", "Skip Everyone", "Discard All", "Flip", "Draw One", "Draw Two", "Draw Four", "Draw Five",
    "Wild", "Wild Color Roulette", "Wild Colour Roulette", "Wild Draw Two", "Wild Draw Four", "Wild Draw Six",
    "Wild Draw Ten", "Wild Draw Color", "Wild Draw Colour", "Wild Reverse Draw Four", "Buzzer",
)  # fmt: skip
"""The names of cards, without a colour. This package may not import `games.rules.cards`, so a test compares both."""

STAFF_WORD_PARTS: Final = ("admin", "moderator", "nomercy")
"""No word of a name starts or ends with one of these."""
STAFF_WORDS: Final = (
    "billing", "bot", "bots", "clock", "gamemaster", "helpdesk", "jury", "mattel", "mod", "mods", "moderation",
    "official", "officials", "owner", "postmaster", "referee", "security", "staff", "support", "system", "verified",
    "webmaster",
)  # fmt: skip
"""No word of a name is one of these, and no neighbouring words together, like `game master`."""

_NEUTRAL_WORD: Final = "Player"
_DELETED: Final = "Deleted player"

_DIGITS_AS_LETTERS: Final = dict(zip("01345789", "oleastbg", strict=True))
_SIGNS_AS_LETTERS: Final = _DIGITS_AS_LETTERS | {"@": "a", "$": "s", "!": "l"}
_READINGS: Final = tuple(
    str.maketrans(one) for one in ({}, _DIGITS_AS_LETTERS, _SIGNS_AS_LETTERS, _SIGNS_AS_LETTERS | {"8": "at"})
)
"""Tables of the letters that digits and signs may stand for. In the last one 8 is read as in `moder8or`."""
SHORTEST_RUN: Final = 5
LONGEST_RUN: Final = 60
"""Longer than any reserved word."""
_BADGES: Final = re.compile("[\u00ae\u2117\u2611\u2705\u2713\u2714\U0001f150-\U0001f189\U0001f5f8\U0001f5f9]")
"""Check marks, white letters on a disc or square, and trade mark signs. A name with one looks verified."""
_BRACKETS: Final = re.compile(r"[()\[\]{}<>]")
_ENDINGS: Final = (
    "com", "net", "org", "info", "biz", "name", "pro", "mobi", "edu", "gov", "mil", "int", "arpa", "example",
    "app", "art", "bet", "best", "blog", "casino", "chat", "click", "cloud", "club", "dev", "email", "fun", "game",
    "games", "group", "help", "icu", "link", "live", "media", "news", "online", "page", "plus", "poker", "press",
    "shop", "site", "social", "space", "store", "support", "team", "tech", "tips", "today", "top", "video", "vip",
    "website", "wiki", "win", "work", "world", "xyz", "zone",
)  # fmt: skip
"""Well-known top-level domains. Any two letters and any word in another script count as one, too."""
_ADDRESS: Final = re.compile(
    rf"://|\bwww\.|\w@\w|\w[.\u3002](?:{'|'.join(_ENDINGS)}|[^\W\d_]{{2}}|(?:(?![a-z])[^\W\d_])+)(?!\w)", re.IGNORECASE
)
"""Matches what a mail program may turn into a link."""
_DOTTED_TWICE: Final = re.compile("([lj][\u0300-\u036f]*?)\u0307")
"""A second dot above i or j does not show. In skeletons l stands for i."""
_EMOJI_STYLE: Final = "\ufe0e\ufe0f"

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
    """Return a random friendly name, like `Quiet Otter 27`. It may be taken."""
    return f"{secrets.choice(GUEST_ADJECTIVES)} {secrets.choice(GUEST_ANIMALS)} {secrets.randbelow(90) + 10}"


def is_guest_display_name(name: str) -> bool:
    """Return True if the site may have made up this name for a guest."""
    parts = name.split(" ")
    return len(parts) == 3 and parts[0] in GUEST_ADJECTIVES and parts[1] in GUEST_ANIMALS and parts[2].isdecimal()


def is_username(name: str) -> bool:
    """Return True if this name could be a username as it is."""
    try:
        for validate in username_validators:
            validate(name)
    except ValidationError:
        return False
    return True


def guest_username(form: str | None = None) -> str:
    """Return a username for a new guest.

    :param form: the key of the form that makes the guest, for a username by which its second submission finds them.
        Nobody else can make a form with this username, because its hash has the site's key.
    """
    made = secrets.token_hex(8) if form is None else salted_hmac("accounts.names.guest_username", form).hexdigest()[:16]
    return f"{GUEST_USERNAME_PREFIX}{made}"


def random_neutral_name() -> str:
    """Return a random name that staff put in place of a username, like `Player 48213`. It may be taken."""
    return f"{_NEUTRAL_WORD} {secrets.randbelow(90_000) + 10_000}"


def deleted_name(number: int) -> str:
    """Return what the person with this number is called once their account is deleted, like `Deleted player 7`."""
    return f"{_DELETED} {number}"


def after_mute(until: datetime) -> str:
    """Say to a muted person when they can choose a name again."""
    time = formatted(until, N_("j F Y, H:i"))
    return say.text("error", "You can choose a name again from {time}, when your mute ends.", time=time)


def clean_display_name(value: str) -> str:
    """Return the canonical spelling of a name: composed characters, single spaces, emoji without style characters."""
    text = unicodedata.normalize("NFKC", value)
    # Phones put an invisible style character after many emoji. The emoji is the same without it.
    pairs = zip(f" {text}", text, strict=False)
    kept = (c for before, c in pairs if c not in _EMOJI_STYLE or unicodedata.category(before) != "So")
    return " ".join("".join(kept).split())


def validate_display_name(value: str) -> None:
    """Check a name at the table: it must be readable, on one line, no link, in one script a word, and not reserved.

    :raises ValidationError:
    """
    if value != clean_display_name(value):
        raise ValidationError(
            say.text("error", "Use only visible characters, with single spaces between words."), code="unprintable"
        )
    plain = without_joiners(value)
    hidden = next((char for char in plain if INVISIBLE.match(char) or not char.isprintable()), "")
    if hidden := hidden or misplaced_joiner(value):
        raise ValidationError(
            say.text("error", "Use only visible characters: leave out {character}.", character=_called(hidden)),
            code="invisible",
        )
    if not all(name_skeletons(value)):
        raise ValidationError(
            say.text("error", "Use at least one letter or number, so that the name can be read."), code="unprintable"
        )
    if stacks_marks(plain):
        raise ValidationError(
            say.text("error", "A letter can have at most two marks, and a mark needs a letter. Leave some out."),
            code="marks",
        )
    if found := _BADGES.search(value):
        raise ValidationError(
            say.text(
                "error", "Leave out {character}: a name with it would look verified.", character=_called(found[0])
            ),
            code="check_mark",
        )
    _validate_no_address(
        plain,
        N_("Mail programs would turn this name into a link. Leave out the dot, or write a space after it."),
    )
    if mixed := next(filter(mixes_scripts, words(plain)), None):
        raise ValidationError(
            say.text("error", "“{word}” mixes scripts. Write each word in one script.", word=mixed), code="scripts"
        )
    if is_reserved(value):
        raise ValidationError(say.text("error", "This name is reserved. Choose another."), code="reserved")


def _validate_no_address(value: str, sentence: str) -> None:
    """Refuse a web or mail address with this sentence."""
    if _ADDRESS.search(_without_marks(value)):
        raise ValidationError(say.text("error", sentence), code="address")


def _without_marks(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] != "M")


def _called(char: str) -> str:
    return f"{unicodedata.name(char, 'the character').lower()} (U+{ord(char):04X})"


def validate_username(value: str) -> None:
    """Check that a username is not reserved and does not look like a web address.

    :raises ValidationError:
    """
    if is_reserved(value):
        raise ValidationError(say.text("error", "This username is reserved. Choose another."), code="reserved")
    _validate_no_address(
        value,
        N_("Mail programs would turn this username into a link. Leave out the dot, or use a hyphen."),
    )


# No @: a username that looks like somebody's email address would be ambiguous at log-in.
username_validators: list[Callable[[str], None]] = [
    RegexValidator(
        # ASCII: otherwise ſ, ı and the sign of kelvin would be spellings of s, i and k.
        re.compile(r"^[a-z0-9][a-z0-9._-]{1,29}\Z", re.IGNORECASE | re.ASCII),
        N_("Use 2-30 letters a-z, digits, . - _ and no spaces, starting with a letter or digit."),
    ),
    validate_username,
]


def validate_time_zone(value: str) -> None:
    if value not in available_timezones():
        raise ValidationError(
            say.text("error", "Choose a time zone from the list, like Europe/Helsinki."), code="time_zone"
        )


def name_skeletons(name: str) -> frozenset[str]:
    """Return the skeletons of a name. Two names that share one can be mistaken for each other.

    One skeleton is of the letters as written (capital I looks like small l), one of small letters (some Greek letters
    look like Latin ones in one case only). Spaces and signs do not count: `AliceCooper` is `Alice Cooper`.
    """
    plain = plain_letters(name)
    return frozenset(_joined(words(case)) for case in (plain, plain.casefold()))


def _joined(found: list[str]) -> str:
    """Return the words' skeletons as one word. Spaces between numbers stay: `player 1 11` is not `player 11 1`."""
    pairs = zip(["", *found], found, strict=False)
    return "".join(" " * (before[-1:].isdigit() and word[0].isdigit()) + _skeleton_of(word) for before, word in pairs)


def _skeleton_of(text: str) -> str:
    while True:  # ends: a test tries all of Unicode
        # I is the capital of i and looks like l, so all three are one letter here. The skeleton comes before folding,
        # which would hide that I looks like l, and again after it: M has no look-alike, but m looks like rn.
        folded = _DOTTED_TWICE.sub(r"\1", skeleton(text).casefold().replace("i", "l"))
        if folded == text:
            return text
        text = folded


def is_reserved(name: str) -> bool:
    """Return True if a name or a word of it is reserved for staff, bots, guests or the site, even if disguised."""
    look = _skeleton_of(plain_letters(name))
    if look.startswith(_skeleton_of(GUEST_USERNAME_PREFIX)) or _looks_numbered(look):
        return True
    in_words, whole_words, whole_names = _reserved(settings.SITE_NAME)
    # In some scripts the look of a letter depends on its case, so both are tried.
    for reading in {case.translate(table) for table in _READINGS for case in (name, name.casefold())}:
        tokens = [words(token) for token in plain_letters(reading).split()]
        found = {word for token in tokens for word in (*token, "".join(token))}  # ad-min is read as admin
        plain = [word for word in map(_plain, found) if word]
        if any(word in whole_words or word.startswith(in_words) or word.endswith(in_words) for word in plain):
            return True
        if any(
            run in whole_words or run in in_words for run in _runs([_plain(word) for one in tokens for word in one])
        ):
            return True
        parts = [_plain(_without_article(words(part))) for part in _BRACKETS.split(plain_letters(reading))]
        if any(part in whole_names or part in whole_words or part in in_words for part in parts):
            return True
    return False


def _looks_numbered(look: str) -> bool:
    """Return True if a skeleton is that of a neutral name or of a deleted person with any number, or of `Red 7`."""
    found = "".join(filter(str.isalnum, look))
    for name, longest in ((_NEUTRAL_WORD, None), (_DELETED, None), *((color, 1) for color in _CARD_COLORS)):
        word = "".join(filter(str.isalnum, _skeleton_of(name)))
        number = found.removeprefix(word)
        if found.startswith(word) and re.fullmatch(r"[\dol]+", number) and len(number) <= (longest or len(number)):
            return True
    return False


def _without_article(found: list[str]) -> str:
    return "".join(found[1:] if len(found) > 1 and found[0].casefold() == "the" else found)


def _runs(found: list[str]) -> Iterator[str]:
    """Yield the joined runs of neighbouring words. Short runs are left out, because `Bo T` is not a bot."""
    for start in range(len(found)):
        run = ""
        for word in found[start:]:
            run += word
            if len(run) > LONGEST_RUN:
                break
            if len(run) >= SHORTEST_RUN:
                yield run


@lru_cache(maxsize=10_000)
def _plain(word: str) -> str:
    """Return the skeleton of a word without marks and without digits around it."""
    text = _skeleton_of(re.sub(r"^\d+|\d+$", "", word))
    return "".join(char for char in text if unicodedata.category(char)[0] in "LN")


@cache
def _reserved(site_name: str) -> tuple[tuple[str, ...], frozenset[str], frozenset[str]]:
    """Return the skeletons of reserved word parts, of reserved words, and of reserved names."""
    cards = [f"{color} {card}" for color in _CARD_COLORS for card in _CARDS]
    return (
        tuple(map(_plain, STAFF_WORD_PARTS)),
        frozenset(map(_plain, STAFF_WORDS)),
        frozenset(_plain("".join(words(name))) for name in (*RESERVED_NAMES, *_CARDS, *cards, site_name)) - {""},
    )
