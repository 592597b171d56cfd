"""Every rule of the rulebook is named by a test, and every rule named by a test exists."""

from __future__ import annotations

import ast
from pathlib import Path

from games.rules import REFUSALS, RULEBOOK
from games.rules.rulebook import rulebook_markdown

HERE = Path(__file__).parent
DOCS = HERE.parent.parent / "docs"


def named_rules(source: str) -> set[str]:
    """Return the rules that are named in the first argument of a `case(...)` or a `...mark.rule(...)`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args:
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            first = node.args[0]
            if name in ("case", "rule") and isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.update(first.value.split())
    return found


def test_the_search_finds_named_rules_only() -> None:
    good = '@pytest.mark.rule("TURN-1")\ndef test(): case("UNO-1 UNO-2", "a name")'
    bad = '# TURN-1\ndef test(): other("UNO-1"); text = "TURN-2"'
    assert named_rules(good) == {"TURN-1", "UNO-1", "UNO-2"}
    assert named_rules(bad) == set()


def test_every_rule_is_named_by_a_test() -> None:
    own = [path for path in HERE.glob("test_*.py") if path.name not in (Path(__file__).name, "test_classic.py")]
    named = set().union(*(named_rules(path.read_text(encoding="utf-8")) for path in own))
    assert named == {rule.id for rule in RULEBOOK}


def test_every_rule_has_one_row_with_a_text() -> None:
    ids = [rule.id for rule in RULEBOOK]
    assert len(ids) == len(set(ids)) == 52
    assert all(rule.text and rule.source and rule.section for rule in RULEBOOK)
    assert {rule for rule in REFUSALS.values() if rule} <= set(ids)


def test_docs_rules_md_is_generated_from_the_rulebook() -> None:
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == rulebook_markdown()


def test_the_notation_page_names_every_refusal_and_its_rule() -> None:
    page = (DOCS / "notation.md").read_text(encoding="utf-8")
    assert [code for code in REFUSALS if f"`{code}`" not in page] == []
    assert [rule for rule in REFUSALS.values() if rule and rule not in page] == []
