"""What this site uses of allauth's internals, with the reason for each. No other module may import one.

allauth may change them in any release. `tests/accounts/test_allauth_internals.py` fails if a name, a parameter or a
constant has changed.
"""

# The page that says that a mail to confirm the address is on its way corrects that address (accounts/sign_up.py).
from allauth.account.internal.flows.email_verification import add_email_verification_sent_message, get_address_for_user

# allauth notes how somebody has logged in. A log-in at the OpenID provider, and a second factor that has just been set
# up, are ways that it does not note by itself (accounts/openid.py, accounts/receivers.py).
from allauth.account.internal.flows.login import record_authentication

# Whether this session has given its password or a code within five minutes (accounts/log_ins.py).
from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate

# A sign-up with an identity at the provider ends like one by password (accounts/openid.py).
from allauth.account.internal.flows.signup import complete_signup

# A log-in that waits for a second factor or a confirmed address: it goes on to another page, or ends because the
# password has changed meanwhile (accounts/sign_up.py, accounts/adapter.py).
from allauth.account.internal.stagekit import LOGIN_SESSION_KEY, clear_login

# Recovery codes are compared as people type them (accounts/second_factor.py).
from allauth.core.internal.cryptokit import compare_user_code

# A code uses up its step in the database, and the secret waits encrypted in the session (accounts/second_factor.py).
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY as PENDING_SECRET
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time

# What a device sends is read before allauth stores it, so that nonsense is one sentence (accounts/passkeys.py).
from allauth.mfa.webauthn.internal.auth import (
    begin_registration,
    get_authenticator_by_credential_id,
    parse_authentication_response,
    parse_registration_response,
)

# The callback takes the state of a log-in out of the session before anything can fail (accounts/openid.py).
from allauth.socialaccount.internal.statekit import unstash_state

__all__ = [
    "LOGIN_SESSION_KEY",
    "PENDING_SECRET",
    "add_email_verification_sent_message",
    "begin_registration",
    "clear_login",
    "compare_user_code",
    "complete_signup",
    "did_recently_reauthenticate",
    "format_hotp_value",
    "get_address_for_user",
    "get_authenticator_by_credential_id",
    "hotp_value",
    "parse_authentication_response",
    "parse_registration_response",
    "record_authentication",
    "unstash_state",
    "yield_hotp_counters_from_time",
]
