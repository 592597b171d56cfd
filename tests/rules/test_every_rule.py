"""Every rule of the rulebook is named by a test, and every rule named by a test exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from games.rules import MAX_PLAYERS_OF, PRESETS, REFUSALS, RULEBOOK, options_from, rules_that_apply
from games.rules.rulebook import rulebook_markdown
from games.rules.rulebook_no_mercy import NO_MERCY_RULES

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"


def named_rules(source: str) -> set[str]:
    """Return the rules that are named in the first argument of `case(...)`, `..._case(...)` or `...mark.rule(...)`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args:
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            first = node.args[0]
            names_rules = name in ("case", "rule") or name.endswith("_case")
            if names_rules and isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.update(first.value.split())
    return found


def test_the_search_finds_named_rules_only() -> None:
    good = '@pytest.mark.rule("TURN-1")\ndef test(): case("UNO-1 UNO-2", "a name"), some_case("UNO-3")'
    bad = '# TURN-1\ndef test(): other("UNO-1"); text = "TURN-2"'
    assert named_rules(good) == {"TURN-1", "UNO-1", "UNO-2", "UNO-3"}
    assert named_rules(bad) == set()


def test_every_rule_is_named_by_a_test() -> None:
    own = [path for path in HERE.glob("test_*.py") if path.name not in (Path(__file__).name, "test_classic.py")]
    named = set().union(*(named_rules(path.read_text(encoding="utf-8")) for path in own))
    assert named == {rule.id for rule in RULEBOOK}


def test_every_rule_has_one_row_with_a_text() -> None:
    ids = [rule.id for rule in RULEBOOK]
    assert len(ids) == len(set(ids)) == 106
    assert all(rule.text and rule.source and rule.section for rule in RULEBOOK)
    assert {rule for rule in REFUSALS.values() if rule} <= set(ids)


def ids(text: str) -> set[str]:
    """Return the rules of a text like `RUN-1 RUN-2`."""
    return set(text.split())


NOT_WITH_OTHER_DECKS = "DECK-1 DISC-1 MERCY-1 MERCY-2 ROUL-1 ROUL-2 STACK-1 TURN-3 UNO-5 WR4-1 WR4-2"
ALWAYS = "CALL-2 DECK-2 ELIM-2 MATCH-1 OPT-1 SCORE-4"
FLIPS = "FLIP-1 FLIP-2 FLIP-3 FLIP-4 FLIP-5 FLIP-6 FLIP-7 PAIR-1"
OUT_OF_TURN = "INT-1 INT-2 INT-3 INT-4 INT-5 RUN-1 RUN-2 RUN-3 RUN-4 RUN-5 RUN-6"
DEBTS = "RESP-1 RESP-2 RESP-3 RESP-5 RESP-6"
BLUFFS = "BLUFF-1 BLUFF-2 BLUFF-3 BLUFF-4 BLUFF-6"


@pytest.mark.parametrize(
    ("preset", "left_out", "added"),
    [
        ("no-mercy", "", f"{ALWAYS} CALL-3 RESP-6"),
        (
            "classic",
            f"{NOT_WITH_OTHER_DECKS} ALL-1 END-3 SETUP-3 SEVEN-1 STACK-2 ZERO-1",
            f"{ALWAYS} {BLUFFS} CALL-3 FIRST-1 PAY-1 STUCK-1 TURN-8",
        ),
        (
            "playroom",
            f"{NOT_WITH_OTHER_DECKS} ALL-1 END-3 SEVEN-1 STACK-2 STACK-3 STACK-4 UNO-3 ZERO-1",
            f"{ALWAYS} CALL-1 ELIM-1 PAY-1 PAY-2 STUCK-1",
        ),
        (
            "playroom-no-mercy",
            "END-3 MERCY-2 STACK-1 STACK-4 UNO-3",
            f"{ALWAYS} CALL-1 ELIM-1 PAY-2 PAY-3 PAY-4 RESP-1 RESP-6 STUCK-1",
        ),
        (
            "flip",
            f"{NOT_WITH_OTHER_DECKS} END-3 SETUP-3 SEVEN-1 STACK-2 ZERO-1",
            f"{ALWAYS} {BLUFFS} {FLIPS} BLUFF-5 CALL-3 FIRST-1 PAY-1 RESP-6 STUCK-1 TURN-8",
        ),
        (
            "house-party",
            f"{NOT_WITH_OTHER_DECKS} ALL-1 STACK-4 UNO-3",
            f"{ALWAYS} {BLUFFS} {OUT_OF_TURN} BUZZ-1 BUZZ-3 BUZZ-4 CALL-1 ELIM-1 PAY-2 {DEBTS} STUCK-1 TURN-8",
        ),
    ],
)
def test_a_table_is_shown_the_rules_that_apply(preset: str, left_out: str, added: str) -> None:
    applying = {rule.id for rule in rules_that_apply(PRESETS[preset], MAX_PLAYERS_OF[preset])}
    assert {rule.id for rule in NO_MERCY_RULES} - applying == ids(left_out)
    assert applying - {rule.id for rule in NO_MERCY_RULES} == ids(added)


