import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectTemporal, pingTemporal } from '../../../workflows/client/connect.js'
import { findTemporalCli } from '../../../dev/stack/temporalCli.js'
import { temporalFlags } from '../../../dev/stack/temporalServer.js'
import { findFreePorts } from '../../../dev/ports.js'
import { timed } from '../run/seconds.js'

export type TemporalServer = {
  address: string
  port: number
  stop(): Promise<void>
}

/** Other programs may take a free port before the server does. */
const ATTEMPTS = 3

/**
 * A Temporal dev server with the settings of the devnet's. Unlike the time-skipping server it supports lists and
 * schedules. It keeps no state, and ends with this process at the latest.
 *
 * @param namespaces - In addition to `default`.
 */
export function startTemporalServer(
  port?: number,
  namespaces: string[] = [],
): Promise<TemporalServer> {
  return timed('temporal', () => start(port, namespaces))
}

async function start(port: number | undefined, namespaces: string[]): Promise<TemporalServer> {
  const { file } = await findTemporalCli()
  for (let attempt = 1; ; attempt++) {
    const ports = await findFreePorts(2)
    const chosen = port === undefined ? ports : [port, ...ports.slice(1)]
    const server = await tryToStart(file, chosen, namespaces)
    if (server) return server
    if (attempt === ATTEMPTS) throw new Error('The Temporal server does not start.')
  }
}

async function tryToStart(
  file: string,
  ports: number[],
  namespaces: string[],
): Promise<TemporalServer | undefined> {
  const [port = 0, http] = ports
  const address = `127.0.0.1:${port}`
  const flags = `--headless --ip 127.0.0.1 --port ${port} --http-port ${http}`
  const named = namespaces.flatMap((namespace) => ['--namespace', namespace])
  const args = ['server', 'start-dev', ...flags.split(' '), ...named, ...temporalFlags]
  const child = spawn(file, args, { stdio: 'ignore' })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const exited = once(child, 'exit')
  const stop = async () => {
    kill()
    await exited
    process.removeListener('exit', kill)
  }
  const client = connectTemporal(address, 'default')
  try {
    while (child.exitCode === null) {
      const isThere = pingTemporal(client).then(
        () => true,
        () => false,
      )
      if (await isThere) return { address, port, stop }
      await sleep(50)
    }
  } finally {
    await client.connection.close()
  }
  process.removeListener('exit', kill)
  return undefined
}
