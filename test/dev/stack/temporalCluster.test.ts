import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { createTemporalCluster } from '../../../dev/stack/temporalCluster.js'
import { findFreePorts } from '../../../dev/ports.js'
import { makeFolders, openHome, rootFolder, type Home } from '../../../dev/state/state.js'
import type { Running } from '../../../dev/stack/supervise.js'

/** A fake server that records its environment and listens on its ports. */
const fakeServer = (environment: string) => `#!${process.execPath}
require('node:fs').writeFileSync(${JSON.stringify(environment)}, JSON.stringify(process.env))
require('node:net').createServer().listen(Number(process.env.FRONTEND_GRPC_PORT), process.env.BIND_ON_IP)
`
/** Fakes of the schema tool and of the CLI that record their arguments. */
const fakeTool = (log: string) => `#!/bin/sh
echo "$(basename "$0") $SQL_HOST$TEMPORAL_ADDRESS $*" >> "${log}"
`

let home: Home
let running: Running[] = []

function openFolder(): void {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'steward-cluster-'))
  fs.chmodSync(folder, 0o755)
  home = openHome({ STEWARD_HOME: folder })
  makeFolders(home)
}

async function closeFolder(): Promise<void> {
  for (const part of running.reverse()) await part.stop()
  running = []
  fs.rmSync(home.folder, { recursive: true, force: true })
}

const hooks = { onSpawn: () => undefined, onExit: () => undefined }
const at = (name: string) => path.join(home.folder, name)
const readLines = (file: string) => fs.readFileSync(at(file), 'utf8').trim().split('\n')
const readRoot = (name: string) => fs.readFileSync(path.join(rootFolder, name), 'utf8')

async function startCluster() {
  fs.mkdirSync(at('programs'))
  const write = (name: string, text: string) =>
    fs.writeFileSync(at(`programs/${name}`), text, { mode: 0o755 })
  write('temporal-server', fakeServer(at('environment.json')))
  for (const name of ['temporal-sql-tool', 'temporal']) write(name, fakeTool(at('calls')))
  const [port = 0] = await findFreePorts(1)
  const cluster = await createTemporalCluster({
    programs: { folder: at('programs'), server: at('programs/temporal-server') },
    cli: { file: at('programs/temporal'), source: 'a test' },
    home,
    port,
    namespace: 'money',
  })
  running.push(await cluster.database.start(hooks))
  running.push(await cluster.server.start(hooks))
  const environment = JSON.parse(fs.readFileSync(at('environment.json'), 'utf8')) as Record<
    string,
    string
  >
  return { database: cluster.database, port, environment }
}

/** The server's environment in docker-compose.yml and the file that it names. */
function readDeployed() {
  const [, service = ''] =
    /^ {2}temporal:\n((?: {4}.*\n)+)/m.exec(readRoot('docker-compose.yml')) ?? []
  const [, file = ''] = /env_file: (\S+)/.exec(service) ?? []
  const own = [...service.matchAll(/^ {6}([A-Z_]+): /gm)].map(([, name]) => name)
  return { own, file: readRoot(file).match(/^\w+=.*$/gm) ?? [] }
}

describe('a cluster', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>

  beforeAll(async () => {
    openFolder()
    cluster = await startCluster()
  })
  afterAll(closeFolder)

  test('the server has the settings of the deployment, whose scripts create schema and namespace', () => {
    const { environment, port } = cluster
    const { own, file } = readDeployed()
    expect(file).toContain('NUM_HISTORY_SHARDS=512')
    expect(Object.entries(environment).map(([name, value]) => `${name}=${value}`)).toEqual(
      expect.arrayContaining(file),
    )
    expect(own).toContain('DYNAMIC_CONFIG_FILE_PATH')
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(own))
    expect(environment.DYNAMIC_CONFIG_FILE_PATH).toBe(
      path.join(rootFolder, 'deploy/temporal/dynamicconfig.yaml'),
    )
    const calls = readLines('calls')
    expect(calls).toContain(
      'temporal-sql-tool 127.0.0.1 --db temporal update-schema --schema-name postgresql/v12/temporal',
    )
    expect(calls).toContain(
      `temporal 127.0.0.1:${port} operator namespace describe --namespace money`,
    )
  })

  test('it listens on this machine only, and its membership ports fit into a smallint', () => {
    const { environment, port } = cluster
    const ports = Object.entries(environment).filter(([name]) =>
      /_(GRPC|HTTP|MEMBERSHIP)_PORT$/.test(name),
    )
    expect(environment.BIND_ON_IP).toBe('127.0.0.1')
    expect(environment.FRONTEND_GRPC_PORT).toBe(String(port))
    expect(ports).toHaveLength(9)
    expect(new Set(ports.map(([, value]) => value)).size).toBe(9)
    const members = ports.filter(([name]) => name.includes('MEMBERSHIP'))
    expect(members.filter(([, value]) => Number(value) > 32_767)).toEqual([])
  })

  test('the role of the server owns only its databases, and keeps its password when Postgres restarts', async () => {
    const { environment } = cluster
    const connect = async () => {
      const { POSTGRES_USER: user = '', POSTGRES_PWD: password = '', DB_PORT: port } = environment
      const client = new pg.Client({
        host: '127.0.0.1',
        port: Number(port),
        database: 'postgres',
        user,
        password,
      })
      await client.connect()
      return client
    }
    const readRole = async () => {
      const client = await connect()
      try {
        const { rows } = await client.query(
          'select rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = current_user',
        )
        return rows as unknown[]
      } finally {
        await client.end()
      }
    }
    expect(await readRole()).toEqual([{ rolsuper: false, rolcreaterole: false, rolcreatedb: true }])
    await running.shift()?.stop()
    running.unshift(await cluster.database.start(hooks))
    expect(await readRole()).toHaveLength(1)
  })
})

test('error: a failed schema setup is reported and leaves no server running', async () => {
  openFolder()
  fs.mkdirSync(at('programs'))
  fs.writeFileSync(
    at('programs/temporal-sql-tool'),
    '#!/bin/sh\necho no such schema >&2\nexit 1\n',
    {
      mode: 0o755,
    },
  )
  const [port = 0] = await findFreePorts(1)
  const { database } = await createTemporalCluster({
    programs: { folder: at('programs'), server: '' },
    cli: { file: '', source: '' },
    home,
    port,
    namespace: 'money',
  })
  await expect(database.start(hooks)).rejects.toThrow('no such schema')
  expect(fs.existsSync(path.join(database.folder(), 'data/postmaster.pid'))).toBe(false)
  await closeFolder()
})
