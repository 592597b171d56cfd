"""Each refusal has whole sentences, and their placeholders are the facts that are given where it is raised."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from string import Formatter
from typing import Final, NamedTuple

import pytest

from common.say import Say
from games.refusals import STATUSES, Denied, from_rules
from games.rules import REFUSALS, SPECS, BadInput, Refused, options_from
from tests.support.modules import modules

REFUSED_BY: Final = ("Denied", "Refused", "TooManyAgainstBots", "BadOption")
"""The classes whose second argument is a sentence. The first is a code, or the name of an option."""
NO_FACTS: Final = {"rule", "version", "option", "message"}
"""The other arguments by name."""
EVERY_FACT: Final[dict[str, str | int]] = {"card": "r5", "top": "r5", "color": "r", "n": 2}
"""Facts for each sentence that the rules have in their table."""


class Raised(NamedTuple):
    """A place that makes a refusal, with the sentences that can be told there."""

    where: str
    code: str
    sentences: list[str]
    facts: set[str]


class Heard(Say):
    """Keeps the messages that are looked up."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def found(self, context: str, message: str) -> str:
        self.messages.append(message)
        return message


def _sentences(node: ast.expr, known: Mapping[str, ast.expr]) -> Iterator[str]:
    """Yield the sentences that an argument can be; none if another module or function knows them.

    :raises AssertionError: a sentence is put together.
    """
    assert not isinstance(node, ast.JoinedStr | ast.BinOp), ast.unparse(node)
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Call(func=ast.Name(id="N_"), args=[text]):
            yield from _sentences(text, known)
        case ast.Tuple(elts=several):
            for one in several:
                yield from _sentences(one, known)
        case ast.IfExp(body=one, orelse=other):
            yield from _sentences(one, known)
            yield from _sentences(other, known)
        case ast.Name(id=name) if name in known:
            yield from _sentences(known[name], known)


def _known_at(line: int, assigned: Sequence[ast.stmt]) -> dict[str, ast.expr]:
    """Return what names stand for at a line: what was last given to them in the function, or else in the module."""
    functions = [node for node in assigned if isinstance(node, ast.FunctionDef)]
    start = max((one.lineno for one in functions if one.lineno < line <= (one.end_lineno or line)), default=line)
    known: dict[str, ast.expr] = {}
    for node in sorted(assigned, key=lambda one: one.lineno):
        if node.col_offset and not start < node.lineno < line:
            continue
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            known[node.target.id] = node.value
    return known


def raised_in(path: str, code: str) -> Iterator[Raised]:
    """Yield the refusals that are made in a module."""
    if not any(f"{name}(" in code for name in REFUSED_BY):  # most modules need not be parsed
        return
    nodes = list(ast.walk(ast.parse(code)))
    assigned = [node for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef)]
    for call in nodes:
        if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) in REFUSED_BY:
            known = _known_at(call.lineno, assigned)
            first, *others = call.args
            told = list(_sentences(others[0], known)) if others else []
            facts = {str(keyword.arg) for keyword in call.keywords} - NO_FACTS
            yield Raised(f"{path}:{call.lineno}", next(_sentences(first, known), ""), told, facts)


def everywhere() -> list[Raised]:
    """Return all refusals of the site."""
    return [one for path, code in modules(("accounts", "games", "nomercy")).items() for one in raised_in(path, code)]


EVERYWHERE: Final = everywhere()
TOLD: Final = [one for one in EVERYWHERE if one.sentences]


def placeholders(*messages: str) -> set[str]:
    """Return the placeholders of messages, without those of options, which `BadOption` fills in."""
    found = {name for message in messages for _, name, _, _ in Formatter().parse(message) if name}
    return {name for name in found if name != "option" and name.partition("=")[0] not in SPECS}


@pytest.mark.parametrize("one", TOLD, ids=[one.where for one in TOLD])
def test_the_facts_of_a_refusal_are_those_of_its_sentences(one: Raised) -> None:
    assert placeholders(*one.sentences) == one.facts
    for sentence in one.sentences:
        assert re.fullmatch(r"[“`A-Z{].*[.}]", sentence), sentence
        assert "(s)" not in sentence


def test_the_table_of_the_rules_has_the_facts_that_are_given() -> None:
    from_table = [one for one in EVERYWHERE if one.code in REFUSALS and not one.sentences and "/rules/" in one.where]
    assert from_table
    for one in from_table:
        heard = Heard()
        Refused(one.code, "", **{name: EVERY_FACT[name] for name in one.facts}).said(heard)
        assert placeholders(*heard.messages) == one.facts, one.where


def test_each_code_has_a_sentence() -> None:
    told = {one.code for one in TOLD}
    assert [code for code in STATUSES if code not in told and code not in REFUSALS] == []
    for code in set(REFUSALS) - told:
        assert Refused(code, "", **EVERY_FACT).message.endswith(".")


def test_a_missing_fact_shows_when_a_refusal_is_made() -> None:
    with pytest.raises(KeyError):
        Denied("forbidden", "{name} is not here.")
    with pytest.raises(KeyError):
        Refused("not_in_hand")
    with pytest.raises(AssertionError):
        Refused("cards_owed")


class German(Say):
    """Says a few messages in another language."""

    MESSAGES: Final = {
        "{card} does not match {top} ({color}).": "{top} ({color}): {card} passt nicht.",
        "Red": "Rot",
        "Wild": "Farbwahl",
        "The option {option} must be {low} to {high}.": "{option}: nur {low} bis {high}.",
        "“{text}”": "„{text}“",
        "Cards dealt to each": "Handkarten",
    }

    def found(self, context: str, message: str) -> str:
        return self.MESSAGES.get(message, message)


def test_a_refusal_is_said_in_the_readers_language_and_in_english_for_the_api() -> None:
    refused = Refused("not_matching", "{card} does not match {top} ({color}).", card="g5", top="W", color="r")
    denied = from_rules(refused, 3)
    assert denied.said(German()) == "Farbwahl (Rot): Green 5 passt nicht."
    assert denied.to_json()["message"] == denied.message == "Green 5 does not match Wild (Red)."
    with pytest.raises(BadInput) as bad:
        options_from("classic", {"hand_size": 99})
    assert bad.value.said(German()) == "„Handkarten“: nur 1 bis 15."
    assert str(bad.value) == "The option hand_size must be 1 to 15."


def test_names_are_told_as_they_are() -> None:
    assert Denied("forbidden", "{name} has left.", name="{0} %s {name}").message == "{0} %s {name} has left."


def test_a_sentence_that_is_put_together_is_found() -> None:
    with pytest.raises(AssertionError):
        list(raised_in("x.py", 'raise Denied("over", f"{name} has won.")'))
    with pytest.raises(AssertionError):
        list(raised_in("x.py", 'def f():\n    why = "a" + b\n    raise rules.Refused("over", why)'))
