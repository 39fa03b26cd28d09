import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { findFreePorts, findLowPorts, isListening } from '../ports.js'
import { rootFolder, type Home } from '../state/state.js'
import { UserError } from '../terminal.js'
import { startChild } from './child.js'
import { createPostgresPart, type PostgresPart } from './parts.js'
import { type Part } from './supervise.js'
import { type TemporalCli } from './temporalCli.js'
import { type TemporalPrograms } from './temporalPrograms.js'

const run = promisify(execFile)

type ClusterOptions = {
  programs: TemporalPrograms
  cli: TemporalCli
  home: Home
  /** Port of the server. */
  port: number
  namespace: string
}

/** A cluster in one process, like the official image. Its roles start in this order. */
export type TemporalCluster = {
  database: PostgresPart
  server: Part
  /** Prometheus endpoint of the server. */
  metricsUrl: string
}

/** The settings of the deployment, so that this cluster behaves like the one of docker-compose.yml. */
const deployFile = (name: string) => path.join(rootFolder, 'deploy/temporal', name)

const STOP_MS = 8_000

/**
 * Ports of the server's roles, besides the address that clients use. Membership ports are stored as smallint.
 * @see https://github.com/temporalio/temporal/blob/main/schema/postgresql/v12/temporal/schema.sql: cluster_membership
 */
const portVariables = [
  'FRONTEND_HTTP_PORT',
  ...['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'].map((role) => `${role}_MEMBERSHIP_PORT`),
  ...['HISTORY', 'MATCHING', 'WORKER'].map((role) => `${role}_GRPC_PORT`),
]

/** A Temporal server with its own Postgres, and with the schema, settings and namespace of `deploy/temporal`. */
export async function createTemporalCluster(options: ClusterOptions): Promise<TemporalCluster> {
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

/** A server exits at once when it has no database. If both were killed, its restart waits for the database. */
async function waitForDatabase(url: string): Promise<void> {
  const deadline = Date.now() + DATABASE_TIMEOUT_MS
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
    try {
      await client.connect()
      return await client.end()
    } catch (cause) {
      if (Date.now() > deadline) {
        throw new UserError('The database of Temporal does not answer', { cause })
      }
      await sleep(50)
    }
  }
}

/** The supervisor's longest delay between two restarts. */
const DATABASE_TIMEOUT_MS = 5_000

/** Like `deploy/postgres`. The role's password is new for each start and known only to the server. */
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

/** The schema tool logs each statement. */
const MAX_OUTPUT = 16_000_000

/** The frontend knows a new namespace a moment after its creation. */
async function isReady({ cli, port, namespace }: ClusterOptions): Promise<boolean> {
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
