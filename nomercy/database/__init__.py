"""Django's PostgreSQL backend, as this site keeps its connections."""
