#!/bin/sh
# Prints settings for docker compose with fresh passwords, for the local devnet:
#   deploy/new-env.sh > .env && docker compose --profile dev up --build
# Keep the file. The volume of the database holds the same passwords.
set -eu
password() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
for name in POSTGRES STEWARD_API STEWARD_WORKER STEWARD_RELAYER STEWARD_SIGNER TEMPORAL_DB; do
  echo "${name}_PASSWORD=$(password)"
done
echo NETWORK=devnet
# RPC URLs of the devnet, from the examples in docker-compose.yml.
sed -n 's/^ *\(RPC_URL_[A-Z_]*\): .*such as \(http[^}]*\)}$/\1=\2/p' "$(dirname "$0")/../docker-compose.yml"
# Address of the service in browsers, and the number of proxies in front of it. Replace both behind a proxy with TLS.
echo "PUBLIC_URL=http://localhost:${API_PORT:-3000}"
echo TRUSTED_PROXIES=0
echo ATTESTATION_URL=http://devnet:8548
