"""Django's settings, from environment variables and the environment file.

docs/settings.md lists them; nomercy/checks.py refuses bad ones.
"""

import sys
from email.utils import formataddr
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from jinja2 import StrictUndefined
from kombu import Exchange, Queue

from nomercy import checks
from nomercy.checks import LOCAL_HOSTS, Environment, broker_url, check_openid, host_of, refuse, refuse_if
from nomercy.launcher.place import CHECKOUT, DATABASE, ROLE, place_for, secret_key
from nomercy.launcher.place import PORT as SOCKET_PORT
from nomercy.launcher.programs import wanted_source
from nomercy.queues import CLOCK, MAIL, QUEUES, WORK
from nomercy.static_files import let_browsers_check

environment = Environment()

# Address
HOST = environment.get("HOST", checks.ADDRESS, "127.0.0.1")
PORT = environment.number("PORT", 8000, lowest=1, highest=checks.HIGHEST_PORT)
SITE = environment.get("SITE_URL", checks.SITE, f"http://127.0.0.1:{PORT}")
SITE_URL = f"{SITE.scheme}://{SITE.netloc}"
HTTPS = SITE.scheme == "https"
TRUSTED_PROXIES = environment.number("BEHIND_PROXY", 0, highest=5)
BEHIND_PROXY = TRUSTED_PROXIES > 0
WEB_CONCURRENCY = environment.number("WEB_CONCURRENCY", 2, lowest=1, highest=64)  # processes for pages
HTTP_THREADS = 10  # of each of them
DEBUG = environment.flag("DEBUG")
refuse_if(
    DEBUG and host_of(SITE) not in LOCAL_HOSTS,
    "DEBUG shows secrets on error pages. Use it only with a SITE_URL on this machine.",
)
ALLOWED_HOSTS = [host_of(SITE), *environment.get("ALLOWED_HOSTS", checks.HOSTS)]
if host_of(SITE) in LOCAL_HOSTS:
    ALLOWED_HOSTS += LOCAL_HOSTS
CSRF_TRUSTED_ORIGINS = [SITE_URL]
ROOT_URLCONF = "nomercy.urls"
WSGI_APPLICATION = "nomercy.wsgi.application"

# Name and texts
SITE_NAME = environment.get("SITE_NAME", checks.NAME) or "No Mercy"
CONTACT_TEXT = environment.page_text("CONTACT_TEXT")
IMPRINT_TEXT = environment.page_text("IMPRINT_TEXT")
PRIVACY_TEXT = environment.page_text("PRIVACY_TEXT")
SECURITY_CONTACT = environment.get("SECURITY_CONTACT", checks.CONTACT)

# Access
REGISTRATION = environment.choice("REGISTRATION", ("open", "invite", "closed"))
INVITATIONS = environment.choice("INVITATIONS", ("staff", "members"))
GUESTS = environment.flag("GUESTS", default=True)
LOGIN_REQUIRED = environment.flag("LOGIN_REQUIRED")
refuse_if(
    GUESTS and REGISTRATION == "closed",
    "REGISTRATION=closed means that nobody becomes a user, but guests are users. Set GUESTS=0 as well.",
)
refuse_if(
    INVITATIONS == "members" and REGISTRATION != "invite",
    f"INVITATIONS=members needs REGISTRATION=invite. It is {REGISTRATION}, where invitations change nothing.",
)
refuse_if(
    GUESTS and LOGIN_REQUIRED,
    "LOGIN_REQUIRED=1 means that visitors see no tables, but guests begin as visitors. Set GUESTS=0 as well.",
)

# Logging in with an OpenID provider: without an issuer there is none (accounts/openid.py)
OIDC_ISSUER = environment.get("OIDC_ISSUER", checks.ISSUER)
OIDC_CLIENT_ID = environment.text("OIDC_CLIENT_ID")
OIDC_CLIENT_SECRET = environment.text("OIDC_CLIENT_SECRET")
OIDC_NAME = environment.get("OIDC_NAME", checks.NAME)
check_openid(issuer=OIDC_ISSUER, client_id=OIDC_CLIENT_ID, secret=OIDC_CLIENT_SECRET, name=OIDC_NAME)
OIDC_NAME = OIDC_NAME or urlsplit(OIDC_ISSUER).hostname or ""

