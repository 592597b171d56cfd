"""The form of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.models import User
from games.actions.moderation.cases import LONGEST, SHORTEST
from games.models import Case
from games.queries import Table


class ReportForm(forms.Form):
    seat = forms.TypedChoiceField(label="Who", coerce=int, widget=forms.RadioSelect)
    kind = forms.ChoiceField(label="What it is about", choices=Case.Kind.choices, widget=forms.RadioSelect)
    text = forms.CharField(
        label="What happened",
        widget=forms.Textarea(attrs={"rows": 5}),
        min_length=SHORTEST,
        max_length=LONGEST,
        help_text="At least a sentence. Moves have numbers in the log; name them if you can.",
    )

    def __init__(self, data: Any, *, table: Table, user: User, data_of: Mapping[str, str]) -> None:
        super().__init__(data, initial={"seat": data_of.get("seat", "")})
        seat = self.fields["seat"]
        assert isinstance(seat, forms.TypedChoiceField)
        others = [row for row in table.seats if row.user_id is not None and row.user_id != user.pk]
        seat.choices = [(row.index, row.name) for row in others]
        self.nobody = not others
