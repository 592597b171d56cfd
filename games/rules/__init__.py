"""The rules of the game in pure Python: no clock, no I/O and no global randomness.

The types are cards, options, positions, moves, events and views. The main functions are ``deal``, ``legal_moves``,
``apply`` and ``view_for``.
"""

from games.rules.apply import apply, ends_turn, push
from games.rules.cards import (
    COLORS,
    DECKS,
    FACES,
    Card,
    Deck,
    Effect,
    Face,
    card_name,
    color_name,
    color_word,
    face_of,
    pair_text,
    symbol_name,
)
from games.rules.clock import fewest_cards, most_held
from games.rules.deal import deal, deal_cards, is_deck, shuffled_cards
from games.rules.effects import is_bluff, more_cards_by_challenge
from games.rules.errors import REFUSALS, BadInput, Refused
from games.rules.events import EVENTS, Event, EventSpec, redact
from games.rules.key_moments import TELLING, KeyMoment, LoggedMove, LoggedRound, key_moments
from games.rules.legal import answers, default_move, legal_moves, refusal, why_not
from games.rules.lost_hands import lost_hands
from games.rules.match import Match
from games.rules.moves import KINDS, MAX_PLAYERS, MIN_PLAYERS, TURN_MOVES, Move, MoveKind
from games.rules.narration import example, row_of, sentence
from games.rules.notation import parse_line, parse_move
from games.rules.option_checks import changes_needed, check_players, conflicts, warning
from games.rules.option_rows import OPTIONS, SPECS, OptionSpec
from games.rules.options import Options, options_dict
from games.rules.out_of_turn import intercepts, is_step
from games.rules.position import Buzz, Pending, Position, nearest_seat
from games.rules.position_json import position_from_json, position_to_json
from games.rules.presets import (
    FACE_OF,
    LENGTHS_OF,
    MAX_PLAYERS_OF,
    PRESET_DESCRIPTIONS,
    PRESET_SUMMARIES,
    PRESET_TITLES,
    PRESETS,
    options_diff,
    options_from,
    options_from_stored,
    options_to_store,
    preselected,
)
from games.rules.preview import cards_after, continues_straight, cost_of_miss, next_steps, winner_by_leaving
from games.rules.record import Record, RecordLine, RoundRecord, parse_record, print_record, replay_record
from games.rules.replay import replay
from games.rules.round_story import Blow, Feats, RoundStory, round_story
from games.rules.rulebook import RULEBOOK, rules_that_apply
from games.rules.rulebook_rule import Rule
from games.rules.scoring import Outcome, hand_points, outcome
from games.rules.shuffle import DEAL, Shuffle, Shuffler, commitment, is_of_deal, key_from_seed
from games.rules.views import View, view_for

__all__ = [
    "COLORS",
    "DEAL",
    "DECKS",
    "EVENTS",
    "FACES",
    "FACE_OF",
    "KINDS",
    "LENGTHS_OF",
    "MAX_PLAYERS",
    "MAX_PLAYERS_OF",
    "MIN_PLAYERS",
    "OPTIONS",
    "PRESETS",
    "PRESET_DESCRIPTIONS",
    "PRESET_SUMMARIES",
    "PRESET_TITLES",
    "REFUSALS",
    "RULEBOOK",
    "SPECS",
    "TELLING",
    "TURN_MOVES",
    "BadInput",
    "Blow",
    "Buzz",
    "Card",
    "Deck",
    "Effect",
    "Event",
    "EventSpec",
    "Face",
    "Feats",
    "KeyMoment",
    "LoggedMove",
    "LoggedRound",
    "Match",
    "Move",
    "MoveKind",
    "OptionSpec",
    "Options",
    "Outcome",
    "Pending",
    "Position",
    "Record",
    "RecordLine",
    "Refused",
    "RoundRecord",
    "RoundStory",
    "Rule",
    "Shuffle",
    "Shuffler",
    "View",
    "answers",
    "apply",
    "card_name",
    "cards_after",
    "changes_needed",
    "check_players",
    "color_name",
    "color_word",
    "commitment",
    "conflicts",
    "continues_straight",
    "cost_of_miss",
    "deal",
    "deal_cards",
    "default_move",
    "ends_turn",
    "example",
    "face_of",
    "fewest_cards",
    "hand_points",
    "intercepts",
    "is_bluff",
    "is_deck",
    "is_of_deal",
    "is_step",
    "key_from_seed",
    "key_moments",
    "legal_moves",
    "lost_hands",
    "more_cards_by_challenge",
    "most_held",
    "nearest_seat",
    "next_steps",
    "options_dict",
    "options_diff",
    "options_from",
    "options_from_stored",
    "options_to_store",
    "outcome",
    "pair_text",
    "parse_line",
    "parse_move",
    "parse_record",
    "position_from_json",
    "position_to_json",
    "preselected",
    "print_record",
    "push",
    "redact",
    "refusal",
    "replay",
    "replay_record",
    "round_story",
    "row_of",
    "rules_that_apply",
    "sentence",
    "shuffled_cards",
    "symbol_name",
    "view_for",
    "warning",
    "why_not",
    "winner_by_leaving",
]
