"""A squashed migration makes the same database as the migrations that it replaces."""

from __future__ import annotations

from typing import Final

import pytest
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.migrations.executor import MigrationExecutor

from tests.support.database import empty_database, executor_of_replaced

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.more]

PARTS: Final = {
    "columns": """
        SELECT table_name, column_name, udt_name, character_maximum_length, is_nullable, column_default, is_identity
        FROM information_schema.columns WHERE table_schema = 'public'""",
    # PostgreSQL 18 lists NOT NULL as a constraint, whose name keeps the former name of a column.
    "constraints": """
        SELECT conrelid::regclass::text, CASE contype WHEN 'n' THEN '' ELSE conname END, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace""",
    "indexes": "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
    # Of two indexes that would cost the same, PostgreSQL uses the one that was made first or last.
    "order of the indexes that have a name of their own": r"""
        SELECT t.relname, array_agg(i.relname ORDER BY i.oid)
        FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
        WHERE t.relnamespace = 'public'::regnamespace AND i.relname NOT LIKE t.relname || '\_%'
        GROUP BY t.relname""",
    "triggers": "SELECT pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE NOT tgisinternal",
    "functions": r"""
        SELECT proname, regexp_replace(prosrc, '\s+', ' ', 'g') FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace""",
    "sequences": "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'",
    "permissions": """
        SELECT p.codename, p.name, t.app_label, t.model, array_agg(g.name ORDER BY g.name)
        FROM auth_permission p JOIN django_content_type t ON t.id = p.content_type_id
        LEFT JOIN auth_group_permissions gp ON gp.permission_id = p.id LEFT JOIN auth_group g ON g.id = gp.group_id
        GROUP BY p.id, t.id""",
    "migrations": "SELECT app, name FROM django_migrations",
}


def parts() -> dict[str, list[str]]:
    found = {}
    with connection.cursor() as cursor:
        for name, statement in PARTS.items():
            cursor.execute(statement)
            found[name] = sorted(map(str, cursor.fetchall()))
    return found


def migrate_one_by_one() -> None:
    """Run the replaced migrations instead of those that replace them."""
    executor = executor_of_replaced()
    executor.migrate([node for node in executor.loader.graph.leaf_nodes() if node not in executor.loader.replacements])
    emit_post_migrate_signal(verbosity=0, interactive=False, db=DEFAULT_DB_ALIAS)


def test_a_new_database_is_the_same_by_squashed_and_by_replaced_migrations() -> None:
    with empty_database("squashed"):
        call_command("migrate", verbosity=0)
        new = parts()
    with empty_database("replaced"):
        migrate_one_by_one()
        assert parts() == new
        executor = MigrationExecutor(connection)
        assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == [], "it has nothing to migrate"
