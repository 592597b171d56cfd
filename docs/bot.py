"""A bot for the API of No Mercy, with nothing but Python's standard library.

    NOMERCY_TOKEN=... python docs/bot.py https://cards.example.org          # plays at all tables of its account
    NOMERCY_TOKEN=... python docs/bot.py https://cards.example.org new      # first makes a table against three bots
    NOMERCY_TOKEN=... python docs/bot.py https://cards.example.org k3x9qpwz # first sits down at this table

With --until-over it ends when none of its tables is open or being played.
"""

import argparse
import json
import os
import sys
import time
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from uuid import uuid4

AGAIN = (429, 502, 503)  # too many calls, or the site is away for a moment

LONGEST_WAIT = 60  # seconds


class Refused(Exception):
    """The site has refused a call. `answer` is its error object."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(answer["message"])
        self.answer = answer


class Site:
    """The API of a site, with somebody's token."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = f"{url.rstrip('/')}/api/v1/", token

    def call(self, path: str, body: object = None, **query: str) -> Any:
        """Return the JSON of an answer. Try again while the site is away: a move with the same token is made once.

        :raises Refused: the site has refused it.
        """
        url = self.url + path + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        while True:
            try:
                with urlopen(Request(url, data, headers), timeout=60) as answer:  # noqa: S310
                    return json.load(answer)
            except HTTPError as error:
                if error.code not in AGAIN:
                    raise Refused(json.load(error)) from None
                wait = int(error.headers.get("Retry-After", "5"))
                if wait > LONGEST_WAIT:
                    raise Refused(json.load(error)) from None
            except (URLError, TimeoutError, ConnectionError):
                wait = 5
            time.sleep(wait)


def points(card: str) -> int:
    """Return what a card is worth to get rid of: wilds most, then action cards, then high numbers."""
    return 50 if card.startswith("W") else int(card[1:]) if card[1:].isdigit() else 20


def value(move: str, view: dict[str, Any]) -> int:
    """Return how good a play is: a high card, a colour of which we have many, or a swap for a short hand."""
    words, cards = move.split(), view["hand"]
    worth = points(words[1])
    if "color" in words:
        worth += sum(card.startswith(words[words.index("color") + 1]) for card in cards)
    if "swap" in words:
        worth += len(cards) - int(view["seats"][int(words[words.index("swap") + 1])]["cards"])
    return worth


def choose(view: dict[str, Any]) -> str | None:
    """Return a move, or None if there is nothing to do."""
    legal: list[str] = view["legal"]
    # Where false catches cost cards, `legal` lists them too. Only the seats in `callouts` can really be caught.
    catches = [f"catch {callout['seat']}" for callout in view["callouts"]]
    at_any_time = [move for move in legal if move in ("uno", "buzz", *catches)]
    if at_any_time:
        return at_any_time[0]
    legal = [move for move in legal if not move.startswith("catch ")]
    if view["turn"] != view["you"] or not legal:
        return None
    plays = [move for move in legal if move.startswith("play ")]
    if not plays:
        return legal[0]  # the only moves are to draw, to take, to pass or to name a colour
    best = max(plays, key=lambda move: value(move, view))
    return best + (" uno" if len(view["hand"]) == 2 else "")


def act(site: Site, code: str) -> None:
    """Make moves at a table until it is somebody else's turn."""
    view = site.call(f"games/{code}")
    while view["status"] == "playing" and (move := choose(view)):
        body = {"move": move, "version": view["version"], "deal": view["deal"], "token": uuid4().hex}
        try:
            view = site.call(f"games/{code}/moves", body)
        except Refused as refused:
            if "view" not in refused.answer:  # such as a table that is paused: wait for its next change
                print(code, move, refused, file=sys.stderr)
                return
            view = refused.answer["view"]  # the table had changed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site")
    parser.add_argument("table", nargs="?")
    parser.add_argument("--until-over", action="store_true")
    arguments = parser.parse_args()
    if "NOMERCY_TOKEN" not in os.environ:
        sys.exit("Set NOMERCY_TOKEN to a token of your account.")
    site, mark = Site(arguments.site, os.environ["NOMERCY_TOKEN"]), ""
    if arguments.table == "new":
        print("made table", site.call("games", {"players": 4, "bots": 3})["id"], flush=True)
    elif arguments.table:
        site.call(f"games/{arguments.table}/join", {})
    while True:
        news = site.call("wait/events", after=mark)  # an empty mark is answered at once
        mark = news["mark"]
        for table in news["items"]:
            if table["waiting"]:
                act(site, table["id"])
        if arguments.until_over and not news["items"]:
            return


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(f"The site said: {refused}")
    except KeyboardInterrupt:
        sys.exit(130)
