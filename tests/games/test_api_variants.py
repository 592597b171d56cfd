"""The API at tables of every preset: the fields that only variants have, and their moves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from accounts.models import User
from games import rules
from games.api.views import game_json
from games.rules.phases import PHASES
from tests.games.test_api import VIEW
from tests.games.test_render import seen
from tests.games.test_two_sides import DARK, LIGHT, OVER
from tests.support.api import Program, refusal
from tests.support.options import values_of
from tests.support.races import RACING
from tests.support.tables import now_of, table_at

pytestmark = pytest.mark.django_db

VARIANT_FIELDS = {"side", "run", "challenge", "buzz", "passes", "fines", "backs"}
HANDS = [["r5", "b1"], ["r4", "g3"], ["y1", "y2"]]
CHALLENGEABLE: Mapping[str, Any] = {
    "hands": HANDS, "turn": 1, "discard_pile": ["r3", "W4"], "color": "r", "pending": {"total": 4, "value": 4},
    "challenge": {"seat": 0, "bluff": True}, "draw_pile": ["b2", "g7", "g8", "g9", "y3", "y4", "y5"],
}  # fmt: skip
RACE: Mapping[str, Any] = {
    "hands": HANDS, "turn": 0, "discard_pile": ["r3", "BZ"], "phase": "buzz", "buzz": {"by": 0, "pressed": []},
    "draw_pile": ["b2", "g7"],
}  # fmt: skip


@pytest.fixture
def a(alice: User) -> Program:
    return Program(alice)


@pytest.fixture
def objects(a: Program) -> dict[str, Any]:
    """The objects that the OpenAPI document describes."""
    schemas: dict[str, Any] = a.get("openapi.json").json()["components"]["schemas"]
    return schemas


def variant_fields(position: Mapping[str, Any], preset: str, you: int | None = 0, **options: object) -> dict[str, Any]:
    answer = game_json(seen(position, you, preset=preset, options=options))
    answer.pop("orders", None)  # tests/games/test_set_orders.py tests those
    assert set(answer) <= VIEW | VARIANT_FIELDS
    return {name: value for name, value in answer.items() if name not in VIEW}


def test_fields_that_say_nothing_are_left_out() -> None:
    for preset in sorted(set(rules.PRESETS) - {"flip"}):
        assert variant_fields({"hands": HANDS, "turn": 0, "discard_pile": ["r3"]}, preset) == {}


def test_the_view_has_the_fields_of_variants() -> None:
    plain = {"hands": HANDS, "turn": 1, "discard_pile": ["r3"]}
    run, fines = {"run": {"seat": 0, "card": "r3"}}, {"passes": 2, "fines": (0, 3, 0)}
    assert variant_fields({**plain, **run}, "house-party") == run
    assert variant_fields({**plain, "fines": [0, 3, 0], "passes": 2}, "house-party") == fines
    assert variant_fields(RACE, "house-party", buzzers="race") == {"buzz": {"by": 0, "pressed": ()}}


def test_the_view_names_the_seat_that_can_be_challenged_and_no_verdict() -> None:
    for you, bluff in product((0, 1, 2, None), (True, False)):
        position = {**CHALLENGEABLE, "challenge": {"seat": 0, "bluff": bluff}}
        assert variant_fields(position, "classic", you) == {"challenge": 0}


def test_a_debt_names_its_draw_card_only_if_another_card_is_on_top() -> None:
    def pending(**changes: Any) -> Any:
        return game_json(seen({**CHALLENGEABLE, "challenge": None, **changes}, 0, preset="house-party"))["pending"]

    assert pending() == {"total": 4, "value": 4}
    passed_on = {"discard_pile": ["W4", "rS"], "pending": {"total": 4, "value": 4, "by": "W4"}}
    assert pending(**passed_on) == {"total": 4, "value": 4, "by": "W4"}


def test_the_view_of_flip_has_one_face_of_each_card_and_the_backs_of_other_hands() -> None:
    assert variant_fields(DARK, "flip") == {"side": "dark", "backs": ((), ("W", "r4"), ("b9", "y1"))}
    assert variant_fields(DARK, "flip", None) == {"side": "dark"}
    assert variant_fields(LIGHT, "flip", flip_backs="hidden") == {"side": "light"}
    answer = game_json(seen(DARK, 0, preset="flip"))
    assert (answer["hand"], answer["top"], answer["hands"]) == (["W", "o2", "pF", "tE"], "t4", None)


def test_both_faces_of_every_hand_are_open_once_the_round_is_over() -> None:
    assert variant_fields(OVER, "flip") == {"side": "dark"}
    assert game_json(seen(OVER, None, preset="flip"))["hands"] == [[], ["W/u3", "r4/t1"], ["b9/WD", "y1/u9"]]


def test_a_program_challenges_a_card(alice: User, bob: User, charlie: User) -> None:
    code = table_at(CHALLENGEABLE, [alice, bob, charlie], preset="classic").game.code
    program = Program(bob)
    view = program.get(f"games/{code}").json()
    assert (view["challenge"], view["pending"], "challenge" in view["legal"]) == (0, {"total": 4, "value": 4}, True)
    assert program.post(f"games/{code}/moves", {"move": "challenge"}).status_code == 400
    after = program.move(code, "challenge").json()
    assert ("challenge" in after, after["turn"], after["seats"][0]["cards"]) == (False, 1, 6)
    assert refusal(program.move(code, "challenge", 1)) == (422, "nothing_to_challenge")
    told = program.get(f"games/{code}/moves").json()["moves"][0]
    assert {"kind": "challenged", "seat": 1, "target": 0, "reason": "right"} in told["events"]
    assert all("cards" not in event for event in told["events"])


def test_programs_press_a_buzzer_without_a_version(alice: User, bob: User, charlie: User) -> None:
    table = table_at(RACE, [alice, bob, charlie], **RACING)
    path, b, c = f"games/{table.game.code}/moves", Program(bob), Program(charlie)
    pressed = c.post(path, {"move": "buzz"}).json()
    assert (pressed["buzz"], pressed["legal"]) == ({"by": 0, "pressed": [2]}, [])
    assert refusal(c.post(path, {"move": "buzz"})) == (422, "already_pressed")
    ended = b.post(path, {"move": "buzz"}).json()
    assert ("buzz" in ended, ended["turn"], ended["seats"][0]["cards"]) == (False, 1, 4)
    assert now_of(table).started.position.phase == "play"


def test_the_openapi_document_describes_the_fields_of_variants(objects: dict[str, Any]) -> None:
    view, debt = objects["GameOut"], objects["PendingOut"]
    assert set(view["properties"]) >= VIEW | VARIANT_FIELDS
    assert set(view["required"]) == VIEW
    assert [name for name in VARIANT_FIELDS if "default" in view["properties"][name]] == []
    assert set(debt["properties"]) - set(debt["required"]) == {"by"}


def test_the_openapi_document_lists_events_codes_and_statuses(objects: dict[str, Any]) -> None:
    events = {event["title"]: event for event in objects["MoveOut"]["properties"]["events"]["items"]["anyOf"]}
    assert list(events) == list(rules.EVENTS)
    drew = events["drew"]
    assert set(drew["properties"]) == {"kind", "seat", "amount", "reason", "cards"}
    assert set(drew["required"]) == {"kind", "seat", "amount"}  # the cards are for the seat only
    assert "false_catch" in drew["properties"]["reason"]["enum"]
    assert events["turned_round"]["properties"]["amount"]["enum"] == [1, -1]
    assert {"stale", "too_low", "unavailable"} <= set(objects["ErrorOut"]["properties"]["error"]["enum"])
    game = objects["GameOut"]["properties"]
    assert game["status"]["enum"] == ["open", "playing", "over", "void"]
    assert game["phase"]["anyOf"][0]["enum"] == [*PHASES, "over"]
    assert game["side"]["enum"] == ["light", "dark"]
    assert game["paused"]["items"]["enum"] == ["consent", "staff", "restored"]
    assert objects["OrdersOut"]["properties"]["intercept"]["enum"] == ["never", "card", "face"]
    assert objects["ClockOut"]["properties"]["pace"]["enum"] == ["live", "fast", "standard", "slow", "custom"]


def test_the_openapi_document_has_the_limits_of_a_new_table(a: Program, objects: dict[str, Any]) -> None:
    fields = objects["NewGame"]["properties"] | objects["NewClock"]["properties"]
    for name in ("players", "bots", "target", "bot_pause", "misses_allowed"):
        lowest, highest = fields[name]["minimum"], fields[name]["maximum"]
        assert lowest <= fields[name]["default"] <= highest
        for value in (lowest - 1, highest + 1):
            assert a.post("games", {"preset": "classic", name: value}).status_code == 400, name
    assert (fields["cap"]["minimum"], fields["cap"]["maximum"]) == (10, 60 * 24 * 3600)


def test_the_openapi_document_lists_presets_and_options(objects: dict[str, Any]) -> None:
    for name in ("NewGame", "GameOut", "GameListed"):
        fields = objects[name]["properties"]
        assert fields["preset"]["enum"] == list(rules.PRESETS)
        assert set(fields["options"]["properties"]) == set(rules.SPECS) - {"target"}
        assert fields["options"]["additionalProperties"] is False
    asked = objects["NewGame"]["properties"]
    options = asked["options"]["properties"]
    assert options["stacking"] == {"type": "string", "enum": ["off", "same", "family", "any"]}
    assert options["hand_size"] == {"type": "integer", "minimum": 1, "maximum": 15}
    assert options["mercy_limit"]["anyOf"][1] == {"minimum": 10, "maximum": 50}
    assert options["straights"] == {"type": "boolean"}
    assert asked["pace"]["enum"] == ["live", "fast", "standard", "slow", "custom"]
    assert asked["bot"]["enum"] == ["random", "careful", "sharp"]
    assert asked["after_misses"]["enum"] == ["bot", "leave"]


def test_a_program_makes_a_table_of_every_preset(a: Program) -> None:
    for preset, offered in rules.PRESETS.items():
        told = a.post("games", {"preset": preset, "players": 3, "pace": "live"}).json()
        options = {name: value for name, value in rules.options_dict(offered).items() if name != "target"}
        assert (told["preset"], told["options"]) == (preset, options)
        assert a.get(f"games/{told['id']}").json()["options"] == options


@pytest.mark.parametrize("spec", rules.OPTIONS, ids=[spec.name for spec in rules.OPTIONS])
def test_a_program_gets_every_value_of_an_option_or_one_sentence(a: Program, spec: rules.OptionSpec) -> None:
    for value in values_of(spec):
        answer = a.post("games", {"preset": "house-party", "options": {spec.name: value}, "players": 2, "pace": "live"})
        if answer.status_code == 201:
            assert answer.json()["options"][spec.name] == value
        else:
            assert refusal(answer) == (400, "malformed")
            assert re.fullmatch(r"[A-Z][^\n]+\.", answer.json()["message"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jokers": 2}, "There is no option 'jokers'."),
        ({"stacking": 1}, "The option stacking must be a text."),
        ({"straights": "yes"}, "The option straights must be true or false."),
        ({"interception_penalty": 51}, "The option interception_penalty must be 0 to 50."),
        ({"bluff": "official"}, "The option bluff must be off with a No Mercy deck."),
        (
            {"advanced_stacking": True, "stacking": "off"},
            "The option advanced_stacking needs stacking other than off, and last_draw_card contest.",
        ),
    ],
)
def test_bad_options_are_one_sentence(a: Program, options: dict[str, Any], message: str) -> None:
    answer = a.post("games", {"options": options})
    assert (answer.status_code, answer.json()["message"]) == (400, message)