# PostgreSQL
PLACE = place_for()
given_database = environment.database("DATABASE_URL")
EMBEDDED = not given_database
wanted_source(environment)  # only refuses a wrong value; the programs are chosen at the start
LOCK_TIMEOUT_MS = 2000
STATEMENT_TIMEOUT_MS = environment.number("STATEMENT_TIMEOUT_MS", 5000, highest=86_400_000)
IDLE_TRANSACTION_TIMEOUT_MS = environment.number("IDLE_TRANSACTION_TIMEOUT_MS", 60_000, highest=86_400_000)
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        "NAME": DATABASE,
        "USER": ROLE,
        "HOST": str(PLACE.sockets),
        "PORT": SOCKET_PORT,
        **given_database,
        # For the threads that serve pages. Channels' thread closes and checks its connection in the same way.
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }
}
DATABASES["default"]["ENGINE"] = "nomercy.database"
database_options = DATABASES["default"].setdefault("OPTIONS", {})
database_options.setdefault("prepare_threshold", 5)  # see common/fixed_sql.py
database_options.setdefault("connect_timeout", 5)
if given_database:
    # A host that vanishes closes no connection. By default the kernel gives one up after 15 minutes.
    database_options.setdefault("tcp_user_timeout", 10_000)  # milliseconds until sent data must be acknowledged
    database_options.setdefault("keepalives_idle", 5)
    database_options.setdefault("keepalives_interval", 2)
    database_options.setdefault("keepalives_count", 3)
    # Of several hosts, the one that takes writes. A single host that takes none is refused at once.
    database_options.setdefault("target_session_attrs", "read-write")
database_options["options"] = (
    f"-c lock_timeout={LOCK_TIMEOUT_MS} -c statement_timeout={STATEMENT_TIMEOUT_MS}"
    f" -c idle_in_transaction_session_timeout={IDLE_TRANSACTION_TIMEOUT_MS} {database_options.get('options', '')}"
).rstrip()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Secrets
given_secret_key = environment.get("SECRET_KEY", checks.KEY)
refuse_if(
    not given_secret_key and not EMBEDDED,
    "SECRET_KEY must be set when DATABASE_URL is. Use a long random text, and keep it; to restore a backup, use that of"
    " the backup (docs/operations.md, Restoring).",
)
try:
    # Only a start makes one: a command that finds no site here, like `collectstatic`, leaves nothing behind.
    SECRET_KEY = given_secret_key or secret_key(PLACE, create=False)
except OSError as error:
    refuse(f"{error}.")
SECRET_KEY_FALLBACKS = environment.get("SECRET_KEY_FALLBACKS", checks.FALLBACKS)
environment.passphrase("BACKUP_PASSPHRASE")  # only refuses a wrong value, which the next backup would find at night

# Redis, or this process's memory: channel layer, Celery's broker, cache
REDIS_URL = environment.redis("REDIS_URL")
PUBLISH_SECONDS = 0.2
publish_timeouts = {"socket_connect_timeout": PUBLISH_SECONDS, "socket_timeout": PUBLISH_SECONDS}
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {"default": {"BACKEND": "nomercy.launcher.embedded.ServerLoopLayer"}}
# Django's default of 300 entries is too few. The counts of limits have a cache of their own.
# "process" is always in memory. If the OpenID provider's keys were in Redis, a person who can write to it could put
# their own keys there, and log in as anybody who is linked.
CACHES: dict[str, dict[str, Any]] = {
    name: {
        "BACKEND": "nomercy.cache.MemoryCache",
        "LOCATION": name,
        "OPTIONS": {"MAX_ENTRIES": entries},
    }
    for name, entries in {"default": 10_000, "limits": 100_000, "process": 100}.items()
}
CELERY_BROKER_URL = "memory://localhost/"
CELERY_BROKER_TRANSPORT: str | None = "nomercy.launcher.broker:Transport"  # instead of Kombu's, which polls
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {}
if REDIS_URL:
    CHANNEL_LAYERS["default"] = {
        "BACKEND": "nomercy.layer.GroupLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL, **publish_timeouts}]},
    }
    CACHES["default"] = CACHES["limits"] = {
        "BACKEND": "nomercy.cache.FailOpenRedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {**publish_timeouts, "serializer": "nomercy.cache.JsonSerializer"},
    }
    CELERY_BROKER_URL = broker_url(REDIS_URL)
    CELERY_BROKER_TRANSPORT = None  # the URL names it
    # By default a publisher would sleep for 2 s and retry, in the middle of a move.
    publish_once = {"max_retries": 0}
    CELERY_BROKER_TRANSPORT_OPTIONS = {**publish_timeouts, **publish_once, "retry_on_timeout": False}
