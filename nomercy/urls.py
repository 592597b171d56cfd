"""All URLs of the site."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path

from games.api import addresses, unknown
from nomercy.health import healthz, readyz
from nomercy.metrics_page import metrics

handler400 = "nomercy.middleware.bad_request"
handler500 = "nomercy.middleware.server_error_page"
urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("", include("games.web.urls")),  # before allauth's, because one of these pages replaces one of allauth
    path("accounts/", include("accounts.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("api/v1/", addresses()),
    re_path(r"^api(?:/|$)", unknown),
]
