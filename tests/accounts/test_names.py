"""Test which names are allowed: real ones in any script, but no invisible, misleading or reserved ones."""

from __future__ import annotations

import unicodedata

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from accounts.lookalikes import INVISIBLE, misplaced_joiner, without_joiners
from accounts.names import (
    BOT_NAMES,
    DISPLAY_NAME_LENGTH,
    STAFF_WORDS,
    clean_display_name,
    is_reserved,
    username_validators,
    validate_display_name,
)
from games.rules.cards import FACES

ACCEPTED = (
    "\u0411\u043e\u0431", "J\u00fcrgen", "\u5c71\u7530 Taro", "Zo\u00eb O\u2019Neil", "\u0645\u062d\u0645\u062f",
    "Nguy\u1ec5n",
    "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",  # Hebrew with points
    "\u05d9\u05b4\u05e9\u05bc\u05c2\u05b8\u05e9\u05db\u05b8\u05e8",  # and a letter that has three of them
    "\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f",  # Arabic with its vowels
    "\u0938\u094c\u0930\u092d \u0924\u094d\u0930\u093f\u0935\u0947\u0926\u0940",  # Devanagari, with a conjunct
    "\u091c\u093c\u0941\u0902\u092c\u093e",  # a nukta and two marks on one letter
    "\u0ba4\u0bae\u0bbf\u0bb4\u0bcd\u0b9a\u0bcd\u0b9a\u0bc6\u0bb2\u0bcd\u0bb5\u0ba9\u0bcd",  # Tamil
    "\u0e19\u0e49\u0e33\u0e1d\u0e19", "\u0e17\u0e35\u0e48\u0e23\u0e31\u0e01",  # Thai, with a tone above a vowel
    "\u0f66\u0f92\u0fb2\u0f7c\u0f63\u0f0b\u0f58",  # Tibetan: letters below letters
    "\u179f\u17d2\u179a\u17b8\u1798\u17bb\u17c6",  # Khmer
    "\uae40\ucca0\uc218", "\u305f\u308d\u3046", "\u1f8d\u03b4\u03b7\u03c2", "\u10d2\u10d8\u10dd\u10e0\u10d2\u10d8",
    "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",  # Persian, with a non-joiner
    "\u0dc1\u0dca\u200d\u0dbb\u0dd3",  # Sinhala, with a joiner in a conjunct
    "\u0915\u094d\u200d\u0937",  # Devanagari, with one that keeps two letters apart
    "Ola \U0001f468\u200d\U0001f469\u200d\U0001f467",  # a family
    "Ola \U0001f469\U0001f3fd\u200d\U0001f91d\u200d\U0001f468\U0001f3ff", "Ola \u2764\ufe0f\u200d\U0001f525",
    "R2D2", "4lice", "Mary-Jane", "Dr. No", "\U0001f419 Ola", "Zo\u00eb \u2764", "\u0130brahim", "\u0141ukasz",
    "\u00de\u00f3r",
    "Modesto", "Badminton", "Staffan", "Botond", "Robot", "Madison", "Systema", "Supporter", "Clocktower",
    "Ada Lovelace", "June Carter", "Young", "Hostess",
    "J.R.", "J.R.R. Tolkien", "ada.lovelace", "John.Smith", "Mr.T", "St. John", "No.1", "Bob 2.0", "8ball", "Gr8 Bob",
    "Jo Mo D", "Moderna", "Oficina", "GM Carlsen", "Campsite", "On Site", "Bowner", "Jurymen",
    "Chancellor", "Skipper", "Wilder", "Red", "Red 77", "Blue Jay", "Wild Bill",
    "\u041c\u043e\u0434\u0435\u0441\u0442", "\u0410\u0434\u0430\u043c",  # Modest and Adam in Cyrillic
)  # fmt: skip
REFUSED = {
    "unprintable": ["", "...", "\u2728", "\u01c3"],
    "invisible": [
        "\u3164", "\u115f\u1160", "a\u202eb", "a\x00b", "a\u200bb",
        "al\u200dice", "alice\u200c", "\u200dalice", "a\u200d\u0301", "\u0628\u200d\u0628", "\u0627\u200c\u0628",
        "\u0dc1\u0dca\u200d\u200d\u0dbb", "Ola \U0001f468\u200d", "Ola \U0001f468\u200c\U0001f469",
        "\U0001f468\u200dOla",
        "a\u034flice", "alice\ufe0f", "alice\U000e0100", "a\u17b4lice", "a\u17b5lice", "a\u115flice", "a\u180blice",
        "a\u2800b",
        "a\ufffcb", "\U0001d159 a",
    ],
    "marks": ["e" + "\u0301" * 25, "al\u0301\u0302\u0303ice", "\u0301bob", "Bob \u0301x", "a\u20ddb",
        "\u0915\u094d\u200d\u094d\u200d\u094d",
    ],
    "check_mark": ["alice \u2714", "\u2705 bob", "bob\u2713", "Staff \u2714 official", "alice \u00ae",
        "alice \U0001f165", "\U0001f170\U0001f173\U0001f17c\U0001f178\U0001f17d x",
    ],
    "address": ["http://a.example", "www.example.org", "eve@example.org", "Bob (WWW.a.b)",
        "evil.com", "Evil.Com", "see evil.com/x", "evil.com.", "evil\u3002com", "\uff45vil\uff0ecom",
        "evil.\u092d\u093e\u0930\u0924", "Dr.No",
    ],
    "scripts": [
        "\u0430dmin", "\u0430lice", "\u03b1lice", "b\u043eb", "Zo\u00eb b\u043eb", "\u041e\u03bb\u044f", "\u13aalice",
        "\u0915\u094d\u200dalice",
    ],
    "reserved": [
        "admin", "Admin.", "ADMIN", "Adm1n", "\u24d0dmin", "\uff21\uff44\uff4d\uff49\uff4e", "\u00c1dmin",
        "adm\u0131n", "a d m i n",
        "Adminka", "siteadmin", "sysadmin", "Administrators", "\u1d00\u1d05\u1d0d\u026a\u0274",
        "\U0001f1e6\U0001f1e9\U0001f1f2\U0001f1ee\U0001f1f3 x", "Moderator", "Moderators", "Mod", "mods", "M0d",
        "Mod Team", "Staff",
        "Uno Staff", "st4ff", "5taff!", "Staff official", "Official", "Support", "Supp0rt 24", "System", "system32",
        "Clock", "The Clock",
        "Bot", "Ola (bot)", "b0ts", "Mattel", "No Mercy", "N0 Mercy!", "NoMercyTeam", "You", "y0u", "Free seat",
        "The host", "The Dealer", "Verified",
        "Former player", "Deleted user", "Chance", "The Chance!", "W1ld Draw Ten", "wild-draw-ten", "SKIP EVERYONE",
        "red7",
        "Everyone", "all", "Dealer", "Bank", "Judge", "None",
        "Nobody", "Host",
        "guest-0123", "Ad-min Bob", "Bob m.o.d",
        "Ola (you)", "Ada [UK]", "(host) Bob", "A former player",
        "Guest\u2010ab", "Ada", "ada.", "4da", "Ada 2", "A-d-a", "June", "JUNE \u2728", "\uff26inn",
        "\u0410\u0501\u0430",
        "Team No Mercy", "The N0 Mercy crew", "No-Mercy Bob", "Game Master", "gamemaster", "G4me Master Bob",
        "Bob a d m i n", "Moder8or", "M0der8ors", "M0derator",
        "Owner", "The 0wner", "Security", "Billing", "Webmaster", "Postmaster", "Web Master", "Referee", "Jury", "GM",
        "Ola (GM)", "Site", "The Referee",
    ],
}  # fmt: skip


