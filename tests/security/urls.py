"""Every URL of the site, from the URL resolver, with values for its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import LocalePrefixPattern, RegexPattern, RoutePattern


@dataclass(frozen=True)
class Address:
    """A URL pattern: its name with namespaces (for `reverse`), its route and its arguments."""

    name: str
    route: str
    arguments: tuple[str, ...]
    pattern: RoutePattern | RegexPattern | LocalePrefixPattern

    @property
    def key(self) -> str:
        """Return the route as the resolver has it, which the table of permissions uses."""
        return f"/{self.route}"

    def url(self, values: dict[str, Any]) -> str:
        """Return the URL with these values. Fails with the name of an argument that the tests do not know."""
        missing = [name for name in self.arguments if name not in values]
        assert not missing, f"{self.key} takes {missing}: give the tests a value in `arguments`"
        if isinstance(self.pattern, RegexPattern):
            path = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", lambda m: str(values[m[1]]), self.route)
            return "/" + re.sub(r"\(\?:[^)]*\)|[\^$]|\\Z|\\", "", path)
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda m: str(values[m[1]]), self.route)


def addresses(patterns: Sequence[URLPattern | URLResolver] | None = None) -> list[Address]:
    """Return every URL pattern in these patterns, or in the whole site."""
    walked = _walk(get_resolver().url_patterns if patterns is None else patterns, "", "", ())
    return sorted(walked, key=lambda address: address.key)


def _walk(
    patterns: Sequence[URLPattern | URLResolver], route: str, namespace: str, arguments: tuple[str, ...]
) -> Iterator[Address]:
    for entry in patterns:
        here = route + str(entry.pattern).removeprefix("^")
        taken = (*arguments, *_arguments(entry.pattern))
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from _walk(entry.url_patterns, here, inner, taken)
        else:
            yield Address(f"{namespace}{entry.name}", here, taken, entry.pattern)


def _arguments(pattern: RoutePattern | RegexPattern | LocalePrefixPattern) -> list[str]:
    if isinstance(pattern, RegexPattern):
        return list(pattern.regex.groupindex)
    return list(pattern.converters)
