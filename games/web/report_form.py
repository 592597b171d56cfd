"""The forms of a report, and the response to a submitted one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User
from common.readers_language import say
from games.models import Case
from games.models.moderation import SHORTEST_WORDS, WORDS_LENGTH
from games.queries import Table
from games.queries.players import SeatOwner, others_of
from games.refusals import Denied
from games.web.http import SeeOther, form_status


class ReportFields(forms.Form):
    """The fields of every report."""

    kind = forms.ChoiceField(label="Reason", choices=Case.Kind.choices, widget=forms.RadioSelect)
    text = forms.CharField(
        label="What happened",
        widget=forms.Textarea(attrs={"rows": 5}),
        min_length=SHORTEST_WORDS,
        max_length=WORDS_LENGTH,
        help_text="Write at least a sentence. Give move numbers from the log if you can.",
    )


class GameReportForm(ReportFields):
    """A report from the page of a game, which asks for the player: somebody who has a seat, or who had one.

    `data_of` is the query of the page; its `seat` is the initial choice. `nobody`: there is no other person to report.
    """

    seat = forms.ChoiceField(label="Player", widget=forms.RadioSelect)
    field_order = ("seat",)

    def __init__(self, data: Any, *, table: Table, user: User, data_of: Mapping[str, str]) -> None:
        self._others = {other.key: other for other in others_of(table, user)}
        only = next(iter(self._others)) if len(self._others) == 1 else None
        super().__init__(data, initial={"seat": only or data_of.get("seat", "")})
        seat = self.fields["seat"]
        assert isinstance(seat, forms.ChoiceField)
        seat.choices = [(key, _label(other)) for key, other in self._others.items()]
        self.nobody = not self._others

    @property
    def player(self) -> SeatOwner:
        """The chosen player of a valid form."""
        return self._others[self.cleaned_data["seat"]]


def _label(player: SeatOwner) -> str:
    if not player.former:
        return player.name
    number = player.seat + 1
    return say.text("report", "{name} (had seat {number})", name=player.name, number=number)


class PersonReportForm(ReportFields):
    """A report from a person's page, which asks for the game. `games` are pairs of a code and a label."""

    game = forms.ChoiceField(label="Game", widget=forms.RadioSelect)
    field_order = ("game",)

    def __init__(self, data: Any, *, games: Sequence[tuple[str, str]]) -> None:
        super().__init__(data, initial={"game": games[0][0]} if games else None)
        self.no_games = not games
        field = self.fields["game"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = games


def answer(
    request: HttpRequest, form: ReportFields, hand_in: Callable[[], object], *, page: str, context: Mapping[str, object]
) -> HttpResponse:
    """Call `hand_in` if the form is valid, and redirect to the person's reports. Else show the form with its errors.

    `hand_in` may raise Denied; its message is then shown as an error of the form. `page` is the form's template.
    """
    status: int = form_status(form)
    if form.is_valid():
        try:
            hand_in()
        except Denied as denied:
            form.add_error(None, denied.words)
            status = denied.status
        else:
            thanks = say.text("message", "Thank you. Staff will look into it. The outcome will appear here.")
            messages.success(request, thanks)
            return SeeOther.to("reports")
    return render(request, page, {"form": form, **context}, status=status)
