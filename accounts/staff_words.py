"""Words for staff in the languages that players are likely to read. Names cannot contain them.

They are compared by skeleton and without marks (`accounts.names`), so `modératrice` needs no second spelling.
"""

from __future__ import annotations

from typing import Final

PARTS: Final = ("admin", "moderator", "nomercy", "админ", "адмін", "модератор")
"""No word of a name starts or ends with one of these."""

WORDS: Final = {
    "English": "billing bot bots clock gamemaster helpdesk jury mattel mod mods moderation official officials owner"
    " postmaster referee security staff support system verified webmaster",
    "French": "modérateur modératrice modération officiel officielle maîtredujeu",
    "German": "betreiber kundendienst moderation offiziell spielleiter spielleiterin spielleitung",
    "Spanish": "moderación moderador moderadora oficial soporte",
    "Italian": "amministratore amministratrice amministrazione moderatore moderatrice moderazione ufficiale assistenza",
    "Portuguese": "moderação moderador moderadora oficial suporte",
    "Dutch": "beheerder moderatie officieel ondersteuning spelleider",
    "Polish": "moderacja obsługa oficjalny wsparcie mistrzgry",
    "Russian": "администрация модерация модер официальный поддержка техподдержка",
    "Ukrainian": "адміністрація модерація офіційний підтримка техпідтримка",
    "Turkish": "yönetici yönetim destek görevli",
}
"""No word of a name is one of these, and no neighbouring words together, like `game master`."""
