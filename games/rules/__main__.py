"""The command line ``python -m games.rules replay|random|rulebook|presets|events`` (docs/notation.md, "Console")."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from games.rules.console import random_games, replay_line, replayed_json
from games.rules.errors import BadInput
from games.rules.presets import PRESETS
from games.rules.record import parse_record, replay_record
from games.rules.rulebook import events_markdown, presets_markdown, rulebook_markdown


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m games.rules", description="The rules of the game on the command line."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    replay = commands.add_parser("replay", help="replay JSON requests from standard input, or a record")
    replay.add_argument("--record", metavar="FILE", help="replay a record, one line of JSON a round")
    play = commands.add_parser("random", help="play random games and print the speed")
    play.add_argument("--games", type=_count, default=1000)
    play.add_argument("--players", type=int, default=4)
    play.add_argument("--seed", default="")
    play.add_argument("--preset", default="no-mercy", choices=sorted(PRESETS))
    commands.add_parser("rulebook", help="print the rulebook as Markdown")
    commands.add_parser("presets", help="print the tables of presets and options in docs/api.md")
    commands.add_parser("events", help="print the table of events in docs/api.md")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return number


def _print(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _replay() -> None:
    for raw in sys.stdin.buffer:
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise BadInput("The line is not UTF-8.") from None
        if line.strip():
            _print(replay_line(line))


def _replay_record(path: str) -> None:
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The record {path} cannot be read: {error}.") from None
    record = parse_record(text)
    for replayed in replay_record(record):
        _print(replayed_json(replayed, record.options))


def _random(games: int, players: int, seed: str, preset: str) -> None:
    tally = random_games(preset, games, players, seed)
    speed = round(tally.moves / tally.seconds) if tally.seconds else 0
    sys.stdout.write(f"{tally.games} games\n{tally.moves} moves\n{speed} moves/s\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    The status of bad input is 2. Its message is one line on standard error.
    """
    args = parser().parse_args(argv)
    try:
        if args.command == "replay" and args.record is not None:
            _replay_record(args.record)
        elif args.command == "replay":
            _replay()
        elif args.command == "rulebook":
            sys.stdout.write(rulebook_markdown())
        elif args.command == "presets":
            sys.stdout.write(presets_markdown())
        elif args.command == "events":
            sys.stdout.write(events_markdown())
        else:
            _random(args.games, args.players, args.seed, args.preset)
    except BadInput as bad:
        sys.stderr.write(" ".join(str(bad).split()) + "\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
