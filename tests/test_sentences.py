"""What players read is chosen whole: no sentence is put together from pieces, and none is cut."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.modules import modules

PLACES: Final = (
    "accounts", "games/actions", "games/clocks", "games/notices", "games/render", "games/rules", "games/web", "mail",
)  # fmt: skip
"""Where the texts for players are. Texts for staff, operators and programs and the rulebook are not checked."""
NOT_FOR_PLAYERS: Final = re.compile(
    r"(^|/)(management|migrations|admin)(/|\.py)|/rulebook|/console|/__main__|/checks|/rules/(position_json|record)\.py"
)
LEFT: Final = Path(__file__).with_name("sentences_left.txt")
"""How many texts of each module are still put together. A number may only shrink, and a module may only go."""

SAYS: Final = {"text": 1, "plural": 2, "form": 1}
"""The methods of `Say`, and how many messages follow the context."""
CUTS: Final = {
    "capitalize", "format", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rpartition",
    "rstrip", "split", "strip", "title", "upper",
}  # fmt: skip
"""What a text must not go through after it was said."""
PROSE: Final = re.compile(r"[A-Za-z’]{2,}[ .:,]+[A-Za-z{(]|[a-z] $|^ [a-z]| [a-z]+\.$|^, |, $")
"""Words with a space or a full stop, which are part of a sentence and no key, URL or selector."""
CODE: Final = re.compile(r"\s*(<|data:|Bearer |vapid |SELECT\b|COALESCE\()")
"""How HTML, an address of data, headers and SQL begin."""
BARE: Final = re.compile(r"[^\w“”]*\{(?!(card|color)\})\w*\}[^\w“”]*")
"""A message that says nothing beside its fact, which is then a whole text. The name of a card or a colour may be."""
QUIET: Final = {
    "log",
    "logger",
    "cursor",
    "ValueError",
    "AssertionError",
    "TypeError",
    "RuntimeError",
    "BadInput",
    "BadAnswer",
    "Unreachable",
    "sha256",
    "CommandError",
    "add_argument",
}


def _is_said(node: ast.AST) -> bool:
    """Return True for a call of `say.text`, `say.plural`, `say.form` or the same of another object that is named so."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SAYS):
        return False
    owner = node.func.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return name in ("say", "ENGLISH")