def refusal_of(name: str) -> str | None:
    """Return the code with which this name is refused, or None."""
    try:
        validate_display_name(clean_display_name(name))
    except ValidationError as refused:
        return refused.code
    return None


def test_real_names_are_accepted() -> None:
    assert {name: code for name in ACCEPTED if (code := refusal_of(name))} == {}


@pytest.mark.parametrize("code", REFUSED)
def test_an_invisible_or_misleading_name_is_refused(code: str) -> None:
    assert {name: refusal_of(name) for name in REFUSED[code]} == dict.fromkeys(REFUSED[code], code)


def test_a_refusal_says_what_to_leave_out() -> None:
    with pytest.raises(ValidationError, match=r"leave out combining grapheme joiner \(U\+034F\)"):
        validate_display_name("a\u034flice")
    with pytest.raises(ValidationError, match=r"leave out zero width joiner \(U\+200D\)"):
        validate_display_name("al\u200dice")
    with pytest.raises(ValidationError, match="“b\u043eb” mixes scripts"):
        validate_display_name("Zo\u00eb b\u043eb")


def username_refusal(name: str) -> str:
    """Return the sentence with which this username is refused, or ""."""
    try:
        for validate in username_validators:
            validate(name)
    except ValidationError as refused:
        return str(refused.message)
    return ""


