import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { chainNames } from '../../../evm/registry.js'
import { writeJson } from '../../../dev/state/jsonFile.js'
import { identify, isRunning } from '../../../dev/state/processes.js'
import {
  assertSameSet,
  lockHome,
  makeFolders,
  openHome,
  openSecrets,
  openSet,
  reapOrphans,
  recordChildren,
  saveSet,
  TEMPORAL_ON_POSTGRES,
  wipeHome,
  type Home,
  type Places,
} from '../../../dev/state/state.js'

const embedded: Places = {
  postgres: 'embedded',
  temporal: 'embedded',
  'ethereum-sepolia': 'embedded',
  'arbitrum-sepolia': 'embedded',
  'base-sepolia': 'embedded',
}
const set = { id: 'ab'.repeat(16), isComplete: true, places: embedded }

let home: Home
beforeEach(() => {
  home = openHome({ STEWARD_HOME: fs.mkdtempSync(path.join(tmpdir(), 'steward state ')) })
  makeFolders(home)
})
afterEach(() => fs.rmSync(home.folder, { recursive: true, force: true }))

/** Writes the state that a stack leaves after serving. */
function fillHome(): void {
  fs.mkdirSync(path.join(home.postgres, 'data'), { recursive: true })
  const files = [
    home.secrets,
    home.kek,
    home.temporalDb,
    ...chainNames.map((name) => home.chain(name)),
  ]
  for (const file of [...files, path.join(home.postgres, 'data/PG_VERSION')]) {
    fs.writeFileSync(file, '{}')
  }
  saveSet(home, set)
}

describe('openSet', () => {
  test('creates a set in an empty folder, opens a complete one', () => {
    expect(openSet(home, embedded)).toMatchObject({ isComplete: false, places: embedded })
    fillHome()
    expect(openSet(home, embedded)).toEqual(set)
  })

  test.each([
    ['the state of arbitrum-sepolia', () => home.chain('arbitrum-sepolia')],
    ['the database', () => home.postgres],
    ['the state of Temporal', () => home.temporalDb],
    ['the key of the signer', () => home.kek],
    ['the record of the set', () => home.set],
  ])('error: names %s when it is lost, and the way out', (part, pathOf) => {
    fillHome()
    fs.rmSync(pathOf(), { recursive: true })
    expect(() => openSet(home, embedded)).toThrow(part)
    expect(() => openSet(home, embedded)).toThrow('npm start -- --fresh')
  })

  test('error: the state of Temporal is in a file and the settings ask for Postgres', () => {
    fillHome()
    const places = { ...embedded, temporal: TEMPORAL_ON_POSTGRES }
    expect(() => openSet(home, places)).toThrow(/temporal was embedded, now is .*Postgres/)
  })

  test('error: the Postgres of Temporal is missing', () => {
    fillHome()
    saveSet(home, { ...set, places: { ...embedded, temporal: TEMPORAL_ON_POSTGRES } })
    expect(() => openSet(home, embedded)).toThrow('the database of Temporal')
  })

  test('error: a part that has moved', () => {
    fillHome()
    const places = { ...embedded, postgres: 'db.example:5432/steward' }
    expect(() => openSet(home, places)).toThrow(
      'postgres was embedded, now is db.example:5432/steward',
    )
  })

  test('continues an interrupted first start', () => {
    saveSet(home, { ...set, isComplete: false })
    expect(openSet(home, embedded)).toEqual({ ...set, isComplete: false })
  })

  test('an emptied folder gets a new set; other files stay', () => {
    fillHome()
    fs.writeFileSync(path.join(home.folder, 'notes.txt'), 'mine')
    wipeHome(home)
    expect(fs.readdirSync(home.folder)).toEqual(['notes.txt'])
    makeFolders(home)
    expect(openSet(home, embedded).id).not.toBe(set.id)
  })
})

describe('assertSameSet', () => {
  test('default: the same id, or none yet', () => {
    assertSameSet('The database', set.id, set)
    assertSameSet('The database', undefined, { ...set, isComplete: false })
  })

  test('error: a part of another set, or one that lost its state', () => {
    expect(() => assertSameSet('The database', 'other', set)).toThrow('another set')
    expect(() => assertSameSet('The database', undefined, set)).toThrow('lost its state')
  })
})

describe('openSecrets', () => {
  test('creates a password for each service, and keeps it', () => {
    const { api, worker, relayer, signer } = openSecrets(home)
    const passwords = [api, worker, relayer, signer]
    expect(new Set(passwords).size).toBe(4)
    for (const password of passwords) expect(password).toMatch(/^[0-9a-f]{48}$/)
    expect(openSecrets(home)).toEqual({ api, worker, relayer, signer })
  })

  test('creates the missing password of a new service in an older set, and keeps the others', () => {
    const kept = { api: 'a', worker: 'w', signer: 's', apiKey: 'svc_sk_1' }
    writeJson(home.secrets, kept)
    const { relayer, ...rest } = openSecrets(home)
    expect(rest).toEqual(kept)
    expect(relayer).toMatch(/^[0-9a-f]{48}$/)
    expect(openSecrets(home)).toEqual({ ...kept, relayer })
  })
})

describe('lockHome', () => {
  test('error: names the process that holds the lock', () => {
    writeJson(home.lock, identify(process.ppid))
    expect(() => lockHome(home)).toThrow(`Steward already runs (pid ${process.ppid})`)
  })

  test('takes over the lock of a dead process, also when its id has been reused', () => {
    writeJson(home.lock, { pid: process.ppid, startedAt: 'long ago' })
    lockHome(home)()
    expect(fs.existsSync(home.lock)).toBe(false)
  })
})

describe('reapOrphans', () => {
  const children: ChildProcess[] = []
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  async function spawnOrphan(): Promise<ChildProcess & { pid: number }> {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { detached: true })
    children.push(child)
    await once(child, 'spawn')
    return child as ChildProcess & { pid: number }
  }

  test('ends recorded children that still run', async () => {
    const { pid } = await spawnOrphan()
    recordChildren(home, { worker: pid, api: 2 ** 22 + 1 })
    expect(await reapOrphans(home, [['api'], ['worker']])).toEqual(['worker'])
    expect(identify(pid)).toBeUndefined()
  })

  test('leaves another process with the recorded id alone', async () => {
    const { pid } = await spawnOrphan()
    writeJson(home.children, [{ name: 'worker', pid, startedAt: 'long ago' }])
    expect(await reapOrphans(home, [['worker']])).toEqual([])
    expect(isRunning(identify(pid) ?? { pid: 0, startedAt: '' })).toBe(true)
  })
})
