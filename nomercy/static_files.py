"""What browsers may keep of static files."""

from collections.abc import MutableMapping


def let_browsers_check(headers: MutableMapping[str, str], path: str, url: str) -> None:
    """Let browsers ask the site before they use a stored file, unless its name has the hash of its contents.

    WhiteNoise calls this for each file (`WHITENOISE_ADD_HEADERS_FUNCTION`), after it has set `Cache-Control` for those
    with a hash. Others change in place with a release, and a page must not mix the files of two.
    """
    headers.setdefault("Cache-Control", "no-cache")
