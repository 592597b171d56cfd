"""The forms of a report, and the response to a submitted one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User
from games.models import Case
from games.models.moderation import SHORTEST_WORDS, WORDS_LENGTH
from games.queries import Table
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
    """A report from the page of a game, which asks for the player.

    `data_of` is the query of the page; its `seat` is the initial choice. `nobody`: there is no other person to report.
    """

    seat = forms.TypedChoiceField(label="Player", coerce=int, widget=forms.RadioSelect)
    field_order = ("seat",)

    def __init__(self, data: Any, *, table: Table, user: User, data_of: Mapping[str, str]) -> None:
        others = [row for row in table.seats if row.user_id is not None and row.user_id != user.pk]
        super().__init__(data, initial={"seat": others[0].index if len(others) == 1 else data_of.get("seat", "")})
        seat = self.fields["seat"]
        assert isinstance(seat, forms.TypedChoiceField)
        seat.choices = [(row.index, row.name) for row in others]
        self.nobody = not others


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
            form.add_error(None, denied.message)
            status = denied.status
        else:
            messages.success(request, "Thank you. Staff will look into it. The outcome will appear here.")
            return SeeOther.to("reports")
    return render(request, page, {"form": form, **context}, status=status)
