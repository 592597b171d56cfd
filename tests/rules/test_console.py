"""The command line `python -m games.rules`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from games.rules import BadInput
from games.rules.__main__ import main, parser
from games.rules.console import replay_line

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
EXAMPLES = [
    json.loads(line)
    for name in ("examples.jsonl", "examples-variants.jsonl")
    for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines()
]
SENTENCES = json.loads((GOLDEN / "bad_input.json").read_text(encoding="utf-8"))
PERFT = json.loads((GOLDEN / "perft.json").read_text(encoding="utf-8"))
GOOD: dict[str, Any] = {
    "options": {"preset": "no-mercy"},
    "position": {"hands": [["r5"], ["g2"]], "turn": 0, "discard_pile": ["r3"]},
}
TWO = [["r5"], ["g2"]]


def console(*args: str, text: str | bytes = "") -> subprocess.CompletedProcess[bytes]:
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    command = [sys.executable, "-I", "-c", RUN, *args]
    return subprocess.run(command, input=data, capture_output=True, cwd=ROOT, check=False, timeout=60)


RUN = "import sys; sys.path.insert(0, '.'); from games.rules.__main__ import main; sys.exit(main())"


@pytest.mark.long
def test_every_example_gets_its_expected_answer() -> None:
    requests = [{k: v for k, v in e.items() if k not in ("name", "rules", "expect")} for e in EXAMPLES]
    ran = console("replay", text="".join(json.dumps(request) + "\n" for request in requests))
    assert (ran.returncode, ran.stderr) == (0, b"")
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(EXAMPLES)
    for example, answer in zip(EXAMPLES, answers, strict=True):
        assert set(answer) == {"steps", "legal", "position"}
        steps = [{k: v for k, v in step.items() if k not in ("events", "message")} for step in answer["steps"]]
        assert {**answer, "steps": steps} == {**answer, **example["expect"]}, example["name"]
        assert [set(step) for step in answer["steps"]] == [
            {"move", "ok", "position", "events"} if step["ok"] else {"move", "ok", "error", "rule", "message"}
            for step in answer["steps"]
        ]


def position(**changes: Any) -> str:
    return json.dumps({**GOOD, "position": {**GOOD["position"], **changes}})


OWED = {"discard_pile": ["r+2"], "pending": {"total": 2, "value": 2}}
BAD_LINES = {
    "not JSON": "{",
    "not an object": "[]",
    "too deep": "[" * 100_000,
    "a huge number": '{"players": ' + "9" * 5000 + "}",
    "no options": json.dumps({"position": GOOD["position"]}),
    "options of the wrong type": json.dumps({**GOOD, "options": []}),
    "no preset": json.dumps({**GOOD, "options": {}}),
    "a preset of the wrong type": json.dumps({**GOOD, "options": {"preset": 1}}),
    "an unknown preset": json.dumps({**GOOD, "options": {"preset": "mercy"}}),
    "an unknown option": json.dumps({**GOOD, "options": {"preset": "no-mercy", "jokers": 1}}),
    "an unknown field": json.dumps({**GOOD, "joker": 1}),
    "a seed of the wrong type": json.dumps({**GOOD, "seed": 1}),
    "a seed that is no Unicode": '{"options": {"preset": "no-mercy"}, "players": 2, "seed": "\\ud800"}',
    "moves of the wrong type": json.dumps({**GOOD, "moves": "0 draw"}),
    "a move that is no text": json.dumps({**GOOD, "moves": [1]}),
    "neither position nor players": json.dumps({"options": GOOD["options"]}),
    "both": json.dumps({**GOOD, "players": 2}),
    "one player": json.dumps({"options": GOOD["options"], "players": 1}),
    "seven players": json.dumps({"options": GOOD["options"], "players": 7}),
    "players of the wrong type": json.dumps({"options": GOOD["options"], "players": True}),
    "a position of the wrong type": json.dumps({**GOOD, "position": []}),
    "no hands": json.dumps({**GOOD, "position": {"turn": 0, "discard_pile": ["r3"]}}),
    "no turn": json.dumps({**GOOD, "position": {"hands": TWO, "discard_pile": ["r3"]}}),
    "no discard pile": json.dumps({**GOOD, "position": {"hands": TWO, "turn": 0}}),
    "an unknown field of a position": position(jokers=1),
    "hands of the wrong type": position(hands="r5"),
    "a hand of the wrong type": position(hands=["r5", ["g2"]]),
    "a card of the wrong type": position(hands=[[5], ["g2"]]),
    "one hand": position(hands=[["r5"]]),
    "seven hands": position(hands=[["r5"]] * 7),
    "an unknown card": position(hands=[["r5"], ["zz"]]),
    "a card of another deck": position(hands=[["r5"], ["W4"]]),
    "a hand of 25": position(hands=[["r5"] * 25, ["g2"]]),
    "a hand of the table's limit": json.dumps(
        {"options": {"preset": "no-mercy", "mercy_limit": 10},
         "position": {"hands": [["r5"] * 10, ["g2"]], "turn": 0, "discard_pile": ["r3"]}}
    ),
    "out with cards": position(hands=[*TWO, ["g3"]], out=[2]),
    "out and on turn": position(hands=[*TWO, []], out=[2], turn=2),
    "one left in": position(hands=[["r5"], []], out=[1]),
    "still in with no card": position(hands=[["r5"], []]),
    "an empty discard pile": position(discard_pile=[]),
    "a turn that is no seat": position(turn=2),
    "a turn below zero": position(turn=-1),
    "a turn of the wrong type": position(turn=True),
    "a direction that is none": position(direction=0),
    "a direction of the wrong type": position(direction=True),
    "an unknown colour": position(color="w"),
    "a colour of the wrong type": position(color=["r"]),
    "a colour that is not the top card's": position(color="g"),
    "a wild on top without a colour": position(discard_pile=["W6"]),
    "an unknown phase": position(phase="draw"),
    "a phase of the wrong type": position(phase=1),
    "drawn without a drawn card": position(phase="drawn"),
    "a drawn card without the phase": position(drawn="r5"),
    "a drawn card not in the hand": position(phase="drawn", drawn="r6"),
    "a drawn card that cannot be played": position(hands=[["g5"], ["g2"]], phase="drawn", drawn="g5"),
    "a drawn card of the wrong type": position(phase="drawn", drawn=5),
    "a drawn card with cards owed": position(**OWED, phase="drawn", drawn="r5"),
    "a colour to choose under no roulette": position(phase="choose_color"),
    "a colour to choose and one in force": position(phase="choose_color", discard_pile=["WC"], color="r"),
    "a colour to choose with cards owed": position(
        phase="choose_color", discard_pile=["W6"], pending={"total": 6, "value": 6}
    ),
    "cards owed of the wrong type": position(pending=4),
    "cards owed without a value": position(pending={"total": 4}),
    "cards owed with more than that": position(pending={"total": 4, "value": 4, "to": 1}),
    "cards owed by a card of the wrong type": position(pending={"total": 4, "value": 4, "by": 1}),
    "cards owed of no card's value": position(discard_pile=["r+2"], pending={"total": 4, "value": 3}),
    "cards owed of another value than the top card's": position(discard_pile=["r+2"], pending={"total": 4, "value": 4}),
    "cards owed of less than the top card's value": position(
        discard_pile=["W6"], color="r", pending={"total": 4, "value": 4}
    ),
    "cards owed under a top card that is no draw card": position(pending={"total": 4, "value": 4}),
    "cards owed below their value": position(discard_pile=["r+2"], pending={"total": 2, "value": 4}),
    "gone out without a stack": position(hands=[["r5"], [], ["g2"]], going_out=[1]),
    "gone out with cards": position(**OWED, going_out=[1]),
    "gone out and on turn": position(**OWED, hands=[[], ["g2"]], going_out=[0]),
    "gone out and out": position(**OWED, hands=[*TWO, []], out=[2], going_out=[2]),
    "declared with two cards": position(hands=[["r5", "r6"], ["g2"]], declared=[0]),
    "exposed with two cards": position(hands=[["r5", "r6"], ["g2"]], exposed=[0]),
    "declared and exposed": position(declared=[0], exposed=[0]),
    "a seat twice": position(exposed=[0, 0]),
    "seats that are none": position(exposed=[2]),
    "reshuffles of the wrong type": position(reshuffles=-1),
    "over without a winner": position(phase="over"),
    "a winner of a round that runs": position(winner=0),
    "points of a round that runs": position(points=5),
    "over with another on turn": position(phase="over", winner=1, points=5),
    "over with somebody to catch": position(phase="over", winner=0, points=5, exposed=[1]),
    "points of the wrong count": position(phase="over", winner=0, points=[5]),
    "points of the wrong type": position(phase="over", winner=0, points="5"),
    "points below zero": position(phase="over", winner=0, points=[0, -1]),
    "a winner of the wrong type": position(phase="over", winner="0", points=5),
    "a winner that is no seat": position(phase="over", winner=2, points=5),
    "a total of the wrong type": position(pending={"total": "4", "value": 4}),
    "a value of the wrong type": position(pending={"total": 4, "value": "4"}),
    "a draw pile of the wrong type": position(draw_pile="r5"),
    "a draw pile with a card of the wrong type": position(draw_pile=[5]),
    "a discard pile of the wrong type": position(discard_pile={"r3": 1}),
    "a discard pile with a card of the wrong type": position(discard_pile=[None]),
    "set-aside cards of the wrong type": position(set_aside=1),
    "set-aside cards with one of the wrong type": position(set_aside=[1]),
    "seats out of the wrong type": position(out=1),
    "a seat out that is none": position(out=[2]),
    "a seat out twice": position(hands=[*TWO, []], out=[2, 2]),
    "seats declared of the wrong type": position(declared=0),
    "a seat declared that is none": position(declared=["0"]),
    "seats exposed of the wrong type": position(exposed="0"),
    "a seat gone out that is none": position(**OWED, going_out=[2]),
    "seats gone out of the wrong type": position(**OWED, going_out=0),
    "a hand with a card of the wrong type": position(hands=[["r5"], [None]]),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_input_is_refused_with_one_sentence(name: str) -> None:
    with pytest.raises(BadInput) as refused:
        replay_line(BAD_LINES[name])
    assert str(refused.value) == SENTENCES["requests"][name]


def test_the_line_that_bad_lines_are_made_from_is_good() -> None:
    assert replay_line(json.dumps(GOOD))["steps"] == []
    over = position(hands=[[], ["g2"]], phase="over", winner=0, points=2, color=None)
    assert replay_line(over)["legal"] == {"0": [], "1": []}


@pytest.mark.parametrize("points", [5, [0, 7]])
def test_a_finished_round_keeps_its_points(points: int | list[int]) -> None:
    answer = replay_line(position(hands=[[], ["g7"]], phase="over", winner=0, points=points))
    assert isinstance(answer["position"], dict)
    assert answer["position"]["points"] == points


def test_bad_input_exits_with_2_and_one_line_after_the_earlier_answers() -> None:
    ran = console("replay", text=f"{json.dumps(GOOD)}\n" + '{"a\\n\\ud800": 1}\n' + f"{json.dumps(GOOD)}\n")
    assert ran.returncode == 2
    assert len(ran.stdout.splitlines()) == 1
    assert len(ran.stderr.splitlines()) == 1
    assert b"Traceback" not in ran.stderr


@pytest.mark.long
@pytest.mark.parametrize("data", [b"\xff\xfe{}\n", b"\x00\n", b'"\xc3\n'])
def test_bytes_that_are_not_utf8_are_bad_input(data: bytes) -> None:
    ran = console("replay", text=data)
    assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (2, b"", 1)


def test_any_unicode_text_comes_back_in_any_locale() -> None:
    line = '{"options": {"preset": "no-mercy"}, "players": 2, "seed": "\u2602", "moves": ["\\ud800 \u2602"]}\n'
    ran = console("replay", text=line)
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["steps"][0]["error"] == "malformed"


def test_random_prints_games_moves_and_speed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["random", "--games", "5", "--players", "4", "--seed", "x"]) == 0
    first = capsys.readouterr().out
    assert re.search(r"^\d+ moves/s$", first, re.MULTILINE)
    assert main(["random", "--games", "5", "--players", "4", "--seed", "x"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == first.splitlines()[:2]
    assert first.startswith("5 games\n")


def test_random_prints_moves_per_second(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([100.0, 102.0])
    monkeypatch.setattr("games.rules.console.time.perf_counter", lambda: next(times))
    assert main(["random", "--games", "3", "--players", "2", "--seed", "x"]) == 0
    assert capsys.readouterr().out == "3 games\n99 moves\n50 moves/s\n"


def test_random_prints_no_speed_if_no_time_passed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("games.rules.console.time.perf_counter", lambda: 100.0)
    assert main(["random", "--games", "0"]) == 0
    assert capsys.readouterr().out == "0 games\n0 moves\n0 moves/s\n"


def test_random_plays_1000_games_of_four_by_default() -> None:
    asked = vars(parser().parse_args(["random"]))
    assert asked == {"command": "random", "games": 1000, "players": 4, "seed": "", "preset": "no-mercy"}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([], ["usage: python -m games.rules", "The rules of the game on the command line.",
              "replay JSON requests from standard input, or a record", "play random games and print the speed",
              "print the rulebook as Markdown", "print the tables of presets and options in docs/api.md"]),
        (["replay"], ["--record FILE", "replay a record, one line of JSON a round"]),
        (["random"], ["--players PLAYERS",
                      "--preset {classic,flip,house-party,no-mercy,playroom,playroom-no-mercy}"]),
    ],
)  # fmt: skip
def test_the_console_prints_help(
    command: list[str], said: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert [words for words in said if not re.search(rf"(^|  ){re.escape(words)}( |$)", text, re.MULTILINE)] == []


def test_the_console_prints_the_rules_page_of_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rulebook"]) == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")


def test_the_console_prints_the_presets_of_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["presets"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("| preset | players | rules |\n")
    assert f"\n{printed}\n" in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_console_requires_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([])
    assert stopped.value.code == 2
    assert "the following arguments are required: command" in capsys.readouterr().err


def test_a_negative_number_of_games_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["random", "--games", "-1"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith(": must be 0 or more\n")


@pytest.mark.long
@pytest.mark.parametrize(("preset", "players", "most"), [("no-mercy", 8, 6), ("no-mercy", 1, 6), ("classic", 11, 10)])
def test_random_refuses_the_numbers_of_players_that_replay_refuses(preset: str, players: int, most: int) -> None:
    request = json.dumps({"options": {"preset": preset}, "players": players})
    refusals = [
        console("random", "--games", "1", "--players", str(players), "--preset", preset),
        console("replay", text=f"{request}\n"),
    ]
    said = f"players must be 2 to {most}.\n".encode()
    assert [(ran.returncode, ran.stdout, ran.stderr) for ran in refusals] == [(2, b"", said)] * 2


def test_the_console_plays_classic(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["random", "--games", "3", "--players", "2", "--preset", "classic"]) == 0
    assert capsys.readouterr().out.startswith("3 games\n")


def test_the_rules_need_only_the_standard_library() -> None:
    program = (
        "import sys; sys.path.insert(0, '.'); import games.rules, games.rules.__main__;"
        "own = {name.partition('.')[0] for name in sys.modules};"
        "print(sorted(own - set(sys.stdlib_module_names) - {'games', 'common', '__main__'}))"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, cwd=ROOT, check=False, timeout=60
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def count_lines(request: dict[str, Any], depth: int) -> int:
    """Return how many sequences of `depth` legal moves there are (perft)."""
    legal = replay_line(json.dumps(request))["legal"]
    assert isinstance(legal, dict)
    lines = [f"{seat} {move}" for seat, moves in legal.items() for move in moves]
    if depth == 1:
        return len(lines)
    return sum(count_lines({**request, "moves": [*request.get("moves", []), line]}, depth - 1) for line in lines)


@pytest.mark.parametrize("row", PERFT, ids=[row["name"] for row in PERFT])
def test_the_number_of_move_sequences_has_not_changed(row: dict[str, Any]) -> None:
    assert [count_lines(row["request"], depth + 1) for depth in range(len(row["counts"]))] == row["counts"]
