"""The project's settings as a fresh checkout has them, whatever the developer's shell sets, with quick passwords."""

import os

OF_THE_SHELL = """
    ALLOWED_HOSTS BEHIND_PROXY DEBUG EMAIL_FROM EMAIL_URL EMAIL_VERIFICATION HOST HSTS_PRELOAD HSTS_SUBDOMAINS
    IDLE_TRANSACTION_TIMEOUT_MS LOG_FORMAT LOG_LEVEL PORT REDIS_URL SECRET_KEY_FALLBACKS SITE_URL STATEMENT_TIMEOUT_MS
    STATIC_ROOT SWEEP_GRACE_SECONDS SWEEP_SECONDS VACATION_DAYS
"""
for name in OF_THE_SHELL.split():
    os.environ.pop(name, None)
os.environ.pop("BACKUP_PASSPHRASE", None)
for name in ("BACKUP_PASSPHRASE", "DATABASE_URL", "EMAIL_URL", "REDIS_URL", "SECRET_KEY", "SECRET_KEY_FALLBACKS"):
    os.environ.pop(f"{name}_FILE", None)
os.environ["NOMERCY_ENV_FILE"] = ""  # read no local.env
os.environ["RATE_LIMITS"] = "0"  # tests ask more of one address than people do; test_limits.py turns them on
os.environ["SECRET_KEY"] = "a key for tests, of no use to anybody else"

from nomercy.settings import *  # noqa: E402, F403  # the point of this module

if os.environ.get("NOMERCY_STACK") != "1":  # the processes of a stack have the site's own settings
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"

# A busy machine makes neither the queue for a lock nor the drop of the test database a failure.
DATABASES["default"]["OPTIONS"]["options"] = (  # noqa: F405
    "-c lock_timeout=30000 -c statement_timeout=60000 -c nomercy.may_empty_audit=on"
)

# Two runs of the suite on one server keep out of each other's way.
DATABASES["default"]["TEST"] = {"NAME": f"test_nomercy_{os.getpid()}"}  # noqa: F405

# Each test client would list all static files at its first request, which takes longer than most pages.
WHITENOISE_AUTOREFRESH = True
