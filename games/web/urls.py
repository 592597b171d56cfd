"""Addresses of the pages."""

from django.urls import URLPattern, path, re_path

from games.web import devices as device_views
from games.web import game as game_views
from games.web import guests as guest_views
from games.web import home as home_views
from games.web import hook as hook_views
from games.web import installed_app as app_views
from games.web import invite as invite_views
from games.web import log as log_views
from games.web import my_data as my_data_views
from games.web import notices as notice_views
from games.web import pages as page_views
from games.web import profile as profile_views
from games.web import programs as program_views
from games.web import replay as replay_views
from games.web import reports as report_views
from games.web import seats as seat_views
from games.web import sessions as session_views
from games.web import table as table_views
from games.web import time_off as time_off_views

urlpatterns: list[URLPattern] = [
    path("", home_views.home, name="home"),
    # The pages of a game come first, because Django tries one pattern after another for each request.
    path("games/<slug:code>/", game_views.game, name="game"),
    path("games/<slug:code>/move/", game_views.move, name="move"),
    path("games/<slug:code>/tip/", game_views.tip, name="tip"),
    path("games/<slug:code>/cards/", game_views.cards, name="cards"),
    path("games/<slug:code>/seen/", game_views.mark_end_seen, name="seen"),
    path("games/<slug:code>/log/", log_views.log, name="log"),
    path("games/<slug:code>/report/", report_views.report, name="report"),
    path("games/<slug:code>/replay/", replay_views.replay, name="replay"),
    path("games/<slug:code>/record/", game_views.record, name="record"),
    path("games/<slug:code>/join/", seat_views.join, name="join"),
    path("games/<slug:code>/leave/", seat_views.leave, name="leave"),
    path("games/<slug:code>/resign/", seat_views.resign, name="resign"),
    path("games/<slug:code>/start/", seat_views.start, name="start"),
    path("games/<slug:code>/add-bot/", seat_views.add_bot, name="add-bot"),
    path("games/<slug:code>/pause/", seat_views.pause, name="pause"),
    path("games/<slug:code>/go-on/", seat_views.resume, name="go-on"),
    path("games/<slug:code>/take-back/", seat_views.take_seat_back, name="take-back"),
    path("games/<slug:code>/orders/", seat_views.orders, name="orders"),
    path("games/<slug:code>/orders/stop/", seat_views.stop_orders, name="stop-orders"),
    path("games/<slug:code>/rematch/", seat_views.rematch, name="rematch"),
    path("about/", page_views.about, name="about"),
    path("privacy/", page_views.privacy, name="privacy"),
    path(".well-known/security.txt", page_views.security_txt, name="security-txt"),
    path("robots.txt", page_views.robots_txt, name="robots-txt"),
    path("favicon.ico", page_views.favicon, name="favicon"),
    path("manifest.webmanifest", app_views.manifest, name="manifest"),
    path("service-worker.js", app_views.service_worker, name="service-worker"),
    path("offline/", app_views.offline, name="offline"),
    path("rules/", page_views.rulebook, name="rules"),
    path("notation/", page_views.notation, name="notation"),
    path("play-now/", home_views.play_now, name="play-now"),
    path("next/", home_views.next_game, name="next-game"),
    path("accounts/logout/", guest_views.LogOut.as_view(), name="account_logout"),
    path("accounts/me/", time_off_views.me, name="me"),
    path("accounts/me/data/", my_data_views.data, name="my-data"),
    path("accounts/me/data/download/", my_data_views.download, name="my-data-download"),
    path("accounts/me/delete/", my_data_views.delete_account, name="delete-account"),
    path("accounts/me/keep/", my_data_views.keep_account, name="keep-account"),
    path("accounts/me/program/", program_views.program, name="program"),
    path("accounts/me/rest/", time_off_views.time_off, name="time-off"),
    path("accounts/me/rest/vacation/", time_off_views.begin_vacation, name="vacation"),
    path("accounts/me/rest/vacation/end/", time_off_views.end_vacation, name="vacation-end"),
    path("accounts/me/sessions/", session_views.sessions, name="sessions"),
    path("move-seats/", guest_views.move_seats, name="move-seats"),
    path("people/<str:username>/", profile_views.profile, name="person"),
    path("people/<str:username>/report/", profile_views.report_person, name="report-person"),
    path("suspended/", report_views.suspended, name="suspended"),
    path("reports/", report_views.reports, name="reports"),
    path("warnings/", report_views.warnings, name="warnings"),
    path("notices/", notice_views.notices, name="notices"),
    path("notices/read/", notice_views.read_all, name="notices-read"),
    path("notices/<int:number>/open/", notice_views.open_one, name="notice-open"),
    path("notices/settings/", notice_views.settings, name="notice-settings"),
    path("notices/devices/", device_views.add, name="device-add"),
    path("notices/devices/decline/", device_views.decline, name="device-decline"),
    path("notices/devices/<int:number>/", device_views.choose, name="device-choose"),
    path("notices/devices/<int:number>/remove/", device_views.remove, name="device-remove"),
    path("notices/devices/<int:number>/test/", device_views.test, name="device-test"),
    path("notices/settings/hook/", hook_views.hook, name="hook"),
    path("notices/settings/hook/again/", hook_views.try_again, name="hook-again"),
    path("notices/settings/hook/remove/", hook_views.remove, name="hook-remove"),
    path("notices/settings/hook/secret/", hook_views.renew_secret, name="hook-secret"),
    path("notices/settings/hook/test/", hook_views.test, name="hook-test"),
    path("notices/settings/works/", notice_views.ask_whether_it_works, name="notice-ask-works"),
    path("mail/open/<str:token>/", notice_views.mail_open, name="mail-open"),
    path("mail/stop/<str:token>/", notice_views.mail_stop, name="mail-stop"),
    path("mail/works/<str:token>/", notice_views.mail_works, name="mail-works"),
    path("invitations/<int:number>/decline/", seat_views.decline, name="decline"),
    path("tables/new/", table_views.new_table, name="new-table"),
    path("join/<slug:key>/", invite_views.invite, name="invite"),
    path("join/<slug:key>/rules/", invite_views.rules, name="invite-rules"),
    # A link that was copied with a full stop, a bracket or an invisible character after it.
    re_path(
        r"^(?P<link>(?:join|accounts/invitation)/[-\w]+)(?P<tail>/?[^-\w/]+/?)$",
        invite_views.without_tail,
        name="invitation-without-tail",
    ),
]
