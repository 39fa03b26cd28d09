import { toTemplate, type Endpoints } from './openapi.js'
import type { Chapter } from './pages/contents.js'
import type { Route } from '../http/route.js'

/** What the service is and how it is called, short and plain, for a language model. */
export function createLlmsText({ versioned, unversioned }: Endpoints, contents: Chapter[]): string {
  return `# Steward

> REST/JSON service: one multi-chain wallet per end user, balances, lending yields, and intents (lend,
> withdraw, bridge) that the service plans and executes asynchronously. Testnets.

The full description is at /openapi.json (OpenAPI 3.1), a page to try it at /docs/api, a Postman collection at
/postman.json.

## Documentation

${contents.flatMap(({ pages }) => pages.map(({ file, title, about }) => `- [${title}](/docs/${file})${about && `: ${about}`}`)).join('\n')}

## Calling it

- Send \`Authorization: Bearer svc_sk_…\` with every call. Keys belong on servers only.
- Bodies are JSON with \`Content-Type: application/json\`. Unknown fields are rejected.
- Send an \`Idempotency-Key\` with every POST; a repeat returns the stored response and costs nothing.
- Errors are \`{"error": CODE, "message": TEXT, "details": {"requestId": …, "docs": …}}\`; /docs/errors
  explains each code and the action to take. On 429 and 503 wait for \`Retry-After\` seconds. Only 2xx responses cost credits.
- Amounts are whole tokens: JSON numbers, or decimal text, which is never rounded.
- To follow an intent: \`waitForCompletion\` of the SDKs (TypeScript \`@steward/sdk\`, Python \`steward-sdk\`),
  webhooks, server-sent events at /v1/intents/{intentId}/events, or a poll
  every 5 to 10 seconds until its status is \`completed\` or \`failed\`.

## Endpoints

${[...lines(versioned, '/v1'), ...lines(unversioned, '')].join('\n')}

## Example

\`\`\`sh
curl -s $HOST/v1/wallets -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"userId":"alice","metadata":{}}'
curl -s $HOST/v1/demo/fund -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"walletId":"svc_wallet_…"}'
curl -s $HOST/v1/intents -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"walletId":"svc_wallet_…","action":"lend","amount":1}'
curl -s $HOST/v1/intents/intent_… -H "Authorization: Bearer $KEY"
\`\`\`
`
}

function lines(routes: readonly Route[], base: string): string[] {
  return routes.map(({ method, spec }) => {
    const { caller, docs, path } = spec
    const { credits } = caller
    const price = credits === 1 ? '1 credit' : `${credits} credits`
    return `- ${method.toUpperCase()} ${base}${toTemplate(path)}: ${docs.summary} (${price})`
  })
}
