#!/usr/bin/env bash
set -euo pipefail
# region quickstart
steward() {
  curl -sS --fail-with-body "$STEWARD_BASE_URL$1" "${@:2}" \
    -H "Authorization: Bearer $STEWARD_API_KEY" -H 'Content-Type: application/json'
}
field() { node -pe "JSON.parse(fs.readFileSync(0)).$1"; } # or: jq -r ".$1"

wallet=$(steward /wallets -d '{"userId":"alice"}' | field id)

funding=$(steward /demo/fund -d '{"walletId":"'"$wallet"'"}' | field id)
until [ "$(steward "/demo/fund/$funding" | field status)" = completed ]; do sleep 1; done

intent=$(steward /intents -d '{"walletId":"'"$wallet"'","action":"lend","amount":1}' | field id)
until steward "/intents/$intent?wait=10" | field status | grep -Eq 'completed|failed'; do sleep 1; done
steward "/intents/$intent"
# endregion quickstart
