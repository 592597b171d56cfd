"""The docstrings and exports of the package."""

from __future__ import annotations

import ast
import doctest
import importlib
from pathlib import Path

import pytest

import games.rules

MODULES = sorted(path.stem for path in Path(games.rules.__file__).parent.glob("*.py"))


def undocumented(source: str) -> list[str]:
    """Return the public functions, classes and methods without a docstring."""
    public = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    classes = [node for node in public if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    public += [node for owner in classes for node in owner.body if isinstance(node, ast.FunctionDef)]
    return [node.name for node in public if not node.name.startswith("_") and not ast.get_docstring(node)]


def test_the_search_finds_missing_docstrings() -> None:
    assert undocumented('class A:\n    """A."""\n    def b(self): ...\n    def _c(self): ...') == ["b"]


@pytest.mark.parametrize("module", MODULES)
def test_everything_public_has_a_docstring(module: str) -> None:
    path = Path(games.rules.__file__).with_name(f"{module}.py")
    assert undocumented(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("module", [name for name in MODULES if name != "__main__"])
def test_the_examples_in_docstrings_are_true(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"games.rules.{module}".removesuffix(".__init__")))
    assert result.failed == 0


def test_everything_in_all_exists() -> None:
    assert [name for name in games.rules.__all__ if not hasattr(games.rules, name)] == []
