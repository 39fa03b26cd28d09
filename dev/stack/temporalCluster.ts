import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { findFreePorts, findLowPorts, isListening } from '../ports.js'
import { rootFolder, type Home } from '../state/state.js'
import { Explained } from '../terminal.js'
import { startChild } from './child.js'
import { createPostgresPart, type PostgresPart } from './parts.js'
import { type Part } from './supervise.js'
import { type TemporalCli } from './temporalCli.js'
import { type TemporalPrograms } from './temporalPrograms.js'

const run = promisify(execFile)

type Options = {
  programs: TemporalPrograms
  cli: TemporalCli
  home: Home
  /** Where the server answers. */
  port: number
  namespace: string
}

/** A cluster in one process, as the image runs it; its parts are started in this order. */
export type TemporalCluster = {
  database: PostgresPart
  server: Part
  /** Where the server shows its counters to Prometheus. */
  metricsUrl: string
}

/** The deployment's own: what is true of this cluster is true of one that is made by docker-compose.yml. */
const deployFile = (name: string) => path.join(rootFolder, 'deploy/temporal', name)

const STOP_MS = 8_000

/**
 * What listens beside the address that clients know: each role of the server by itself. Ports of membership are
 * kept as smallint.
 * @see https://github.com/temporalio/temporal/blob/main/schema/postgresql/v12/temporal/schema.sql: cluster_membership
 */
const portVariables = [
  'FRONTEND_HTTP_PORT',
  ...['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'].map((role) => `${role}_MEMBERSHIP_PORT`),
  ...['HISTORY', 'MATCHING', 'WORKER'].map((role) => `${role}_GRPC_PORT`),
]

/** The server of Temporal on a Postgres of its own, with schema, settings and namespace of `deploy/temporal`. */
export async function createTemporalCluster(options: Options): Promise<TemporalCluster> {
  const { programs, home, port } = options
  const [databasePort = 0, metricsPort = 0] = await findFreePorts(2)
  const others = await findLowPorts(portVariables.length)
  const password = randomBytes(24).toString('hex')
  const database = createPostgresPart({
    name: 'temporal-postgres',
    dir: home.temporalPostgres,
    port: databasePort,
    async prepare(url) {
      await createRole(url, password)
      await createSchema(programs, databasePort, password)
    },
  })
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    LOG_LEVEL: 'warn',
    ...readEnvFile(deployFile('server.env')),
    POSTGRES_SEEDS: '127.0.0.1',
    DB_PORT: String(databasePort),
    POSTGRES_USER: 'temporal',
    POSTGRES_PWD: password,
    BIND_ON_IP: '127.0.0.1',
    FRONTEND_GRPC_PORT: String(port),
    ...Object.fromEntries(portVariables.map((name, i) => [name, String(others[i])])),
    PROMETHEUS_ENDPOINT: `127.0.0.1:${metricsPort}`,
    DYNAMIC_CONFIG_FILE_PATH: deployFile('dynamicconfig.yaml'),
  }
  const server: Part = {
    name: 'temporal',
    async start(hooks) {
      await waitForDatabase(database.url())
      const spec = {
        name: 'temporal',
        command: programs.server,
        args: ['--allow-no-auth', 'start'],
        env,
        logFile: home.log('temporal'),
        ready: () => isReady(options),
        stopTimeoutMs: STOP_MS,
      }
      return startChild(spec, hooks)
    },
  }
  return { database, server, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` }
}

/** A server that finds no database ends at once. One that was killed with it is to wait until it is back. */
async function waitForDatabase(url: string): Promise<void> {
  const deadline = Date.now() + DATABASE_TIMEOUT_MS
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
    try {
      await client.connect()
      return await client.end()
    } catch (cause) {
      if (Date.now() > deadline) {
        throw new Explained('The database of Temporal does not answer', { cause })
      }
      await sleep(50)
    }
  }
}

/** As long as the supervisor waits at most between two tries. */
const DATABASE_TIMEOUT_MS = 5_000

/** As `deploy/postgres` does it. The role's password is new at each start, and known to nobody but the server. */
async function createRole(url: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rowCount } = await client.query(`select from pg_roles where rolname = 'temporal'`)
    if (!rowCount) await client.query('create role temporal login createdb')
    await client.query(`alter role temporal password ${client.escapeLiteral(password)}`)
  } finally {
    await client.end()
  }
}

async function createSchema(
  { folder }: TemporalPrograms,
  port: number,
  password: string,
): Promise<void> {
  await run('sh', [deployFile('create-schema.sh')], {
    env: {
      PATH: `${folder}${path.delimiter}${process.env.PATH}`,
      SQL_PLUGIN: 'postgres12',
      SQL_HOST: '127.0.0.1',
      SQL_PORT: String(port),
      SQL_USER: 'temporal',
      SQL_PASSWORD: password,
    },
    maxBuffer: MAX_OUTPUT,
  })
}

/** The schema tool tells each statement. */
const MAX_OUTPUT = 16_000_000

/** A namespace that was just made is known to the frontend a moment later. */
async function isReady({ cli, port, namespace }: Options): Promise<boolean> {
  if (!(await isListening('127.0.0.1', port))) return false
  const env = {
    PATH: process.env.PATH,
    TEMPORAL_CLI: cli.file,
    HOME: process.env.HOME,
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    TEMPORAL_NAMESPACE: namespace,
  }
  await run('sh', [deployFile('create-namespace.sh')], { env })
  await run(cli.file, ['workflow', 'count'], { env })
  return true
}

/** Reads `NAME=value` lines, as Docker Compose does. */
function readEnvFile(file: string): Record<string, string> {
  const lines = fs.readFileSync(file, 'utf8').split('\n')
  const entries = lines.flatMap((line) => {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    return name ? [[name, value ?? ''] as const] : []
  })
  return Object.fromEntries(entries)
}
