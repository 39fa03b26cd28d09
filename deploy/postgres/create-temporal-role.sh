#!/bin/sh
# Creates the role of Temporal, which has its own databases. Runs once, when the database server creates its data folder.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$TEMPORAL_DB_PASSWORD" \
  --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
create role temporal login createdb password :'password';
SQL
