"""What this site uses of allauth's internals is as it was when the site was written, and stands in one module."""

from __future__ import annotations

import inspect
import re
from typing import Final

from accounts import allauth_internals
from nomercy.launcher.place import CHECKOUT

KNOWN: Final = {
    "LOGIN_SESSION_KEY": "account_login",
    "PENDING_SECRET": "mfa.totp.secret",
    "add_email_verification_sent_message": ["request", "email", "signup"],
    "begin_registration": ["user", "passwordless"],
    "clear_login": ["request"],
    "compare_user_code": ["actual", "expected"],
    "complete_signup": ["request", "user", "email_verification", "redirect_url", "signal_kwargs", "by_passkey"],
    "did_recently_reauthenticate": ["request"],
    "format_hotp_value": ["value"],
    "get_address_for_user": ["user"],
    "get_authenticator_by_credential_id": ["user", "credential_id"],
    "hotp_value": ["secret", "counter"],
    "parse_authentication_response": ["response"],
    "parse_registration_response": ["response"],
    "record_authentication": ["request", "user", "method", "extra_data"],
    "unstash_state": ["request", "state_id", "provider_id", "raises"],
    "yield_hotp_counters_from_time": [],
}
"""The value of each constant, and the parameters of each function. See what allauth changed before you change a row."""


def test_allauth_has_not_changed_them() -> None:
    found = {name: getattr(allauth_internals, name) for name in allauth_internals.__all__}
    assert {
        name: list(inspect.signature(one).parameters) if callable(one) else one for name, one in found.items()
    } == KNOWN


def test_no_other_module_uses_internals() -> None:
    using = re.compile(r"^\s*(?:from|import) allauth[\w.]*\.internal\b", re.MULTILINE)
    apps = [
        path for app in ("accounts", "common", "games", "mail", "nomercy") for path in (CHECKOUT / app).rglob("*.py")
    ]
    assert [path.name for path in apps if using.search(path.read_text())] == ["allauth_internals.py"]
