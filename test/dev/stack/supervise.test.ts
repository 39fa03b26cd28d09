import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as fs from 'node:fs'
import * as os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../../../dev/stack/child.js'
import { identify } from '../../../dev/state/processes.js'
import { createSupervisor, type Part, type Supervisor } from '../../../dev/stack/supervise.js'

const ready = `process.send({ type: 'ready' }); setInterval(() => {}, 1e6);`
const deaf = `process.on('SIGTERM', () => {}); ${ready}`
const brief = `process.send({ type: 'ready' }, () => process.exit(3));`
const broken = `console.error('Error: no such table'); process.exit(1);`

/** A script that counts its starts in the file `starts`. */
const counting = (script: string) => `
  const fs = require('node:fs'), file = ${JSON.stringify(path.join(folder, 'starts'))};
  fs.appendFileSync(file, 'x');
  const starts = fs.readFileSync(file).length;
  ${script}`
const onlyOnce = () => counting(`if (starts === 1) { ${ready} } else { ${broken} }`)
const notAtOnce = () => counting(`if (starts <= 2) { ${broken} } else { ${ready} }`)

const TRIES = 3

let folder = ''
let printed = ''
let supervisor: Supervisor
let endings: string[] = []
let gaveUp: Error | undefined

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'steward supervise '))
  printed = ''
  endings = []
  gaveUp = undefined
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
  supervisor = createSupervisor({
    stopOrder: [['api'], ['worker'], ['one', 'two']],
    onPids: () => undefined,
    onGiveUp: (error) => (gaveUp = error),
    ...{ backoffMs: 5, tries: TRIES },
  })
})

afterEach(async () => {
  await supervisor.stop()
  vi.restoreAllMocks()
  fs.rmSync(folder, { recursive: true, force: true })
})

type PartLimits = { stopTimeoutMs?: number }
const usual = { stopTimeoutMs: 5_000 }

/** A part that is a Node process running `script`. */
function createPart(name: string, script: string, limits: PartLimits = {}): Part {
  const logFile = path.join(folder, `${name}.log`)
  const spec = {
    name,
    command: process.execPath,
    args: ['-e', script],
    logFile,
    ...usual,
    ...limits,
  }
  return {
    name,
    async start(hooks) {
      const child = await startChild({ ...spec, ready: 'message' }, hooks)
      const stop = () => child.stop().then(() => void endings.push(name))
      return { pid: child.pid, stop }
    },
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(10)
}

describe('createSupervisor', () => {
  test('restarts a child that dies, prints it, and updates its process id', async () => {
    const { pid } = await supervisor.start(createPart('worker', ready))
    process.kill(pid, 'SIGKILL')
    await until(() => printed.includes('worker is back'))
    expect(printed).toContain('worker ended (SIGKILL); restarting it')
    const followed = supervisor.pids().worker ?? 0
    expect(followed).not.toBe(pid)
    expect(identify(followed)).toBeDefined()
  })

  test('stops all children in order, and restarts none', async () => {
    const parts = ['two', 'worker', 'one', 'api'].map((name) => createPart(name, ready))
    await Promise.all(parts.map((part) => supervisor.start(part)))
    const pids = Object.values(supervisor.pids())
    await supervisor.stop()
    expect(endings.slice(0, 2)).toEqual(['api', 'worker'])
    expect(endings.slice(2).sort()).toEqual(['one', 'two'])
    expect(pids.map((pid) => identify(pid))).toEqual([undefined, undefined, undefined, undefined])
    expect(printed).toBe('')
  })

  test('a child that fails to stop is reported and does not block the others', async () => {
    const failing = createPart('worker', ready)
    const start: Part['start'] = async (hooks) => {
      const child = await failing.start(hooks)
      const stop = () => child.stop().then(() => Promise.reject(new Error('disk full')))
      return { ...child, stop }
    }
    await supervisor.start({ name: 'worker', start })
    await supervisor.start(createPart('one', ready))
    const pids = Object.values(supervisor.pids())
    await supervisor.stop()
    expect(endings).toEqual(['worker', 'one'])
    expect(pids.map((pid) => identify(pid))).toEqual([undefined, undefined])
    expect(printed).toContain('worker: disk full')
  })

  test('kills a child that does not stop in time', async () => {
    const { pid } = await supervisor.start(createPart('worker', deaf, { stopTimeoutMs: 100 }))
    await supervisor.stop()
    expect(identify(pid)).toBeUndefined()
  })

  test('a child that is killed more often than it may fail is restarted each time', async () => {
    let { pid } = await supervisor.start(createPart('worker', ready))
    for (let kills = 0; kills < TRIES + 2; kills++) {
      process.kill(pid, 'SIGKILL')
      await until(() => printed.split('worker is back').length === kills + 2)
      pid = supervisor.pids().worker ?? 0
    }
    expect(identify(pid)).toBeDefined()
    expect(gaveUp).toBeUndefined()
  })

  test('a child that is repeatedly killed during its start comes up', async () => {
    const killed = new Set<number>()
    const part = createPart('worker', `setTimeout(() => { ${ready} }, 300)`)
    const start = supervisor.start(part)
    while (killed.size < TRIES + 2) {
      const { worker = 0 } = supervisor.pids()
      if (identify(worker) && !killed.has(worker)) process.kill(worker, 'SIGKILL')
      if (worker > 0) killed.add(worker)
      await sleep(5)
    }
    expect(identify((await start).pid)).toBeDefined()
    expect(printed).toContain('worker did not start (SIGKILL)')
  })

  test('a child that repeatedly comes up and exits is restarted each time', async () => {
    await supervisor.start(createPart('worker', brief))
    await until(() => printed.split('worker ended (exit 3); restarting it').length > TRIES + 2)
    expect(gaveUp).toBeUndefined()
  })

  test('a child that was up and fails to restart is given up; the others keep running', async () => {
    const { pid: other } = await supervisor.start(createPart('api', ready))
    const { pid } = await supervisor.start(createPart('worker', onlyOnce()))
    process.kill(pid, 'SIGKILL')
    await until(() => gaveUp !== undefined)
    expect(gaveUp?.message).toMatch(/^worker did not start \(exit 1: Error: no such table\)\. See /)
    expect(gaveUp?.message).toContain(`Given up after ${TRIES} tries`)
    expect(printed.match(/worker did not start/g)).toHaveLength(TRIES - 1)
    expect(Object.keys(supervisor.pids())).toEqual(['api'])
    expect(identify(other)).toBeDefined()
  })

  test('a first start that fails is retried', async () => {
    const { pid } = await supervisor.start(createPart('worker', notAtOnce()))
    expect(identify(pid)).toBeDefined()
    const again = /worker did not start \(exit 1: Error: no such table\)\. See .+; restarting it/g
    expect(printed.match(again)).toHaveLength(2)
  })

  test('error: a child that never comes up; the message has the reason from its log', async () => {
    const start = supervisor.start(createPart('worker', broken))
    await expect(start).rejects.toThrow(/worker did not start \(exit 1: Error: no such table\)/)
    expect(gaveUp).toBeUndefined()
  })

  test('a stop during the start leaves no process', async () => {
    const start = supervisor.start(createPart('worker', 'setInterval(() => {}, 1e6)'))
    await until(() => supervisor.pids().worker !== undefined)
    const pid = supervisor.pids().worker ?? 0
    await Promise.all([supervisor.stop(), expect(start).rejects.toThrow('did not start')])
    expect(identify(pid)).toBeUndefined()
  })
})
