"""Template tags of the staff pages."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

from games.models import AuditEntry
from games.render import words
from games.staff.acts import DECIDE_APPEAL, summary_of
from games.staff.queue import appeals_count, queue_counts, unheld_count

register = template.Library()


@register.inclusion_tag("admin/staff/_queue.html", takes_context=True)
def staff_queue(context: template.Context) -> dict[str, Any]:
    """``{% staff_queue %}``: what waits for staff, as the user may see it."""
    now = timezone.now()
    user = context["user"]
    return {"queue": queue_counts(user, now=now), "now": now, "decides": user.has_perm(DECIDE_APPEAL.permission)}


@register.simple_tag(takes_context=True)
def unheld_cases(context: template.Context) -> int:
    """``{% unheld_cases as count %}``: how many open cases wait for the user, a staff member, to take them."""
    return unheld_count(context["user"], now=timezone.now())


@register.simple_tag(takes_context=True)
def undecided_appeals(context: template.Context) -> int:
    """``{% undecided_appeals as count %}``: how many appeals wait for the user, if their role may decide them."""
    user = context["user"]
    return appeals_count(user, now=timezone.now()) if user.has_perm(DECIDE_APPEAL.permission) else 0


@register.filter
def act_summary(entry: AuditEntry) -> str:
    """``{{ entry|act_summary }}``: what staff did, like `Suspend, 7 days`."""
    return summary_of(entry)


@register.filter
def waited(since: datetime, now: datetime) -> str:
    """``{{ case.opened_at|waited:now }}``: for how long it has waited, in words."""
    return words.waited(since, now)


@register.filter
def under(cells: Iterable[SafeString], headers: Sequence[dict[str, Any]]) -> list[SafeString]:
    """``{{ result|under:result_headers }}``: the cells of a row, labelled with their columns for narrow screens."""
    return [_labelled(cell, str(header["text"])) for cell, header in zip(cells, headers, strict=True)]


def _labelled(cell: SafeString, text: str) -> SafeString:
    label = format_html(' role="cell" data-label="{}"', capfirst(text))
    for tag in ("<td", "<th"):
        if cell.startswith(tag):
            return mark_safe(tag + label + cell[len(tag) :])  # noqa: S308  # both parts are escaped
    return cell
