import { runDemo } from './demoRun.js'
import { readJson } from './state/jsonFile.js'
import { type Facts } from './context.js'
import { openHome } from './state/state.js'
import { UserError, say, printFailure } from './terminal.js'

/** `npm run demo`: the demo of `npm start` against a running stack. Exits 0 only when the intent completed. */
async function main(): Promise<void> {
  const home = openHome(process.env)
  const facts = readJson<Facts>(home.facts)
  const answer = facts && (await fetch(`${facts.hostUrl}/readyz`).catch(() => undefined))
  if (!facts || !answer) throw new UserError('No stack is up. Start one first: npm start')
  say()
  await runDemo(facts, home.contracts)
}

main().catch((error: unknown) => {
  process.exitCode = printFailure(error)
})
