#!/usr/bin/env node
import { exitCodes } from './exit.js'
import { run } from './program.js'
import { openIo } from './terminal/io.js'

/** Whatever is still open then is not waited for. */
const GRACE_MS = 1_000

const stopping = new AbortController()
process.on('SIGINT', () => {
  // Whoever presses it again does not want to wait.
  if (stopping.signal.aborted) process.exit(exitCodes.interrupted)
  stopping.abort()
})
process.on('SIGTERM', () => {
  stopping.abort()
})
for (const stream of [process.stdout, process.stderr]) {
  // Whoever read has seen enough, as `head` has.
  stream.on('error', () => process.exit(process.exitCode ?? exitCodes.done))
}

process.exitCode = await run(openIo(stopping.signal), process.argv.slice(2))
setTimeout(() => process.exit(), GRACE_MS).unref()
