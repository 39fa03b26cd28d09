#!/bin/sh
# Runs once, when the database server makes its data folder: Temporal keeps its own databases.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$TEMPORAL_DB_PASSWORD" \
  --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
create role temporal login createdb password :'password';
SQL
