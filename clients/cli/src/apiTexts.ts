/** The command of an endpoint. `*` stands for an id. */
const commands: Record<string, string> = {
  'POST /wallets': 'wallets create <userId>',
  'GET /wallets': 'wallets list',
  'GET /wallets/*': 'wallets get <userId>',
  'GET /balances/*': 'balances <wallet>',
  'GET /positions/*': 'positions <wallet>',
  'GET /yields': 'yields',
  'GET /yields/history': 'yields --history',
  'POST /intents': 'intents lend <wallet> <amount>',
  'GET /intents': 'intents list',
  'GET /intents/*': 'intents get <intentId>',
  'POST /intents/*/cancel': 'intents cancel <intentId>',
  'POST /intents/*/retry': 'intents retry <intentId>',
  'GET /intents/*/events': 'intents watch <intentId>',
  'GET /events': 'events tail',
  'POST /webhooks': 'webhooks create <url>',
  'GET /webhooks': 'webhooks list',
  'GET /webhooks/*': 'webhooks get <webhookId>',
  'POST /webhooks/*': 'webhooks update <webhookId>',
  'POST /webhooks/*/delete': 'webhooks delete <webhookId>',
  'POST /webhooks/*/rotate-secret': 'webhooks rotate-secret <webhookId>',
  'POST /webhooks/*/test': 'webhooks test <webhookId>',
  'GET /webhooks/*/deliveries': 'webhooks deliveries <webhookId>',
  'POST /webhooks/*/deliveries/*/resend': 'webhooks resend <webhookId> <deliveryId>',
  'POST /demo/fund': 'fund <wallet>',
  'GET /dashboard/credits': 'credits',
}

const endpoints = /`?\b(GET|POST) (\/[\w\-/:{}]*)(?:\?[\w=&]*)?`?/g
const docs = /(?<![\w/])\/docs\b[\w/#-]*/g

/**
 * A text of the API in terms of this program: endpoints become commands, paths become URLs.
 *
 * @param host - Address of the service, without `/v1`.
 */
export function inCommands(text: string, host: string): string {
  return text
    .replace(endpoints, (_whole, method: string, path: string) => {
      const command = commands[`${method} ${patternOf(path)}`]
      return command ? `\`steward ${command}\`` : `${method} ${host}${path}`
    })
    .replace(docs, (path) => `${host}${path}`)
    .replace(/`?\bIdempotency-Key\b`?/g, '--idempotency-key')
}

/** `/wallets/*` for `/v1/wallets/:userId` and `/wallets/{userId}`. */
const patternOf = (path: string) =>
  path.replace(/^\/v1\b/, '').replace(/\/(:\w+|\{\w+\}|\w+_\w+)(?=\/|$)/g, '/*')
