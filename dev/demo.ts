import { runDemo } from './demoRun.js'
import { openDevnet } from './state/openDevnet.js'
import { say, printFailure } from './terminal.js'

/** `npm run demo`: the demo of `npm start` against a running stack. Exits 0 only when the intent completed. */
async function main(): Promise<void> {
  const devnet = await openDevnet(process.env)
  say()
  await runDemo(devnet)
}

main().catch((error: unknown) => {
  process.exitCode = printFailure(error)
})