USERNAMES = (
    "al", "Alice", "alice.b-c_9", "9lives", "modesto", "ada_lovelace", "ada.lovelace", "john.smith", "j.r", "bob.2",
    "june-b", "guesthouse", "badminton", "young",
)  # fmt: skip
REFUSED_USERNAMES = {
    "username is reserved": [
        "admin", "Admin", "adm1n", "mod", "the.mods", "staff_1", "ada", "june", "guest-1", "nomercy", "you", "0fficial",
        "chance", "wild_draw_ten", "moder8or", "game_master", "team-no-mercy", "team.no.mercy",
    ],
    "turn this username into a link. Leave out the dot, or use a hyphen.": [
        "evil.com", "www.evil", "bob.evil.com", "a.b.io",
    ],
    "letters a-z, digits, . - _ and no spaces, starting with a letter or digit": [
        "a", "me@home", "-dash", "a b", "\u00e5lice", "x" * 31, "alice\n", "bo\u017fs", "\u0131van", "\u212aarl",
        "\u041c\u043e\u0434\u0435\u0440", "\u0645\u062d\u0645\u062f", "\u5c71\u7530",
    ],
}  # fmt: skip


def test_ordinary_usernames_are_accepted() -> None:
    assert {name: why for name in USERNAMES if (why := username_refusal(name))} == {}


@pytest.mark.parametrize("why", REFUSED_USERNAMES)
def test_a_reserved_or_ambiguous_username_is_refused(why: str) -> None:
    assert [name for name in REFUSED_USERNAMES[why] if why not in username_refusal(name)] == []


def test_words_for_staff_are_reserved_in_each_case_and_in_brackets() -> None:
    forms = [form for word in STAFF_WORDS for form in (word, word.upper(), word.title(), f"Ola ({word})")]
    assert [form for form in forms if not is_reserved(form)] == []


def test_the_names_of_bots_and_cards_are_reserved() -> None:
    cards = {face.name for face in FACES.values()}
    assert {"Wild Draw Ten", "Blue Skip Everyone", "Red 7", "Buzzer"} < cards
    colorless = {face.name.split(" ", 1)[1] for face in FACES.values() if face.color and face.number is None}
    assert [name for name in (*BOT_NAMES, *cards, *colorless) if not is_reserved(name)] == []


def test_style_characters_of_emoji_are_removed() -> None:
    assert clean_display_name("Zo\u00eb \u2764\ufe0f") == "Zo\u00eb \u2764"
    assert clean_display_name("alice\ufe0f") == "alice\ufe0f"  # on a letter it is not a style, so the name is refused


UNSEEN = (
    "\u00ad\u034f\u115f\u17b4\u180b\u200b\u200c\u200d\u202e\u2060\u2800\u3164\ufe0f\uffa0\ufffc\U000e0100\u0301\u20dd"
)
letters = st.one_of(
    st.sampled_from("aZ\u00e9\u0431\u5c71\u0e01\u0628\u0915\u094d\u2764 1"), st.sampled_from(UNSEEN), st.characters()
)


@given(st.lists(letters, min_size=1, max_size=DISPLAY_NAME_LENGTH).map("".join).map(clean_display_name))
def test_no_accepted_name_has_invisible_characters(name: str) -> None:
    try:
        validate_display_name(name)
    except ValidationError:
        return
    assert misplaced_joiner(name) == ""
    visible = without_joiners(name)
    assert INVISIBLE.search(visible) is None
    assert not {unicodedata.category(char) for char in visible} & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Me"}
    assert name == clean_display_name(name) == name.strip()
