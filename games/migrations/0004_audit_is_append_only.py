"""Let entries only be added to the audit log. A trigger refuses everything else, for every user of the database."""

from django.db import migrations

# TRUNCATE is what `manage.py flush` does: a test database allows it by a setting of its connection.
REFUSE = """
CREATE FUNCTION games_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' AND current_setting('nomercy.may_empty_audit', true) = 'on' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'audit entries are never changed or deleted' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON games_auditentry
    FOR EACH ROW EXECUTE FUNCTION games_audit_is_append_only();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON games_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION games_audit_is_append_only();
"""

ALLOW = """
DROP TRIGGER audit_is_not_emptied ON games_auditentry;
DROP TRIGGER audit_is_append_only ON games_auditentry;
DROP FUNCTION games_audit_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("games", "0003_moderation")]

    operations = [migrations.RunSQL(REFUSE, ALLOW)]