CELERY_BROKER_CONNECTION_TIMEOUT = PUBLISH_SECONDS
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # retry until Redis is back
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_ACCEPT_CONTENT = ["json"]  # Celery's default, too: a pickled task could run anything
CELERY_BEAT_SCHEDULER = "nomercy.beat:MemoryScheduler"
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in QUEUES]
CELERY_TASK_DEFAULT_QUEUE = WORK
# What writes notices and mails, in the order of their turns.
NOTICE_SOURCES = ["accounts.due_mails.SOURCE", "games.notices.source.SOURCE"]
CELERY_TASK_ROUTES = {"games.tasks.sweep": {"queue": CLOCK}, "games.tasks.notices": {"queue": MAIL}}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Celery would open a connection to PostgreSQL for each task. nomercy/celery.py closes those that are old or broken.
CELERY_DB_REUSE_MAX = sys.maxsize

# Clocks
SWEEP_SECONDS = environment.number("SWEEP_SECONDS", 2, lowest=1, highest=60)
SWEEP_GRACE_SECONDS = environment.number("SWEEP_GRACE_SECONDS", 120, lowest=30, highest=86_400)
VACATION_DAYS = environment.number("VACATION_DAYS", 28, highest=366)

# Requests to URLs that people give (common/outgoing.py)
OUTGOING = environment.flag("OUTGOING", default=True)
OUTGOING_ALLOW = environment.get("OUTGOING_ALLOW", checks.NETWORKS)

# Monitoring
METRICS_TOKEN = environment.get("METRICS_TOKEN", checks.TOKEN)
SENTRY_DSN = environment.get("SENTRY_DSN", checks.SENTRY)

# Apps and middleware
INSTALLED_APPS = [
    "nomercy.apps.NomercyConfig",
    "mail.apps.MailConfig",
    "accounts.apps.AccountsConfig",
    "games.apps.GamesConfig",
    "nomercy.apps.StaffConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "nomercy.apps.SecondFactorConfig",
    # Always, so that the identities of people are deleted with them, also where no provider is set any more.
    "allauth.socialaccount",
    "channels",
    "csp",
    "django_htmx",
    "ninja",
]
# The first is the outermost: it sees a request first and its answer last.
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "nomercy.compression.Compression",  # compresses what all others have added to the page
    "whitenoise.middleware.WhiteNoiseMiddleware",  # static files need nothing that follows
    *(["nomercy.metrics.measure"] if METRICS_TOKEN else []),  # also measures the time of all that follow
    "nomercy.middleware.RequestLog",  # also logs what all that follow refuse
    "nomercy.content_security_policy.ContentSecurityPolicy",  # these two are on all pages, also on refusals
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "nomercy.middleware.Sessions",  # keeps refusals of the next two out of caches, too; reads no session by itself
    "nomercy.limits.Limits",  # before all that reads the session or the body
    "nomercy.middleware.readable_requests",  # before all that reads the body
    "accounts.middleware.note_unsent_forms",  # sees the redirects of all that follow to the log-in page
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",  # reads the form
    "django.contrib.auth.middleware.AuthenticationMiddleware",  # needs the session
    "django.contrib.messages.middleware.MessageMiddleware",  # needs the session
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",  # needs the user
    "accounts.middleware.time_zone",  # needs the user
    # These look at a request when its view is known, from the first to the last, and at an exception of the view, from
    # the last to the first.
    "nomercy.middleware.DatabaseUnavailable",
    "nomercy.log_in_required.LogInRequired",
    "accounts.middleware.RedirectSuspended",
    "accounts.reauthentication.SecurityPages",  # after `RedirectSuspended`: suspended guests are not asked to sign up
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [CHECKOUT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "games.web.context.waiting",
            ],
            "builtins": ["games.templatetags.direction", "games.templatetags.site"],
        },
    },
    {
        # What each move renders is in Jinja2, because it takes less time (docs/architecture.md, "The game page").
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [CHECKOUT / "templates" / "jinja2"],
        "OPTIONS": {"environment": "games.templatetags.jinja2.environment", "undefined": StrictUndefined},
    },
]
MESSAGE_STORAGE = "nomercy.messages.NewestInSession"

