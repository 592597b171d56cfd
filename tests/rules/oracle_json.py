"""Checks of JSON values for the oracle's input. Each raises `BadInputError` for a value of another type or range."""

from __future__ import annotations


class BadInputError(ValueError):
    """The request is bad input, which the console refuses."""


def whole(value: object, name: str, low: int | None = None, high: int | None = None) -> int:
    if type(value) is not int:  # a bool is an int in Python
        raise BadInputError(f"{name} is not a whole number")
    if (low is not None and value < low) or (high is not None and value > high):
        raise BadInputError(f"{name} is out of range")
    return value


def true_or_false(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise BadInputError(f"{name} is not true or false")
    return value


def text_of(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise BadInputError(f"{name} is not a string")
    return value


def list_of(value: object, name: str) -> list[object]:
    if not isinstance(value, list):
        raise BadInputError(f"{name} is not a list")
    return value


def object_of(value: object, name: str, known: set[str], needed: set[str]) -> dict[str, object]:
    if not isinstance(value, dict):
        raise BadInputError(f"{name} is not an object")
    if set(value) - known:
        raise BadInputError(f"{name} has an unknown field")
    if needed - set(value):
        raise BadInputError(f"{name} lacks a field")
    return value


def one_of(value: object, name: str, allowed: list[str]) -> str:
    text = text_of(value, name)
    if text not in allowed:
        raise BadInputError(f"{name} is unknown")
    return text


def seats_of(value: object, name: str, players: int) -> list[int]:
    seats = [whole(seat, name, 0, players - 1) for seat in list_of(value, name)]
    if len(set(seats)) != len(seats):
        raise BadInputError(f"{name} names a seat twice")
    return seats
