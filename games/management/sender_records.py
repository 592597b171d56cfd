"""Look up what the DNS says about mail from a domain: SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489)."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

from dns.exception import DNSException
from dns.nameserver import Do53Nameserver
from dns.resolver import NXDOMAIN, NoAnswer, Resolver

QUERY_SECONDS: Final = 5.0
"""The longest wait for one answer."""
LONGEST_SHOWN: Final = 300
"""How many characters of a record are shown."""
ASKS: Final = {"none": "to do nothing", "quarantine": "to treat it as spam", "reject": "to refuse it"}
"""What each policy of DMARC asks of receivers of a mail that fails."""


def resolver_at(address: str) -> Resolver:
    """Return the DNS resolver at an address like `1.1.1.1`, `::1` or `127.0.0.1:5353`, or the machine's own for "".

    :raises DNSException: the machine has none.
    :raises ValueError: this is no such address.
    """
    if not address:
        return Resolver()
    host, _, port = address.partition(":") if address.count(":") == 1 else (address, "", "")  # IPv6 has more
    found = Resolver(configure=False)
    found.nameservers = [Do53Nameserver(str(ip_address(host)), int(port or 53))]
    return found


def findings(domain: str, *, selector: str, resolver: Resolver, seconds: float = QUERY_SECONDS) -> Iterator[str]:
    """Yield in words what the DNS says about mail from this domain, and what to set.

    :param selector: the name of the DKIM key, which cannot be looked up, or "" if it is not known.
    :param seconds: the longest wait for one answer.
    """
    if "." not in domain or domain.replace(".", "").isdigit():
        yield f"SPF, DKIM and DMARC: others cannot look up {domain!r}. Set EMAIL_FROM to an address at your domain."
        return
    try:
        yield _spf(domain, _texts(domain, resolver, seconds))
        yield _dkim(domain, selector, resolver, seconds)
        yield _dmarc(domain, resolver, seconds)
    except DNSException as error:
        yield f"SPF, DKIM and DMARC: the DNS gave no answer ({type(error).__name__}). Try again, or give --resolver."


def _texts(name: str, resolver: Resolver, seconds: float) -> list[str]:
    """Return the TXT records of a name."""
    try:
        answer = resolver.resolve(name, "TXT", lifetime=seconds, search=False)
    except (NXDOMAIN, NoAnswer):
        return []
    return [b"".join(record.strings).decode(errors="replace") for record in answer]


def _spf(domain: str, texts: list[str]) -> str:
    found = [text for text in texts if text.lower().split(" ")[0] == "v=spf1"]
    if not found:
        return (
            f"SPF: {domain} has no record. Add a TXT record at {domain} that lists the servers that send its mail,"
            " as your mail service says, for example: v=spf1 mx -all"
        )
    if len(found) > 1:
        return f"SPF: {domain} has {len(found)} records, so receivers ignore all of them. Keep one."
    if {"all", "+all"}.intersection(found[0].lower().split()):
        return f"SPF: {domain} allows everybody to send its mail ({found[0][:LONGEST_SHOWN]}). End it with -all."
    return f"SPF: {domain} lists who may send its mail. Your mail server must be among them: {found[0][:LONGEST_SHOWN]}"


def _dkim(domain: str, selector: str, resolver: Resolver, seconds: float) -> str:
    if not selector:
        return (
            "DKIM: not looked up. Give the selector of your mail service with --selector. A mail that arrived has it"
            " in the header DKIM-Signature, after s="
        )
    name = f"{selector}._domainkey.{domain}"
    keys = [tags["p"] for text in _texts(name, resolver, seconds) if "p" in (tags := _tags(text))]
    if not keys:
        return f"DKIM: {name} has no key. Add the record that your mail service gives you for it."
    if not any(keys):
        return f"DKIM: the key at {name} is empty, so it was revoked. Add the one that your mail service uses now."
    return f"DKIM: {name} has a key. Your mail service must sign with it."


def _dmarc(domain: str, resolver: Resolver, seconds: float) -> str:
    """Return what the policy for mail from this domain is. It is that of the domain or of the nearest one above it."""
    labels = domain.split(".")
    for n in range(len(labels) - 1):
        name = ".".join(["_dmarc", *labels[n:]])
        found = [tags for text in _texts(name, resolver, seconds) if (tags := _tags(text)).get("v") == "DMARC1"]
        if len(found) > 1:
            return f"DMARC: {name} has {len(found)} records, so receivers ignore all of them. Keep one."
        if found:
            policy = found[0].get("p", "none").lower()
            policy = found[0].get("sp", policy).lower() if n else policy
            more = "" if policy != "none" else ". Change it to p=quarantine when SPF and DKIM work"
            return f"DMARC: {name} asks receivers of a mail that fails {ASKS.get(policy, policy)} (p={policy}){more}."
    return (
        f"DMARC: {domain} has no record, and large providers want one. Add a TXT record at _dmarc.{domain},"
        " for example: v=DMARC1; p=none"
    )


def _tags(text: str) -> dict[str, str]:
    """Return the tags of a record like `v=DMARC1; p=none`."""
    pairs = (tag.partition("=") for tag in text.split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs}
