"""The project's settings as a fresh checkout has them, whatever the developer's shell sets, with quick passwords."""

import os

from nomercy.environment_file import FILE, SECRETS, SETTINGS

OF_THE_SHELL = {"DATABASE_URL", "POSTGRES"}
for name in SETTINGS.union(secret + FILE for secret in SECRETS) - OF_THE_SHELL:
    os.environ.pop(name, None)
os.environ["NOMERCY_ENV_FILE"] = ""  # read no local.env
os.environ["RATE_LIMITS"] = "0"  # tests ask more of one address than people do; test_limits.py turns them on
os.environ["SECRET_KEY"] = "a key for tests, of no use to anybody else"
# Hypothesis would import a plugin of Trio, which Selenium needs. That fails where garbage has been frozen before.
os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"

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
# A line for each request takes a millisecond, because pytest keeps it as well.
LOGGING["root"]["level"] = LOGGING["loggers"]["nomercy"]["level"] = "WARNING"  # noqa: F405  # the site's
