"""API tokens and keys of invitations: 256 random bits as text. The database stores only their SHA-256."""

import hashlib
import secrets

PREFIX = "nomercy_"  # lets secret scanners and people recognise one
LONGEST = 200  # characters: a longer text is no token of ours


def new_token() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def new_invitation() -> str:
    """Return the key of a new invitation to sign up."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """Return the SHA-256 of a token as hex digits. It needs no salt: nobody can guess 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
