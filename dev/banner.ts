import pc from 'picocolors'
import { viewQueries, viewUrl } from '../domain/events/views.js'
import { type Facts } from './context.js'
import { fact, say } from './terminal.js'

/** Prints the table of addresses and credentials of the stack, and three example commands. */
export function sayFacts(facts: Facts): void {
  say()
  say(fact('API base URL', pc.bold(facts.apiBaseUrl)))
  say(
    fact(
      'Temporal UI',
      pc.bold(facts.temporalUiUrl ?? `none; the server is ${facts.temporalAddress}`),
    ),
  )
  say(fact('API key', `${pc.bold(facts.apiKey)} ${pc.dim('demo account, plan pro')}`))
  say(fact('Dashboard', pc.bold(dashboardUrl(facts))))
  say()
  say(`  ${pc.dim('Try it:')}`)
  for (const line of describeCommands(facts)) say(`  ${line}`)
  say()
  if (facts.temporalUiUrl) sayViews(facts.temporalUiUrl, facts.temporalNamespace)
}

/** Links to common views of the Temporal UI for operators. */
function sayViews(uiUrl: string, namespace: string): void {
  say(`  ${pc.dim('Intents in the Temporal UI, for operators (docs/running/temporal.md):')}`)
  for (const [name, query] of Object.entries(viewQueries)) {
    say(`  ${name.padEnd(16)}${pc.dim(viewUrl(uiUrl, namespace, query))}`)
  }
  say()
}

/** The first user of the link chooses the password. Until then each start creates a new link. */
const dashboardUrl = ({ hostUrl, invitation }: Facts) =>
  `${hostUrl}/dashboard${invitation ? `/invitations/${invitation}` : ''}`

/** The commands can be pasted as printed. The first one stores the wallet id for the others. */
function describeCommands({ apiBaseUrl, apiKey }: Facts): string[] {
  const post = (path: string, body: string) =>
    `curl -s $API${path} -H "$AUTH" -H "$JSON" -d '${body}'`
  const wallet = post('/wallets', '{"userId":"alice"}')
  return [
    `API=${apiBaseUrl} JSON='Content-Type: application/json'`,
    `AUTH='Authorization: Bearer ${apiKey}'`,
    `WALLET=$(${wallet} | grep -o 'svc_wallet_[^"]*')`,
    post('/demo/fund', `{"walletId":"'$WALLET'"}`),
    post('/intents', `{"walletId":"'$WALLET'","action":"lend","amount":1}`),
  ]
}
