"""Writing, reading and replaying records."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from games.rules import (
    PRESETS,
    BadInput,
    Match,
    Options,
    Outcome,
    Record,
    RecordLine,
    RoundRecord,
    Shuffler,
    apply,
    commitment,
    deal,
    options_from,
    outcome,
    parse_record,
    print_record,
    replay_record,
)
from games.rules.__main__ import main
from games.rules.deal import deal_cards
from tests.rules.strategies import random_move, tables

GOLDEN = Path(__file__).parents[1] / "golden"
SENTENCES = json.loads((GOLDEN / "bad_input.json").read_text(encoding="utf-8"))
DATE = "2026-11-21T00:13:00Z"


def played_round(
    options: Options, players: int, secret: bytes, number: int, dealer: int, absent: set[int]
) -> RoundRecord:
    """Play a random round and return its record. Players who leave are added to `absent`."""
    rng = random.Random(secret)
    shuffler = Shuffler(secret)
    orders: dict[str, list[str]] = {}

    def shuffle(cards: object, stream: str) -> list[str]:
        orders[stream] = shuffler.shuffle(cards, stream)  # type: ignore[arg-type]  # what the rules give
        return orders[stream]

    position = deal(options, players, shuffle, dealer=dealer, absent=tuple(sorted(absent)))
    cards = tuple(orders.pop("0"))
    # A first Draw Two may need a shuffle before the first move (FIRST-1). A record has no lines for pairs (PAIR-1).
    lines = [RecordLine("", " ".join(order)) for stream, order in orders.items() if not stream.startswith("p")]
    orders.clear()
    while position.phase != "over":
        seat, move = random_move(position, options, rng, leaving=0.002)
        position, _ = apply(position, seat, move, options, shuffle)
        lines += [RecordLine("", " ".join(order)) for order in orders.values()]
        orders.clear()
        lines.append(RecordLine(f"2026-11-21T00:{14 + number:02}:{min(len(lines), 59):02}Z", f"{seat} {move}"))
        absent.update({seat} if move.kind == "leave" else ())
    ended = outcome(position)
    assert ended is not None
    return RoundRecord(number, dealer, cards, tuple(lines), ended)


def played_match(preset: str, options: Options, players: int, seed: int) -> Record:
    rounds: list[RoundRecord] = []
    secrets: list[bytes] = []
    absent = set[int]()
    match, winner = Match(options, (0,) * players, players - 1, absent), None
    while winner is None:
        secrets.append(bytes([seed, len(rounds)] * 16))
        rounds.append(played_round(options, players, secrets[-1], len(rounds) + 1, match.dealer, absent))
        ended = rounds[-1].end
        assert ended is not None
        match = match.with_result(ended)
        winner = match.winner(ended)
        match = match if winner is not None else replace(match, dealer=match.next_dealer)
    return Record(
        preset=preset,
        options=options,
        players=("Ann", "Bo\u2602", 'C "y"', *"DEFGHIJ")[:players],
        date=DATE,
        commitments=tuple(map(commitment, secrets)),
        seeds=tuple(secret.hex() for secret in secrets),
        result=winner,
        rounds=tuple(rounds),
    )


MATCHES: dict[str, tuple[str, Options, int, int]] = {
    "a match for three": ("no-mercy", PRESETS["no-mercy"], 3, 1),
    "a match for six": ("no-mercy", options_from("no-mercy", {"mercy_limit": 30}), 6, 2),
    "penalty points": ("no-mercy", options_from("no-mercy", {"scoring": "penalty", "target": 600}), 4, 3),
    "a single round": ("no-mercy", options_from("no-mercy", {"target": 0}), 2, 4),
    "a long round": ("no-mercy", options_from("no-mercy", {"target": 0, "mercy_limit": 0}), 3, 6),
    "classic": ("classic", options_from("classic", {"target": 0}), 2, 5),
    "classic with a race": ("classic", options_from("classic", {"target": 0, "buzzers": "race"}), 4, 5),
    "playroom": ("playroom", options_from("playroom", {"rounds": 2}), 4, 8),
    "playroom-no-mercy": ("playroom-no-mercy", options_from("playroom-no-mercy", {"target": 0}), 5, 9),
    "flip": ("flip", options_from("flip", {"target": 0}), 3, 10),
    "house-party": ("house-party", options_from("house-party", {"target": 0, "rounds": 3}), 10, 11),
}
"""The preset, options, number of players and seed of each match."""


@cache
def match_of(name: str) -> Record:
    """Play a match once."""
    return played_match(*MATCHES[name])


@pytest.fixture(params=MATCHES)
def record(request: pytest.FixtureRequest) -> Record:
    return match_of(request.param)


MATCH = match_of("a match for three")


@pytest.mark.long
def test_a_record_survives_writing_and_reading(record: Record) -> None:
    text = print_record(record)
    assert parse_record(text) == record
    assert print_record(parse_record(text)) == text


def test_the_order_of_options_in_a_record_has_not_changed() -> None:
    options = options_from(
        "no-mercy", {"target": 0, "scoring": "penalty", "hand_size": 3, "mercy_limit": 12, "voluntary_draw": False}
    )
    text = print_record(MATCH._replace(options=options))
    assert text.splitlines()[2] == (
        'options: {"voluntary_draw": false, "mercy_limit": 12, "hand_size": 3, "scoring": "penalty", "target": 0}'
    )


@pytest.mark.long
def test_a_record_does_not_change_when_its_preset_offers_other_options(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = print_record(record)
    offered = replace(PRESETS[record.preset], hand_size=8, mercy_limit=40, target=10)
    monkeypatch.setitem(PRESETS, record.preset, offered)
    assert parse_record(text) == record
    assert print_record(record) == text
    assert list(replay_record(parse_record(text)))
    later = played_match(record.preset, replace(offered, target=0), 2, 7)
    assert parse_record(print_record(later)) == later


@pytest.mark.long
def test_a_record_replays_to_its_end(record: Record) -> None:
    replayed = list(replay_record(record))
    assert [part.number for part in replayed] == list(range(1, len(record.rounds) + 1))
    for part, said in zip(replayed, record.rounds, strict=True):
        ended = outcome(part.position)
        assert ended is not None
        assert ended == said.end


def test_a_record_has_the_form_of_the_notation() -> None:
    lines = print_record(MATCH).splitlines()
    assert lines[:5] == [
        "record: 1", "preset: no-mercy", "options: {}", 'players: ["Ann", "Bo\u2602", "C \\"y\\""]', f"date: {DATE}",
    ]  # fmt: skip
    assert [line.partition(":")[0] for line in lines[5:8]] == ["commitment", "seed", "result"]
    assert lines[8:11] == ["", "round: 1", "dealer: 2"]
    assert lines[11] == "deal: " + " ".join(MATCH.rounds[0].deal)
    assert lines[12] == f"{MATCH.rounds[0].lines[0].at} {MATCH.rounds[0].lines[0].text}"
    assert SHUFFLE in LONG_TEXT
    assert len(SHUFFLE.split()) > 50


def test_a_void_match_has_no_end_and_no_result() -> None:
    first = MATCH.rounds[0]
    cut = first._replace(lines=first.lines[:1], end=None)
    record = MATCH._replace(rounds=(cut,), commitments=MATCH.commitments[:1], seeds=(), result=None)
    text = print_record(record)
    assert "\nseed:\nresult: -\n" in text
    assert parse_record(text) == record
    assert len(list(replay_record(record))) == 1


def test_a_void_round_without_a_move_ends_where_it_started() -> None:
    first = MATCH.rounds[0]._replace(lines=(), end=None)
    record = MATCH._replace(rounds=(first,), commitments=MATCH.commitments[:1], seeds=(), result=None)
    (replayed,) = replay_record(record)
    assert replayed.position == deal_cards(
        MATCH.options, 3, list(first.deal), lambda cards, _: list(cards), dealer=first.dealer
    )


@pytest.mark.rule("LEAVE-1")
def test_the_last_player_who_has_not_left_wins_the_match() -> None:
    lines = tuple(RecordLine(FIRST.at, line) for line in ("0 leave", "1 leave"))
    only = MATCH.rounds[0]._replace(lines=lines, end=Outcome(2, 500))
    record = MATCH._replace(rounds=(only,), commitments=MATCH.commitments[:1], seeds=MATCH.seeds[:1], result=2)
    assert len(list(replay_record(record))) == 1
    with pytest.raises(BadInput, match="The match does not end as the record says"):
        list(replay_record(record._replace(result=None)))


@pytest.mark.rule("SETUP-5")
@pytest.mark.parametrize(("lines", "dealer"), [((), 2), (("1 leave",), 2), (("2 leave",), 0)])
def test_the_dealer_of_a_void_round_deals_again_unless_they_left(lines: tuple[str, ...], dealer: int) -> None:
    first = MATCH.rounds[0]._replace(lines=tuple(RecordLine(FIRST.at, line) for line in lines), end=None)
    second = MATCH.rounds[0]._replace(number=2, lines=(), end=None)
    record = MATCH._replace(commitments=MATCH.commitments[:2], seeds=(), result=None)
    assert len(list(replay_record(record._replace(rounds=(first, second._replace(dealer=dealer)))))) == 2
    for other in {0, 1, 2} - {dealer}:
        with pytest.raises(BadInput, match="has the wrong dealer"):
            list(replay_record(record._replace(rounds=(first, second._replace(dealer=other)))))


@pytest.mark.long
@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.integers(2, 10), st.integers(0, 255))
def test_records_of_mixed_options_round_trip_and_verify_with_and_without_seeds(
    options: Options, players: int, seed: int
) -> None:
    record = played_match("house-party", replace(options, target=0, rounds=0), players, seed)
    assert parse_record(print_record(record)) == record
    (whole,) = replay_record(record)
    assert outcome(whole.position) == record.rounds[0].end
    lines = record.rounds[0].lines
    cut = next(at for at in range(len(lines) // 2, len(lines)) if lines[at].at)
    void = record._replace(rounds=(record.rounds[0]._replace(lines=lines[: cut + 1], end=None),), result=None)
    for seeds in (record.seeds, ()):
        kept = parse_record(print_record(void._replace(seeds=seeds)))
        (part,) = replay_record(kept)
        assert part.steps == whole.steps[: len(part.steps)]


@pytest.mark.rule("BUZZ-3")
def test_a_lottery_of_other_seats_than_the_seed_gives_is_refused() -> None:
    text = print_record(match_of("house-party"))
    line = next(line for line in text.splitlines() if re.fullmatch(r"shuffle: \d( \d)+", line))
    other = "shuffle: " + " ".join(line.split()[:0:-1])
    for changed, reason in ((other, "the order of the seed"), (line[:-2], "the right cards")):
        with pytest.raises(BadInput, match=reason):
            list(replay_record(parse_record(change(text, line, changed))))


@pytest.mark.rule("PAIR-1")
def test_a_flip_deal_of_other_pairs_is_refused() -> None:
    record = match_of("flip")
    light, dark = zip(*(card.split("/") for card in record.rounds[0].deal), strict=True)
    known = PRESETS["flip"].rules.first.shown or {}
    for turn in range(1, 112):
        deal_of_other_pairs = [
            f"{above}/{below}" for above, below in zip(light, dark[turn:] + dark[:turn], strict=True)
        ]
        if all(card in known for card in deal_of_other_pairs):
            break
    else:
        pytest.fail("no other pairs")
    text = change(print_record(record), " ".join(record.rounds[0].deal), " ".join(deal_of_other_pairs))
    with pytest.raises(BadInput, match="is not in the order of the seed"):
        list(replay_record(parse_record(text)))


def test_a_record_of_classic_names_what_the_first_release_did_not_have() -> None:
    assert print_record(match_of("classic")).splitlines()[2] == (
        'options: {"target": 0, "first_discard": "official", "bluff": "official"}'
    )


def test_the_record_of_no_mercy_has_at_most_six_players() -> None:
    names = json.dumps([*"ABCDEFG"])
    with pytest.raises(BadInput, match=r"^A record has 2 to 6 players\.$"):
        parse_record(re.sub("players: .*", f"players: {names}", TEXT))


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


TEXT = print_record(MATCH)
DEALT = MATCH.rounds[0].deal
FIRST = MATCH.rounds[0].lines[0]
END = next(line for line in TEXT.splitlines() if line.startswith("end: "))
LONG_TEXT = print_record(match_of("a long round"))
SHUFFLE = next(line for line in LONG_TEXT.splitlines() if line.startswith("shuffle: "))
FALSE_RECORDS = {
    "another version": change(TEXT, "record: 1", "record: 2"),
    "no end of line": TEXT[:-1],
    "lines ended otherwise": TEXT.replace("\n", "\r\n"),
    "an unknown preset": change(TEXT, "preset: no-mercy", "preset: mercy"),
    "options that are no JSON": change(TEXT, "options: {}", "options: {"),
    "options that are a list": change(TEXT, "options: {}", "options: []"),
    "options that do not differ": change(TEXT, "options: {}", 'options: {"mercy_limit": 25}'),
    "options other than played": change(TEXT, "options: {}", 'options: {"hand_size": 6}'),
    "players that are no list": change(TEXT, 'players: ["Ann"', 'players: [1, "Ann"'),
    "a name that is no text": change(TEXT, "Bo\u2602", "Bo\\ud800"),
    "too few players": change(TEXT, 'players: ["Ann", "Bo\u2602", "C \\"y\\""]', 'players: ["Ann"]'),
    "a date that is none": change(TEXT, f"date: {DATE}", "date: 2026-13-21T00:13:00Z"),
    "a date of another zone": change(TEXT, f"date: {DATE}", "date: 2026-11-21T00:13:00+01:00"),
    "a commitment too few": change(TEXT, MATCH.commitments[0] + ",", ""),
    "a commitment that is no hex": change(TEXT, MATCH.commitments[0], "z" * 64),
    "a seed that is no hex": change(TEXT, MATCH.seeds[0], "z" * 64),
    "a seed that was not committed to": change(TEXT, MATCH.seeds[0], "00" * 32),
    "a header line missing": change(TEXT, f"date: {DATE}\n", ""),
    "a header line of another name": change(TEXT, "preset: ", "presets: "),
    "another result": change(TEXT, f"result: {MATCH.result}", f"result: {(MATCH.result or 0) ^ 1}"),
    "a result that is no seat": change(TEXT, f"result: {MATCH.result}", "result: 9"),
    "a void result": change(TEXT, f"result: {MATCH.result}", "result: -"),
    "a round numbered otherwise": change(TEXT, "round: 1", "round: 2"),
    "a round without a number": change(TEXT, "round: 1", "round: one"),
    "another dealer": change(TEXT, "round: 2\ndealer: 0", "round: 2\ndealer: 1"),
    "a dealer that is no seat": change(TEXT, "dealer: 2", "dealer: 3"),
    "a deal in another order": change(TEXT, " ".join(DEALT), " ".join(DEALT[::-1])),
    "a deal with a card too few": change(TEXT, " ".join(DEALT), " ".join(DEALT[1:])),
    "a deal with an unknown card": change(TEXT, " ".join(DEALT), " ".join(("zz", *DEALT[1:]))),
    "a shuffle in another order": change(LONG_TEXT, SHUFFLE, "shuffle: " + " ".join(SHUFFLE.split()[:0:-1])),
    "a shuffle missing": change(LONG_TEXT, SHUFFLE + "\n", ""),
    "a shuffle of a card that is in no deck": change(LONG_TEXT, SHUFFLE, SHUFFLE.replace(SHUFFLE.split()[1], "x9", 1)),
    "a shuffle that nobody needed": change(TEXT, f"\n{FIRST.at} ", f"\nshuffle: r5\n{FIRST.at} "),
    "a move that is refused": change(TEXT, FIRST.text, "1 catch 0"),
    "a move that is none": change(TEXT, FIRST.text, "0 fold"),
    "a move of no time": change(TEXT, FIRST.at, "now"),
    "a move before the one before": change(TEXT, FIRST.at, "2026-11-22T00:00:00Z"),
    "an end with other points": change(TEXT, END, END + "1"),
    "an end with another winner": change(TEXT, END, f"end: {int(END[5]) ^ 1}{END[6:]}"),
    "an end with points for two": change(TEXT, END, END + ",1"),
    "an end that is none": change(TEXT, "\nend: ", "\nend: x"),
    "a round without its end": "\n".join(line for line in TEXT.split("\n") if not line.startswith("end: ")),
    "a round after the end of the match": TEXT + "\n" + TEXT.split("\n\n")[1] + "\n",
    "nothing at all": "",
    "only a header": TEXT.split("\n\n")[0] + "\n",
    "a round of two lines": TEXT + "\nround: 9\ndealer: 0\n",
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE_RECORDS)
def test_a_false_record_is_refused(name: str) -> None:
    with pytest.raises(BadInput) as refused:
        list(replay_record(parse_record(FALSE_RECORDS[name])))
    assert str(refused.value) == SENTENCES["records"][name]


def test_the_record_of_a_finished_match_needs_its_seeds() -> None:
    with pytest.raises(BadInput, match="has the seed of each round"):
        list(replay_record(MATCH._replace(seeds=())))


def test_the_console_prints_one_line_for_each_round_of_a_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "match.txt"
    path.write_text(TEXT, encoding="utf-8")
    assert main(["replay", "--record", str(path)]) == 0
    rounds = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [part["round"] for part in rounds] == list(range(1, len(MATCH.rounds) + 1))
    assert [(part["position"]["winner"], part["position"]["points"]) for part in rounds] == [
        part.end for part in MATCH.rounds
    ]
    moves = [line.text for line in MATCH.rounds[0].lines if line.at]
    assert [step["move"] for step in rounds[0]["steps"]] == moves


@pytest.mark.parametrize("content", [None, b"\xff", b"record: 2\n"])
def test_the_console_refuses_a_file_that_is_no_record(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "match.txt"
    if content is not None:
        path.write_bytes(content)
    assert main(["replay", "--record", str(path)]) == 2
    said = capsys.readouterr()
    assert (said.out, len(said.err.splitlines())) == ("", 1)
