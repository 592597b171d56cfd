"""The settings of the site, with a longer timeout for mail servers, for tests on a busy machine."""

from nomercy.settings import *  # noqa: F403  # the point of this module

EMAIL_BACKEND = "tests.support.mail.PatientBackend"
