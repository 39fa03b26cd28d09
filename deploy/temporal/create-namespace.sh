#!/bin/sh
# Creates the namespace if it is missing. TEMPORAL_ADDRESS: address of the server. TEMPORAL_CLI: path of the command
# line, by default `temporal` on PATH.
set -eu
cli=${TEMPORAL_CLI:-temporal}
tries=30
until "$cli" operator cluster health >/dev/null 2>&1; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || { echo "Temporal does not answer at $TEMPORAL_ADDRESS"; exit 1; }
  sleep 2
done
"$cli" operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  "$cli" operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 30d
