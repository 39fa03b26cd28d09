#!/usr/bin/env node
import { exitCodes } from './exit.js'
import { run } from './program.js'
import { openIo } from './terminal/io.js'

/** Connections that are still open after this time are dropped. */
const GRACE_MS = 1_000

const stopping = new AbortController()
process.on('SIGINT', () => {
  // The second Ctrl-C exits at once.
  if (stopping.signal.aborted) process.exit(exitCodes.interrupted)
  stopping.abort()
})
process.on('SIGTERM', () => {
  stopping.abort()
})
for (const stream of [process.stdout, process.stderr]) {
  // The reader, such as `head`, has closed the pipe.
  stream.on('error', () => process.exit(process.exitCode ?? exitCodes.done))
}

process.exitCode = await run(openIo(stopping.signal), process.argv.slice(2))
setTimeout(() => process.exit(), GRACE_MS).unref()
