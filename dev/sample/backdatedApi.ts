import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import path from 'node:path'
import { findFreePorts } from '../ports.js'
import { apiEnv } from '../services.js'
import { compileServices } from '../stack/compile.js'
import { nodeFlags } from '../stack/parts.js'
import type { Context, Facts } from '../context.js'

const DAY_MS = 86_400_000

/** `setAge`: the ids that follow are so many days old. */
export type BackdatedApi = {
  baseUrl: string
  setAge(days: number): Promise<void>
  stop(): Promise<void>
}

/** Starts another API process of the stack, whose ids hold a time in the past. It ends with this process. */
export async function startBackdatedApi(context: Context, facts: Facts): Promise<BackdatedApi> {
  const [port = 0] = await findFreePorts(1)
  const folder = await compileServices()
  const preload = new URL('./backdatedIds.mjs', import.meta.url).href
  const log = fs.openSync(context.home.log('sample-api'), 'a', 0o600)
  const child = fork(path.join(folder, 'api/main.js'), {
    env: { ...process.env, ...apiEnv(context, facts, port) },
    execArgv: [...nodeFlags, '--import', preload],
    stdio: ['ignore', log, log, 'ipc'],
  })
  fs.closeSync(log)
  await untilMessage(child, 'ready')
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async setAge(days) {
      const aged = untilMessage(child, 'aged')
      child.send({ ageMs: days * DAY_MS })
      await aged
    },
    async stop() {
      const ended = once(child, 'exit')
      if (child.exitCode === null && child.kill()) await ended
    },
  }
}

function untilMessage(child: ChildProcess, type: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new Error(`The API of the sample data ended. See its log.`))
    child.once('exit', end)
    child.on('message', function listen(message: { type?: string }) {
      if (message.type !== type) return
      child.off('exit', end).off('message', listen)
      resolve()
    })
  })
}
