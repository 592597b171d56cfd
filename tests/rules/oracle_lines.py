"""Random lines of moves: mostly what somebody may do now, else of the right form, else noise."""

from __future__ import annotations

import random

from tests.rules.oracle import Oracle
from tests.rules.oracle_cards import DARK, LIGHT, faces_of

NOISE = [
    "", " ", "0", "draw", "0  draw", " 0 draw", "0 draw ", "0 draw\n", "-1 draw", "+1 draw", "00 draw",
    "1.0 draw", "x draw", "0 Draw", "0 draw uno", "0 take uno", "0 uno uno", "0 play", "0 play ", "0 play zz",
    "0 play R5", "0 play r10", "0 play r5 uno uno", "0 play r5 swap", "0 play r7 swap x", "0 play r7 swap -1",
    "0 play W6 color", "0 play W6 color p", "0 play W6 color r y", "0 play W6 uno color r", "0 color",
    "0 color R", "0 color ry", "0 catch", "0 catch x", "0 catch 1 uno", "0 leave now", "0 clock",
    "0 clock clock draw", "clock 0 draw", "0 fold", "0 play r5 swop 1", "٠ draw", "0 catch ١", "9 draw",
    "6 leave", "10 draw", "99999999999999999999 draw", "9" * 5000 + " draw", "9 draw uno", "7 play zz", "0 pass uno",
    "0 play  r5", "0 buzz 1", "0 buzz uno", "0 challenge 1", "0 challenge uno", "0 play BZ color r", "0 play BZ uno",
    "0 play r5/o2", "0 play W/tF color r", "0 color o", "0 color t", "0 play W color o", "0 play WD color u",
    "0 play r7 swap 1 color r", "0 play r7 color r swap 1", "0 clock challenge", "0 clock catch 1", "0 clock leave",
    "0 clock buzz", "1 clock buzz", "0 bz", "0 play bz",
]  # fmt: skip
WORDS = ["draw", "take", "pass", "uno", "leave", "catch", "color", "play", "clock", "buzz", "challenge"]
TAILS = ["", "", "", " color {color}", " color {color}", " swap {seat}"]


def random_line(rng: random.Random, oracle: Oracle) -> str:
    chance, turn = rng.random(), oracle.table.turn
    if chance < 0.68:
        return plausible_line(rng, oracle)
    if chance < 0.71 or (oracle.table.phase == "buzz" and chance > 0.95):
        return f"{rng.choice(oracle.seats())} leave"
    if chance < 0.78:
        return f"{turn} clock {'draw' if oracle.table.phase == 'over' else oracle.default_move()}"
    if chance < 0.82:
        return f"{rng.choice(oracle.seats())} clock {rng.choice(['uno', 'buzz', random_words(rng, oracle)])}"
    if chance < 0.88:
        return out_of_turn_line(rng, oracle)
    if chance < 0.98:
        seat = turn if rng.random() < 0.8 else rng.randrange(11)
        return f"{seat} {random_words(rng, oracle)}"
    return rng.choice(NOISE)


def plausible_line(rng: random.Random, oracle: Oracle) -> str:
    """Return a legal line, often of a seat that is not on turn, and often with a call."""
    turn = oracle.table.turn
    seat = turn if rng.random() < 0.6 else rng.choice(oracle.seats())
    legal = oracle.legal(seat)
    if not legal:
        seat, legal = turn, oracle.legal(turn)
    # A player who only draws, keeps and takes would end nothing.
    plays = [text for text in legal if text.startswith("play")]
    text = rng.choice(plays if plays and rng.random() < 0.6 else legal or ["draw"])
    if "challenge" in legal and rng.random() < 0.4:
        text = "challenge"
    called = text.startswith("play") and rng.random() < 0.4
    return f"{seat} {text}" + (" uno" if called else "")


def out_of_turn_line(rng: random.Random, oracle: Oracle) -> str:
    """Return a play of a card held by a seat that is not on turn: a step, an interception or a miss."""
    holders = [seat for seat in oracle.seats() if oracle.table.hands[seat] and seat != oracle.table.turn]
    if not holders:
        return random_words(rng, oracle)
    seat = rng.choice(holders)
    tail = rng.choice(TAILS).format(color=rng.choice(LIGHT + DARK), seat=rng.choice(oracle.seats()))
    return f"{seat} play {rng.choice(oracle.faces(seat))}{tail}{rng.choice(['', '', ' uno'])}"


def random_words(rng: random.Random, oracle: Oracle) -> str:
    """Return a move of the right form that is rarely legal."""
    word = "play" if rng.random() < 0.6 else rng.choice(WORDS)
    if oracle.table.phase == "buzz" and rng.random() < 0.5:
        return "buzz"
    seat = rng.randrange(len(oracle.seats()) + 1)
    color = rng.choice(DARK if rng.random() < (0.9 if oracle.table.side == "dark" else 0.1) else LIGHT)
    if word == "catch":
        return f"catch {seat}"
    if word == "color":
        return f"color {color}"
    if word == "clock":
        return f"clock {rng.choice(WORDS)}"
    if word != "play":
        return word
    shown = random_face(rng, oracle)
    tails = ["", " swap {seat}", " swap {seat}"] if shown[1:] == "7" else ["", " color {color}", " swap {seat}"]
    tail = rng.choice(tails).format(color=color, seat=seat)
    if rng.random() < 0.02:
        tail = rng.choice([f" swap {seat} color {color}", f" color {color} swap {seat}"])
    return f"play {shown}{tail}{rng.choice(['', '', ' uno'])}"


def random_face(rng: random.Random, oracle: Oracle) -> str:
    """Return a face of a hand, a hidden face of it, or any face of this deck or another."""
    table = oracle.table
    owner = rng.choice([table.turn, table.turn, rng.choice(oracle.seats())])
    chance = rng.random()
    if chance < 0.7 and table.hands[owner]:
        return rng.choice(oracle.faces(owner))
    if chance < 0.8 and table.hands[owner]:
        return rng.choice(rng.choice(table.hands[owner]).split("/"))
    return rng.choice(
        [*sorted(faces_of(oracle.options.deck, oracle.options.buzzers)), "W", "W4", "WC", "gD", "BZ", "WD"]
    )