def _is_marked(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "N_"


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_bare(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and BARE.fullmatch(str(node.value)) is not None


def _is_piece(node: ast.AST) -> bool:
    """Return True for a text that is chosen or put together where a fact or a message is wanted."""
    if isinstance(node, ast.IfExp):
        return any(_is_constant(one) or _is_piece(one) for one in (node.body, node.orelse))
    return isinstance(node, ast.JoinedStr | ast.BinOp) or _is_constant(node)


def glued(code: str) -> Iterator[tuple[int, str]]:
    """Yield the lines where a said text is put together or cut, and why."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and _is_said(node):
            yield from ((node.lineno, why) for why in _faults_of(node))
        elif isinstance(node, ast.Call) and _is_marked(node) and not _is_constant(node.args[0]):
            yield node.lineno, "N_ marks no constant"
        elif isinstance(node, ast.Call) and _is_marked(node) and _is_bare(node.args[0]):
            yield node.lineno, "the message has no words of its own"
        elif isinstance(node, ast.expr) and any(map(_is_said, _changed_by(node))):
            yield node.lineno, "a said text is changed, cut or put into another one"
        elif isinstance(node, ast.FunctionDef):
            yield from ((line, "a name for a said text is put into another one") for line in _named_and_glued(node))


def _named_and_glued(function: ast.FunctionDef) -> Iterator[int]:
    """Yield the lines that put a text together of a name to which the function assigns a said text."""
    names = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _is_said(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(function):
        if isinstance(node, ast.expr):
            yield from (node.lineno for one in _changed_by(node) if isinstance(one, ast.Name) and one.id in names)


def _faults_of(call: ast.Call) -> Iterator[str]:
    """Yield what is wrong with the arguments of `say.text`, `say.plural` or `say.form`."""
    assert isinstance(call.func, ast.Attribute)
    context, *messages = call.args[: 1 + SAYS[call.func.attr]]
    if not _is_constant(context):
        yield "the context is not a constant"
    for message in messages:
        if _is_bare(message):
            yield "the message has no words of its own"
        if isinstance(message, ast.Constant):
            if str(message.value) != str(message.value).strip():
                yield "the message begins or ends with a space"
        elif _is_piece(message):
            yield "the message is put together"
    if any(_is_piece(fact.value) for fact in call.keywords):
        yield "a fact is a piece of a sentence"


def _changed_by(node: ast.expr) -> list[ast.expr]:
    """Return the expressions that this one puts into a text, adds to one, cuts or changes."""
    match node:
        case ast.JoinedStr():
            return [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        case ast.BinOp():
            return [node.left, node.right]
        case ast.Subscript():
            return [node.value]
        case ast.Attribute() if node.attr in CUTS:
            return [node.value]
    return []


def put_together(code: str) -> Iterator[int]:
    """Yield the lines of texts that are put together without `Say`: f-strings, `+`, `%` and `.format` with words."""
    tree = ast.parse(code)
    quiet = {id(inner) for node in ast.walk(tree) if _says_nothing_to_players(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) not in quiet and isinstance(node, ast.expr) and any(map(_is_prose, _pieces_of(node))):
            yield node.lineno


def _pieces_of(node: ast.expr) -> list[ast.expr]:
    """Return the constant pieces from which this expression would put a text together."""
    match node:
        case ast.JoinedStr():
            return [] if _is_code(node.values[0]) else node.values
        case ast.BinOp(op=ast.Add() | ast.Mod()):
            return [node.left, node.right]
        case ast.Attribute(attr="format"):
            return [node.value]
    return []


def _is_prose(node: ast.expr) -> bool:
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    return PROSE.search(node.value) is not None and not _is_code(node)


def _is_code(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.match(node.value) is not None


def _says_nothing_to_players(node: ast.AST) -> bool:
    """Return True for calls that log, raise faults of the program, run SQL or check, and for docstrings."""
    if isinstance(node, ast.Assert):
        return True
    if isinstance(node, ast.FunctionDef) and node.name in ("__str__", "__repr__"):
        return True
    if isinstance(node, ast.Call):
        name: ast.AST = node.func
        while isinstance(name, ast.Attribute):
            if name.attr in QUIET:
                return True
            name = name.value
        return isinstance(name, ast.Name) and name.id in QUIET
    return False


def texts_for_players() -> dict[str, str]:
    """Return the code of each module with texts for players, by its path in the checkout."""
    return {path: code for path, code in modules(PLACES).items() if not NOT_FOR_PLAYERS.search(path)}


def marked() -> set[str]:
    """Return the messages that `N_` marks, so that a catalogue of translations can find them."""
    trees = map(ast.parse, texts_for_players().values())
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_marked(node))
    return {ast.literal_eval(call.args[0]) for call in calls}


def test_no_said_sentence_is_put_together_or_cut() -> None:
    found = [f"{path}:{line}: {why}" for path, code in texts_for_players().items() for line, why in glued(code)]
    assert found == []


def test_what_is_still_put_together_only_shrinks() -> None:
    left = dict(line.split() for line in LEFT.read_text().splitlines())
    found = {path: list(put_together(code)) for path, code in texts_for_players().items()}
    now = {path: str(len(lines)) for path, lines in found.items() if lines}
    assert now == left, {path: lines for path, lines in found.items() if str(len(lines) or "") != left.get(path, "")}


@pytest.mark.parametrize(
    "code",
    [
        'say.text(f"log", "x")',
        'say.text("log", f"{x} wins.")',
        'say.text("log", "a " + b)',
        'say.text("log", "wins ")',
        'say.text("log", "{x} wins.", x="a" if b else "the")',
        'say.text("log", "{x} wins.", x=f"the {b}")',
        "f\"{say.text('log', 'You')} win.\"",
        'say.text("log", "You win.") + "!"',
        'say.text("log", "You win.")[1:]',
        'say.text("log", "You win.").removesuffix(".")',
        'view.say.plural("log", "{n} card", f"{n} cards", 2)',
        "N_(f'{x}')",
        'say.text("log", "{it}.", it=said)',
        'N_("{preset}")',
        'def told():\n    said = say.text("log", "You win.")\n    return f"{said} {more}"',
    ],
)
def test_glue_is_found(code: str) -> None:
    assert list(glued(code))


@pytest.mark.parametrize(
    "code",
    ['f"{name} wins the round."', 'name + " wins"', '"Round %s is over." % n', '"{} has left.".format(name)'],
)
def test_pieces_are_found(code: str) -> None:
    assert list(put_together(code))


@pytest.mark.parametrize(
    "code",
    [
        'f"<b>{name} wins</b>"',
        'f"SELECT {a}, {b} FROM t"',
        'f"{kind}.{channel}"',
        'log.error(f"no {x} here")',
        'say.text("log", "{x} wins.", x=name)',
        'say.text("key", "{card}.", card=name)',
        'f"game-{code}"',
    ],
)
def test_keys_and_whole_sentences_are_not(code: str) -> None:
    assert not list(put_together(code))
    assert not list(glued(code))
