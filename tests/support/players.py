"""Players who play over HTTP as fast as the table allows, also while the site fails.

Each player has a thread. A move is sent with a token. If the answer is lost or a server error, the same request is sent
again until an answer settles it. Half of the players use the pages, half the API.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from typing import Any, Final, NamedTuple

from accounts.models import User
from tests.conftest import api_token, logged_in
from tests.support.history import Attempt, Fault, HandShown, History
from tests.support.web import Answer, Request, exchange, page_move, program_move

PATIENCE: Final = 30.0
"""Seconds that a client waits for an answer."""
RETRY: Final = 0.1
POLL: Final = 0.25
SETTLE: Final = 120.0
"""Seconds within which a move must be settled after the last kill."""
REPEATED: Final = 0.1
"""The share of acknowledged moves that are sent again, which must change nothing."""

VERSION: Final = re.compile(rb'data-version="(\d+)"')
LATE: Final = frozenset({"stale", "over", "out", "nothing_owed", "nobody_to_catch"})
"""Refusals that a legal move may get because another player was faster. Any other is a fault of the site."""


class Hand(NamedTuple):
    """The logged-in browser and the API token of a person."""

    browser: Any
    token: str

    @classmethod
    def of(cls, user: User) -> Hand:
        return cls(logged_in(user), api_token(user))


@dataclass
class Playing:
    """What the players of one run share. `games` has the codes of the tables being played."""

    port: int
    history: History
    stopping: threading.Event = field(default_factory=threading.Event)
    failed: list[BaseException] = field(default_factory=list)
    games: set[str] = field(default_factory=set)


@dataclass
class Player:
    """A person who plays at one table after another. `moved` wakes all players of the tables."""

    name: str
    hand: Hand
    by_page: bool
    tables: Sequence[str]
    moved: threading.Condition
    playing: Playing
    rng: random.Random
    tokens: count[int] = field(default_factory=count)

    def run(self) -> None:
        try:
            for code in self.tables:
                self.playing.games.add(code)
                self._play(code)
                self.playing.games.discard(code)
        except BaseException as error:  # noqa: BLE001  # raised by the thread that waits for this one
            self.playing.failed.append(error)

    def _play(self, code: str) -> None:
        while not self.playing.stopping.is_set():
            view = self._look(code)
            if view is not None and view["status"] != "playing":
                return
            moves = [move for move in view["legal"] if move != "leave"] if view else []
            if moves:
                self._move(Attempt(
                    code, view["you"], f"{self.name}-{next(self.tokens)}", self.rng.choice(moves), view["version"],
                    sent=time.monotonic(),
                ))  # fmt: skip
            with self.moved:
                if moves:
                    self.moved.notify_all()
                else:
                    self.moved.wait(POLL)

    def _look(self, code: str) -> Any:
        """Return the player's view of a table, or None without an answer."""
        answer = self._send(Request("GET", f"/api/v1/games/{code}", {"Authorization": f"Bearer {self.hand.token}"}))
        if answer is not None and answer.status != 200:
            self._fault(f"{code}: looking was answered {answer.status}")
            return None
        return answer and answer.json()

    def _move(self, attempt: Attempt) -> None:
        """Make a move and wait until it is settled. Then send some moves again."""
        self.playing.history.attempts.append(attempt)
        self._settle(attempt)
        if attempt.acknowledged and self.rng.random() < REPEATED:
            again = self._send(self._request(attempt))
            if again is not None and again.status != 200:
                self._fault(f"{attempt.game}: `{attempt.move}` again with its token was answered {again.status}")

    def _request(self, attempt: Attempt) -> Request:
        fields = {"move": attempt.move, "version": attempt.version, "token": attempt.token}
        if self.by_page:
            return page_move(self.hand.browser, attempt.game, {k: str(v) for k, v in fields.items()}, fragment=True)
        return program_move(self.hand.token, attempt.game, fields)

    def _settle(self, attempt: Attempt) -> None:
        until = None
        while True:
            answer = self._send(self._request(attempt))
            if answer is not None and self._understood(attempt, answer):
                attempt.answered = time.monotonic()
                return
            attempt.lost += 1
            if self.playing.stopping.is_set():
                until = until or time.monotonic() + SETTLE
                if time.monotonic() > until:
                    return
            time.sleep(RETRY)

    def _understood(self, attempt: Attempt, answer: Answer) -> bool:
        """Record the answer and return True if it says whether the move was accepted."""
        if answer.status == 200:
            shown = self._shown_by_page(answer) if self.by_page else self._shown_by_program(attempt, answer)
            if shown is None:
                return False
            attempt.acknowledged, attempt.shown = True, shown
            return True
        attempt.acknowledged = False
        if not (answer.status in (409, 422) if self.by_page else answer.json()["error"] in LATE):
            self._fault(f"{attempt.game}: `{attempt.move}` was answered {answer.status}")
        return True

    @staticmethod
    def _shown_by_page(answer: Answer) -> int | None:
        found = VERSION.search(answer.body)
        return int(found[1]) if found else None

    def _shown_by_program(self, attempt: Attempt, answer: Answer) -> int:
        view = answer.json()
        version = int(view["version"])
        when = (view["round"], version)
        self.playing.history.hands.append(HandShown(attempt.game, when, attempt.seat, tuple(view["hand"])))
        return version

    def _send(self, request: Request) -> Answer | None:
        """Return the answer, or None if it never came or was a server error."""
        try:
            answer = exchange(self.playing.port, request, patience=PATIENCE)
            if request.path.startswith("/api/") and answer.status < 500:
                answer.json()
        except (OSError, HTTPException, ValueError):
            return None
        return answer if answer.status < 500 else None

    def _fault(self, sentence: str) -> None:
        self.playing.history.faults.append(Fault("answer", sentence))