@pytest.mark.parametrize(
    ("preset", "options", "added"),
    [
        ("classic", {"straights": True}, "RUN-1 RUN-2 RUN-4 RUN-5 RUN-6"),
        ("classic", {"straights": True, "zero_seven": True}, "RUN-1 RUN-2 RUN-3 RUN-4 RUN-5 RUN-6 SEVEN-1 ZERO-1"),
        ("classic", {"interceptions": "exact"}, "INT-1 INT-2 INT-3 INT-4 INT-5"),
        ("classic", {"buzzers": "race"}, "BUZZ-1 BUZZ-2 BUZZ-4 RESP-6"),
        ("no-mercy", {"advanced_stacking": True}, "RESP-2 RESP-3 RESP-4 RESP-5"),
        ("no-mercy", {"mercy_limit": 0}, "OPT-2 STUCK-1"),
        ("no-mercy", {"false_catch_penalty": 1}, "CALL-4 ELIM-3"),
        ("no-mercy", {"mercy_limit": 10, "callout_penalty": 9}, "ELIM-3"),
        ("no-mercy", {"mercy_limit": 11, "callout_penalty": 9}, ""),
        ("no-mercy", {"uno_on_received_hand": False}, "CALL-4"),
        ("no-mercy", {"mercy_cards": "draw_pile"}, "ELIM-1"),
    ],
)
def test_an_option_brings_its_rules(preset: str, options: dict[str, object], added: str) -> None:
    players = MAX_PLAYERS_OF[preset]
    before = {rule.id for rule in rules_that_apply(PRESETS[preset], players)}
    assert {rule.id for rule in rules_that_apply(options_from(preset, options), players)} - before == ids(added)


@pytest.mark.parametrize(
    ("preset", "options", "players", "reachable"),
    [
        ("no-mercy", {}, 6, False),
        ("no-mercy", {"mercy_limit": 50}, 3, False),
        ("no-mercy", {"mercy_limit": 50}, 4, True),
        ("playroom-no-mercy", {}, 6, False),
        ("playroom-no-mercy", {}, 7, True),
        ("classic", {}, 2, True),
        ("classic", {"mercy_limit": 10}, 10, False),
        ("classic", {"mercy_limit": 20}, 6, True),
    ],
)
def test_a_round_that_can_get_stuck_depends_on_the_number_of_players(
    preset: str, options: dict[str, object], players: int, reachable: bool
) -> None:
    applying = {rule.id for rule in rules_that_apply(options_from(preset, options), players)}
    assert ("STUCK-1" in applying) == reachable


NOT_CLASSIC = r"[Rr]oulette|(?<!`)[Ss]tack|Mercy|MERCY-|Discard All|\bswap|SEVEN-1|ZERO-1|WR4|END-3|to 6"
OF_DECKS_AND_OPTIONS = ("DECK-2", "OPT-1", "STUCK-1")
"""Rules that name other tables: what the decks are, and what does not go together."""


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ("no-mercy", r"other presets|Wild Draw Colour|BLUFF-|2 to 10"),
        ("classic", rf"{NOT_CLASSIC}|Skip Everyone"),
        ("playroom", rf"{NOT_CLASSIC}|Skip Everyone"),
        ("playroom-no-mercy", r"END-3|other presets|BLUFF-|Wild Draw Colour"),
        ("flip", NOT_CLASSIC),
        ("house-party", r"[Rr]oulette|Mercy|Discard All|Skip Everyone|WR4|to 6"),
    ],
)
def test_a_table_is_shown_only_what_applies_of_a_rule(preset: str, words: str) -> None:
    options, players = PRESETS[preset], MAX_PLAYERS_OF[preset]
    shown = {
        rule.id: f"{rule.section}. {rule.text_for(options, players)}"
        for rule in rules_that_apply(options, players)
        if rule.id not in OF_DECKS_AND_OPTIONS
    }
    assert {rule: text for rule, text in shown.items() if re.search(words, text)} == {}


def test_the_number_of_players_is_that_of_the_table() -> None:
    rule = next(rule for rule in RULEBOOK if rule.id == "SETUP-1")
    assert rule.text_for(PRESETS["no-mercy"], 6) == "At least 2 players, at most 6."
    assert rule.text_for(PRESETS["classic"], 4) == "At least 2 players, at most 4."


def test_a_part_of_a_rule_is_in_its_text() -> None:
    parts = [(rule, part) for rule in RULEBOOK for part in rule.parts]
    assert [(rule.id, part.text) for rule, part in parts if rule.text.count(part.text) != 1] == []


def test_docs_rules_md_is_generated_from_the_rulebook() -> None:
    """If this fails, run `python -m games.rules rulebook > docs/rules.md`."""
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == rulebook_markdown()


def test_the_notation_page_names_every_refusal_and_its_rule() -> None:
    page = (DOCS / "notation.md").read_text(encoding="utf-8")
    assert [code for code in REFUSALS if f"`{code}`" not in page] == []
    assert [rule for rule in REFUSALS.values() if rule and rule not in page] == []