# Static files: from the sources, or hashed and compressed from STATIC_ROOT
STATIC_URL = "/static/"
STATICFILES_DIRS = [CHECKOUT / "static"]
STATIC_ROOT = environment.get("STATIC_ROOT", checks.FOLDER)
WHITENOISE_USE_FINDERS = STATIC_ROOT is None
WHITENOISE_MAX_AGE = None  # not for the files without a hash in their name
WHITENOISE_ADD_HEADERS_FUNCTION = let_browsers_check
STATIC_BACKEND = (
    "whitenoise.storage.CompressedManifestStaticFilesStorage"
    if STATIC_ROOT
    else "django.contrib.staticfiles.storage.StaticFilesStorage"
)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": STATIC_BACKEND},
}

# Forms
# The longest body that is parsed, in bytes: docs/decisions/0113-long-work-is-refused.md
DATA_UPLOAD_MAX_MEMORY_SIZE = 65_536
FILE_UPLOAD_HANDLERS = ["nomercy.uploads.NoFiles"]

# People
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "accounts.backends.ByUsername",
    "accounts.backends.ByAllauth",
]
PASSWORD_HASHERS = [
    "accounts.hashers.SmallArgon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False  # a guest is logged in, and signs up to keep the games
mail = environment.get("EMAIL_URL", checks.MAIL)
# The first is the default. With a mail server people are asked to confirm their address, because notices go only to
# confirmed ones.
verifications = ("optional", "none", "mandatory") if mail else ("none", "optional", "mandatory")
ACCOUNT_EMAIL_VERIFICATION = environment.choice("EMAIL_VERIFICATION", verifications)
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = [
    "username*",
    "email*" if ACCOUNT_EMAIL_VERIFICATION == "mandatory" else "email",
    "password1*",
    "password2*",
]
ACCOUNT_SIGNUP_FORM_CLASS = "accounts.forms.SignUpQuestions"
ACCOUNT_FORMS = {
    "login": "accounts.address_forms.LogInForm",
    "signup": "accounts.address_forms.SignUpForm",
    "add_email": "accounts.address_forms.AddAddressForm",
    "reset_password": "accounts.password_forms.RequestReset",
    "change_password": "accounts.password_forms.ChangePassword",
    "set_password": "accounts.password_forms.SetPassword",
    "reset_password_from_key": "accounts.password_forms.ResetPassword",
}
# allauth would count in the cache, which can be lost. common/limits.py has these limits.
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "accounts.reset_tokens.AnyAddress"  # noqa: S105  # a path
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
ACCOUNT_PREVENT_ENUMERATION = "strict"  # a confirmed address can be claimed by others, but not confirmed
ACCOUNT_USERNAME_VALIDATORS = "accounts.names.username_validators"
ACCOUNT_USERNAME_MIN_LENGTH = 2
ACCOUNT_PRESERVE_USERNAME_CASING = False
ACCOUNT_SESSION_REMEMBER = True
# No link in a mail logs in: docs/decisions/0072-every-way-to-log-in.md
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = ACCOUNT_LOGIN_ON_PASSWORD_RESET = False
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # an address that no account claims gets no mail
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_MAX_EMAIL_ADDRESSES = 5
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # for addresses; second factors always ask: accounts/reauthentication.py
SOCIALACCOUNT_ADAPTER = "accounts.openid.SocialAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"  # a passkey is two factors: the device, and what it asks its owner
MFA_ADAPTER = "accounts.second_factor.SecondFactorAdapter"
MFA_FORMS = {
    "activate_totp": "accounts.second_factor.SetUpAppForm",
    "authenticate": "accounts.second_factor.LogInByCodeForm",
    "reauthenticate": "accounts.second_factor.ConfirmByCodeForm",
    "add_webauthn": "accounts.passkeys.AddPasskeyForm",
    "authenticate_webauthn": "accounts.passkeys.LogInByFactorForm",
    "edit_webauthn": "accounts.passkeys.RenamePasskeyForm",
    "login_webauthn": "accounts.passkeys.LogInByPasskeyForm",
    "reauthenticate_webauthn": "accounts.passkeys.ConfirmByPasskeyForm",
}
MFA_TOTP_ISSUER = SITE_NAME
MFA_TOTP_TOLERANCE = 1  # also accept the codes of one step before and after (RFC 6238, 5.2)
MFA_ALLOW_UNVERIFIED_EMAIL = True  # or staff could not change an address; unconfirmed ones give no access
ACCOUNT_DEFAULT_HTTP_PROTOCOL = SITE.scheme

# Mail
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend" if mail else "nomercy.mail.FolderAndConsole"
EMAIL_FILE_PATH = CHECKOUT / "var" / "mail"
EMAIL_HOST = mail.get("EMAIL_HOST", "")
EMAIL_PORT = mail.get("EMAIL_PORT", 0)
EMAIL_HOST_USER = mail.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = mail.get("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = mail.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = mail.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 10
MAIL_NEEDS_VERIFIED = bool(mail)  # send only to confirmed addresses
DEFAULT_FROM_EMAIL = SERVER_EMAIL = environment.get("EMAIL_FROM", checks.SENDER) or formataddr(
    (SITE_NAME, f"no-reply@{SITE.hostname}")
)

# Security
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = environment.flag("HSTS_SUBDOMAINS")
SECURE_HSTS_PRELOAD = environment.flag("HSTS_PRELOAD")
refuse_if(
    (SECURE_HSTS_INCLUDE_SUBDOMAINS or SECURE_HSTS_PRELOAD) and not HTTPS,
    "HSTS_SUBDOMAINS and HSTS_PRELOAD need a SITE_URL that begins with https.",
)
# The lists of browsers take no host without its subdomains.
refuse_if(SECURE_HSTS_PRELOAD and not SECURE_HSTS_INCLUDE_SUBDOMAINS, "HSTS_PRELOAD needs HSTS_SUBDOMAINS=1.")
# `check --deploy` wants the first two. They also bind other sites under the same domain, so the operator decides. The
# others name Django's settings; without https, nomercy.apps warns once.
SILENCED_SYSTEM_CHECKS = [
    "security.W005",
    "security.W021",
    *([] if HTTPS else ["security.W004", "security.W008", "security.W010", "security.W016"]),
]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_ENGINE = "nomercy.sessions"
SESSION_SERIALIZER = "nomercy.sessions.BoundedSerializer"
SESSION_COOKIE_NAME = "__Host-session" if HTTPS else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if HTTPS else "csrf"
CSRF_FAILURE_VIEW = "games.web.idempotent_forms.refuse_outdated_form"
CSRF_COOKIE_HTTPONLY = True  # no script of the site reads it: forms have the token
SESSION_COOKIE_AGE = 60 * 60 * 24 * 60
HIGHEST_RATE_LIMITS = 1_000_000  # so that counts of tries fit into their column
RATE_LIMITS = environment.number("RATE_LIMITS", 100, highest=HIGHEST_RATE_LIMITS)  # per cent: common/limits.py
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "worker-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# Language, time, logs
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = "nomercy.formats"
LOG_FORMAT = environment.choice("LOG_FORMAT", ("console", "json"))
LOG_LEVEL = environment.choice("LOG_LEVEL", ("INFO", "DEBUG", "WARNING", "ERROR"))
# The servers' loggers get no handler of their own, so that their lines are like all others.
SERVER_LOGGER: dict[str, Any] = {"level": "WARNING", "handlers": [], "propagate": True}
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": "nomercy.logs.lines", "form": LOG_FORMAT}},
    "filters": {
        "outages": {"()": "nomercy.faults.OutageFilter"},
        "throttle": {"()": "nomercy.log_throttle.ThrottleFilter"},
    },
    "handlers": {
        "stderr": {
            "class": "nomercy.error_reports.ReportingHandler" if SENTRY_DSN else "logging.StreamHandler",
            "formatter": "lines",
            "filters": ["outages", "throttle"],
        }
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "nomercy": {"level": LOG_LEVEL},  # Celery's commands set the root to WARNING
        # Refusals are ordinary, and their messages repeat paths that may hold reset keys. Errors keep their traceback.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "ERROR"},
        "celery": {"level": "WARNING"},
        "celery.worker.control": {"level": "ERROR"},  # the embedded worker is stopped by remote control
        "kombu": {"level": "WARNING"},
        "asyncio": {"level": "WARNING"},
        "urllib3": {"level": "ERROR"},  # it logs each retry of an error report; nomercy.error_reports logs its failure
        "channels_redis.pubsub": {"level": "CRITICAL"},  # a traceback a second without Redis; the poller says so
        "uvicorn": SERVER_LOGGER,
        "uvicorn.error": SERVER_LOGGER,  # lower levels repeat addresses and paths
        "uvicorn.access": SERVER_LOGGER,
        "gunicorn.error": SERVER_LOGGER,
    },
}
