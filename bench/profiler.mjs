import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join } from 'node:path'
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads'

/**
 * Preloaded into each process of a stack that is to be profiled: SIGUSR2 begins the profiles of all its threads, a
 * second one ends them and writes them to `PROFILE_FOLDER`, by process and thread.
 */
const folder = process.env.PROFILE_FOLDER
const channel = new BroadcastChannel('profiler')
channel.unref()
let session

const toggle = () => {
  if (!session) {
    session = new Session()
    session.connect()
    session.post('Profiler.enable')
    session.post('Profiler.setSamplingInterval', { interval: 1_000 })
    session.post('Profiler.start')
    return
  }
  const ending = session
  session = undefined
  ending.post('Profiler.stop', (error, told) => {
    ending.disconnect()
    if (error) return
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, `${process.pid}.${threadId}.cpuprofile`),
      JSON.stringify(told.profile),
    )
  })
}

channel.onmessage = toggle
if (isMainThread) {
  process.on('SIGUSR2', () => {
    channel.postMessage('toggle')
    toggle()
  })
}
