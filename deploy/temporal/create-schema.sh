#!/bin/sh
# Creates or updates the databases of the Temporal server. SQL_* name the database server.
set -eu
update() {
  database=$1 schema=$2
  temporal-sql-tool --db "$database" create
  temporal-sql-tool --db "$database" setup-schema --version 0.0
  temporal-sql-tool --db "$database" update-schema \
    --schema-dir "/etc/temporal/schema/postgresql/v12/$schema/versioned"
}
update temporal temporal
update temporal_visibility visibility
