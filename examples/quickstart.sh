#!/usr/bin/env bash
set -euo pipefail
# region quickstart
steward() {
  curl -sS --fail-with-body "$STEWARD_BASE_URL$1" "${@:2}" \
    -H "Authorization: Bearer $STEWARD_API_KEY" -H 'Content-Type: application/json'
}
id() { grep -o '"id":"[^"]*"' | head -1 | cut -d '"' -f 4; }

wallet=$(steward /wallets -d '{"userId":"alice"}' | id)

funding=$(steward /demo/fund -d '{"walletId":"'"$wallet"'"}' | id)
until steward "/demo/fund/$funding" | grep -q '"status":"completed"'; do sleep 1; done

intent=$(steward /intents -d '{"walletId":"'"$wallet"'","action":"lend","amount":1}' | id)
until steward "/intents/$intent?wait=10" | grep -q '"endedAt"'; do sleep 1; done
steward "/intents/$intent"
# endregion quickstart
