#!/bin/sh
# Creates the role of Temporal, which has its own databases and cannot connect to that of Steward. Runs once, when the database server creates its data folder.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$TEMPORAL_DB_PASSWORD" -v database="$POSTGRES_DB" \
  --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
revoke connect on database :"database" from public;
create role temporal login createdb password :'password';
SQL
