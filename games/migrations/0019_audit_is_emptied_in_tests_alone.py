"""Let the audit log be emptied only in a database whose name is that of a test database."""

from django.db import migrations

FUNCTION = """
CREATE OR REPLACE FUNCTION games_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' AND {where} current_setting('nomercy.may_empty_audit', true) = 'on' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'audit entries are never changed or deleted' USING ERRCODE = 'insufficient_privilege';
END
$$;
"""
IN_TESTS_ALONE = FUNCTION.format(where="current_database() LIKE 'test\\_%' AND")
ANYWHERE = FUNCTION.format(where="")


class Migration(migrations.Migration):
    dependencies = [("games", "0018_rested_until")]

    operations = [migrations.RunSQL(IN_TESTS_ALONE, ANYWHERE)]
