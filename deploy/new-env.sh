#!/bin/sh
# Prints settings for docker compose with fresh passwords, for the local devnet:
#   deploy/new-env.sh > .env && docker compose --profile dev up --build
# Keep the file: the passwords are in the database's volume too.
set -eu
password() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
for name in POSTGRES STEWARD_API STEWARD_WORKER STEWARD_LANES STEWARD_SIGNER TEMPORAL_DB; do
  echo "${name}_PASSWORD=$(password)"
done
cat <<'SETTINGS'
NETWORK=devnet
RPC_URL_ETHEREUM_SEPOLIA=http://devnet:8545
RPC_URL_ARBITRUM_SEPOLIA=http://devnet:8546
RPC_URL_BASE_SEPOLIA=http://devnet:8547
ATTESTATION_URL=http://devnet:8548
SETTINGS
