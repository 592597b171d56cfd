"""API tokens as text: made of 256 random bits, known to the database by their SHA-256 alone."""

import hashlib
import secrets

PREFIX = "nomercy_"  # lets secret scanners and people recognise one
LONGEST = 200


def new_token() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """What is stored. A plain hash is enough: nobody can guess 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
