#!/bin/sh
# Creates or updates the databases of the Temporal server. SQL_*: connection of the database server.
set -eu
update() {
  database=$1 schema=$2
  temporal-sql-tool --db "$database" create
  temporal-sql-tool --db "$database" setup-schema --version 0.0
  # The versions of the schema are within the program.
  temporal-sql-tool --db "$database" update-schema --schema-name "postgresql/v12/$schema"
}
update temporal temporal
update temporal_visibility visibility
