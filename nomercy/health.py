"""`/healthz`: whether this process can serve."""

from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

import nomercy

_known_to_be_migrated: list[bool] = []


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers and every migration is applied, else 503; the version either way."""
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT 1")
        status = "ok" if migrated() else "migrations missing"
    except Error:
        status = "database unavailable"
    return JsonResponse({"status": status, "version": nomercy.__version__}, status=200 if status == "ok" else 503)


def migrated() -> bool:
    """Whether the database has every migration of this release. A yes stays true and is remembered: asking is slow."""
    if not _known_to_be_migrated:
        executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return False
        _known_to_be_migrated.append(True)
    return True
