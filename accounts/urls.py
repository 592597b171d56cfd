"""The tokens of the account page; the page itself is a door of the games, the rest of /accounts/ is allauth's."""

from django.urls import path

from accounts import views

urlpatterns = [
    path("me/tokens/", views.create_token, name="me-token-create"),
    path("me/tokens/<int:token_id>/revoke/", views.revoke_token, name="me-token-revoke"),
]
