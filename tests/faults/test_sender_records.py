"""`manage.py sendtestmail` says what the DNS has about mail from the sender's domain, and what to set."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import StringIO

import pytest
from django.core.management import call_command
from dns import flags, message, rcode, rrset
from pytest_django.fixtures import Settings

from games.management.sender_records import findings, resolver_at
from tests.support.mail import MailServer
from tests.support.ports import free_port

SPF = "v=spf1 include:mail.example.net -all"
KEY = '"v=DKIM1; k=rsa; " "p=MIGf"'


@contextmanager
def resolver(records: Mapping[str, list[str]] | None) -> Iterator[str]:
    """Run a DNS server with these TXT records, and yield its address. Without any it reads and never answers."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            if records is None:
                return
            data, socket = self.request
            asked = message.from_wire(data)
            answer = message.make_response(asked)
            answer.flags |= flags.RA
            name = asked.question[0].name
            texts = records.get(str(name).rstrip("."))
            if texts is None:
                answer.set_rcode(rcode.NXDOMAIN)
            elif texts:
                quoted = [text if text.startswith('"') else f'"{text}"' for text in texts]
                answer.answer.append(rrset.from_text(name, 60, "IN", "TXT", *quoted))
            socket.sendto(answer.to_wire(), self.client_address)

    with socketserver.UDPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def found(records: Mapping[str, list[str]], selector: str = "", domain: str = "example.org") -> list[str]:
    with resolver(records) as address:
        return list(findings(domain, selector=selector, resolver=resolver_at(address)))


def test_it_tells_what_a_domain_has() -> None:
    spf, dkim, dmarc = found(
        {
            "example.org": ["another", SPF],
            "s1._domainkey.example.org": [KEY],
            "_dmarc.example.org": ["v=DMARC1; p=reject"],
        },
        "s1",
    )
    assert spf == f"SPF: example.org lists who may send its mail. Your mail server must be among them: {SPF}"
    assert dkim == "DKIM: s1._domainkey.example.org has a key. Your mail service must sign with it."
    assert dmarc == "DMARC: _dmarc.example.org asks receivers of a mail that fails to refuse it (p=reject)."


def test_it_tells_what_a_domain_lacks() -> None:
    spf, dkim, dmarc = found({"example.org": []})
    assert spf.endswith("for example: v=spf1 mx -all")
    assert "--selector" in dkim
    assert dmarc.endswith("Add a TXT record at _dmarc.example.org, for example: v=DMARC1; p=none")
    assert found({}, "s1")[1].startswith("DKIM: s1._domainkey.example.org has no key.")


@pytest.mark.parametrize(
    ("name", "texts", "said"),
    [
        ("example.org", [SPF, "v=spf1 -all"], "SPF: example.org has 2 records, so receivers ignore all of them."),
        ("example.org", ["v=spf1 +all"], "SPF: example.org allows everybody to send its mail (v=spf1 +all)."),
        ("example.org", ["v=spf10 mx"], "SPF: example.org has no record."),
        ("s1._domainkey.example.org", ["v=DKIM1; p="], "DKIM: the key at s1._domainkey.example.org is empty"),
        ("_dmarc.example.org", ["v=DMARC1; p=none"], "(p=none). Change it to p=quarantine when SPF and DKIM work."),
        ("_dmarc.example.org", ["v=DMARC1; p=none", "v=DMARC1; p=reject"], "_dmarc.example.org has 2 records"),
    ],
)
def test_it_tells_what_is_wrong(name: str, texts: list[str], said: str) -> None:
    assert said in "\n".join(found({name: texts}, "s1"))


def test_the_policy_of_the_domain_above_is_found() -> None:
    records = {"_dmarc.example.org": ["v=DMARC1; p=reject; sp=quarantine"]}
    [_, _, dmarc] = found(records, domain="mail.games.example.org")
    assert dmarc == "DMARC: _dmarc.example.org asks receivers of a mail that fails to treat it as spam (p=quarantine)."


@pytest.mark.parametrize("domain", ["127.0.0.1", "localhost", ""])
def test_a_sender_without_a_domain_is_not_looked_up(domain: str) -> None:
    [said] = found({}, domain=domain)
    assert said.endswith("Set EMAIL_FROM to an address at your domain.")


def test_it_tells_that_no_resolver_answers() -> None:
    with resolver(None) as silent:
        [said] = findings("example.org", selector="", resolver=resolver_at(silent), seconds=0.2)
    assert said == "SPF, DKIM and DMARC: the DNS gave no answer (LifetimeTimeout). Try again, or give --resolver."
    [said] = findings("example.org", selector="", resolver=resolver_at(f"127.0.0.1:{free_port()}"), seconds=0.2)
    assert said.startswith("SPF, DKIM and DMARC: the DNS gave no answer")


@pytest.mark.django_db
def test_the_command_says_it_after_the_mail_was_taken(server: MailServer, settings: Settings) -> None:
    settings.DEFAULT_FROM_EMAIL = "No Mercy <no-reply@example.org>"
    with resolver({"example.org": [SPF], "s1._domainkey.example.org": [KEY]}) as address:
        said = sent("--resolver", address, "--selector", "s1")
    taken, _, *records = said.splitlines()
    assert " took the mail from No Mercy <no-reply@example.org> to ann@example.org." in taken
    assert [line.partition(":")[0] for line in records] == ["SPF", "DKIM", "DMARC"]
    assert "mail.example.net is no address of a resolver" in sent("--resolver", "mail.example.net")
    assert len(server.mails) == 2


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("1.1.1.1", "Do53:1.1.1.1@53"),
        ("127.0.0.1:5353", "Do53:127.0.0.1@5353"),
        ("2606:4700::1111", "Do53:2606:4700::1111@53"),
    ],
)
def test_a_resolver_has_an_ipv4_or_ipv6_address(given: str, asked: str) -> None:
    assert [str(server) for server in resolver_at(given).nameservers] == [asked]


def sent(*options: str) -> str:
    out = StringIO()
    call_command("sendtestmail", "ann@example.org", *options, stdout=out)
    return out.getvalue()
