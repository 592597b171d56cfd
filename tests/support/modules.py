"""Finds the modules of the project, for tests that read code."""

from __future__ import annotations

from collections.abc import Iterable

from nomercy.launcher.place import CHECKOUT


def modules(places: Iterable[str]) -> dict[str, str]:
    """Return the code of each Python file at these paths in the checkout and in the folders at them, by its path."""
    paths = {path for place in map(CHECKOUT.joinpath, places) for path in (place, *place.rglob("*.py"))}
    return {str(path.relative_to(CHECKOUT)): path.read_text() for path in sorted(paths) if path.suffix == ".py"}
