"""Compares events and sentences with the golden stories."""

from __future__ import annotations

import json

from games.rules import EVENTS, REFUSALS
from tests.rules.stories import GOLDEN, tell

LINES = (GOLDEN / "stories.jsonl").read_text(encoding="utf-8").splitlines()


def test_events_and_sentences_match_the_golden_stories() -> None:
    stories = [json.loads(json.dumps(line)) for line in tell()]
    for line, wanted in zip(stories, map(json.loads, LINES), strict=True):
        assert line == wanted


def test_the_stories_have_every_kind_of_event() -> None:
    told = [event["kind"] for line in map(json.loads, LINES) for event in line.get("events", [])]
    assert set(told) == set(EVENTS)


def test_the_stories_have_every_refusal() -> None:
    assert {line["code"] for line in map(json.loads, LINES) if "refused" in line} == set(REFUSALS)
