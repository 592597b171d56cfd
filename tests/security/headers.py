"""The headers that every answer of the site must have."""

from __future__ import annotations

from django.http import HttpResponseBase

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "worker-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


def faults(answer: HttpResponseBase) -> list[str]:
    """Return what is wrong with the headers of an answer."""
    found = []
    policy = dict(part.strip().split(" ", 1) for part in answer.get("Content-Security-Policy", "x ").split(";"))
    if policy != POLICY:
        found.append(f"policy {policy}")
    for name, value in (
        ("X-Frame-Options", "DENY"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ):
        if answer.get(name) != value:
            found.append(f"{name}: {answer.get(name)}")
    if len(answer.get("X-Request-ID", "")) != 32:
        found.append(f"X-Request-ID: {answer.get('X-Request-ID')}")
    kept = [cookie for cookie in answer.cookies.values() if cookie["max-age"] != 0]
    loose = [cookie for cookie in kept if cookie["samesite"] != "Lax" or not cookie["httponly"]]
    return [*found, *(f"cookie {cookie.OutputString()}" for cookie in loose)]
