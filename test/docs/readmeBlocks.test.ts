import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { joinWorld } from '../e2e/world.js'
import { readCodeBlocks } from '../../dev/tools/codeBlocks.js'
import { readShellBlocks, runShellBlocks } from './codeBlocks.js'
import { readPage } from './markdown.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

const page = readPage('README.md')

/** Commands that no test pastes: `sh` blocks are run, `bash` blocks are these. */
const notRun = [
  // The stack of the run is started by the same program, without the demo.
  'npm start',
  // This run.
  'npm test',
  // Needs Docker.
  'deploy/new-env.sh > .env && docker compose --profile dev up --build',
]

let world: Awaited<ReturnType<typeof joinWorld>>
let folder: string

beforeAll(async () => {
  world = await joinWorld()
  const { apiBaseUrl, apiKey } = world.stack.facts
  folder = mkdtempSync(join(tmpdir(), 'steward-readme-'))
  mkdirSync(join(folder, '.steward'))
  writeFileSync(join(folder, '.steward/dev.json'), JSON.stringify({ apiBaseUrl, apiKey }))
})
afterAll(async () => {
  await world?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** The shape of a JSON value: keys and types, and the text of states and names of chains. */
function shapeOf(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => shapeOf(item))
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, shapeOf(item, name)]),
    )
  }
  return /^(?:status|asset|amount|strategy|target\w+|completedSteps|finalAmount)$/.test(key)
    ? value
    : typeof value
}

describe('the code blocks of README.md', () => {
  test('run as printed, in order, and print what the page shows', async () => {
    const blocks = readShellBlocks(page).filter(({ language }) => language === 'sh')
    expect(blocks.map(({ heading }) => heading)).toEqual(blocks.map(() => 'First intent'))
    const outputs = await runShellBlocks(blocks, { folder: `${folder}/` })
    const answers = outputs.filter(Boolean).map((output) => JSON.parse(output) as unknown)
    const shown = readCodeBlocks(page).filter(({ language }) => language === 'json')
    expect(answers).toHaveLength(shown.length)
    for (const [at, { code }] of shown.entries()) {
      expect(shapeOf(answers[at])).toMatchObject(shapeOf(JSON.parse(code)) as object)
    }
  })

  test('leave out only commands that start or test the service', () => {
    const others = readShellBlocks(page).filter(({ language }) => language === 'bash')
    expect(others.map(({ code }) => code)).toEqual(notRun)
  })
})
