import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Connection } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { timed } from '../support/run/seconds.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The contents of `.steward/dev.json`. */
export type StackFacts = {
  apiBaseUrl: string
  hostUrl: string
  /** Addresses of all API processes. */
  apiBaseUrls: string[]
  apiKey: string
  temporalAddress: string
  temporalNamespace: string
  temporalCluster: { databaseUrl: string; metricsUrl: string } | null
  databaseUrl: string
  rpcUrls: Record<string, string>
  attestationUrl: string
  pids: Record<'api' | 'worker' | 'relayer' | 'signer' | 'temporal' | 'postgres', number>
}

export type Stack = {
  facts: StackFacts
  home: string
  /** Current facts. Process ids change when a part restarts. */
  readFacts(): StackFacts
  stop(): Promise<void>
  output(): string
}

/** A state folder that every account of this machine can enter. */
export async function createHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'steward e2e '))
  await chmod(home, 0o755)
  return home
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true, maxRetries: 3 })
}

const anyPort = Object.fromEntries(
  [
    'API_PORT',
    'TEMPORAL_PORT',
    'TEMPORAL_UI_PORT',
    'ANVIL_PORT_ETHEREUM_SEPOLIA',
    'ANVIL_PORT_ARBITRUM_SEPOLIA',
    'ANVIL_PORT_BASE_SEPOLIA',
    'IRIS_PORT',
  ].map((name) => [name, '0']),
)

/**
 * Starts a stack like `npm start -- --no-demo`, with its state in `home` and on free ports. If `TEMPORAL_ADDRESS`
 * names a server, the stack gets its own namespace there, the same one for the same `home`.
 *
 * @param env - Additional environment variables.
 * @param args - Additional arguments of `npm start`.
 */
export function startStack(
  home: string,
  env: NodeJS.ProcessEnv = {},
  args: string[] = [],
): Promise<Stack> {
  return timed('stack', () => start(home, env, args))
}

async function start(home: string, env: NodeJS.ProcessEnv, args: string[]): Promise<Stack> {
  const shared = env.TEMPORAL_ADDRESS ? undefined : process.env.TEMPORAL_ADDRESS
  const namespace = shared && (await openNamespace(shared, home))
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', join(root, 'dev', 'start.mjs'), '--no-demo', ...args],
    {
      cwd: root,
      env: {
        ...process.env,
        ...anyPort,
        ...env,
        ...(namespace && { TEMPORAL_NAMESPACE: namespace }),
        STEWARD_HOME: home,
        NODE_OPTIONS: env.NODE_OPTIONS ?? '',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const file = join(home, 'dev.json')
  const readFacts = () => JSON.parse(readFileSync(file, 'utf8')) as StackFacts
  while (!printed.includes('Serving.') && child.exitCode === null) await sleep(50)
  if (!existsSync(file)) throw new Error(`The stack did not start:\n${printed}`)
  return {
    facts: readFacts(),
    home,
    readFacts,
    output: () => printed,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Tests need no longer retention. */
const RETENTION_MS = 86_400_000

/** A namespace of its own, because all stacks use the same task queues. */
async function openNamespace(address: string, home: string): Promise<string> {
  const namespace = basename(home).replaceAll(/\W/g, '-')
  const connection = await Connection.connect({ address })
  const { workflowService } = connection
  try {
    const workflowExecutionRetentionPeriod = msToTs(RETENTION_MS)
    await workflowService
      .registerNamespace({ namespace, workflowExecutionRetentionPeriod })
      .catch(async () => workflowService.describeNamespace({ namespace }))
    // The frontend knows the namespace a moment later.
    await until(
      () => workflowService.countWorkflowExecutions({ namespace }).catch(() => undefined),
      (answer) => answer !== undefined,
    )
    return namespace
  } finally {
    await connection.close()
  }
}

/** Calls the API with the demo account's key. */
export function createClient({ apiBaseUrl, apiKey }: StackFacts) {
  return async (method: 'GET' | 'POST', path: string, body?: unknown) => {
    const response = await fetch(apiBaseUrl + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
}

/** Polls until the response passes. The time limit of the test bounds it. */
export async function until<T>(ask: () => Promise<T>, passes: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (passes(answer)) return answer
    await sleep(50)
  }
}
