import { afterAll, beforeAll, describe } from 'vitest'
import { joinWorld, type E2eWorld } from '../../e2e/world.js'
import { findPython } from './environment.js'
import { describeCases, runCases } from './pytest.js'

const python = await findPython()
const describeWithPython = python === undefined ? describe.skip : describe

const STACK_MS = 600_000
/** The files mostly wait for chains, so they run in parallel. */
const files = ['stack/test_timeline.py', 'stack/test_savings_app.py'] as const

describeWithPython('steward-sdk with the whole service', () => {
  let world: E2eWorld
  let report: Awaited<ReturnType<typeof runCases>>

  beforeAll(async () => {
    world = await joinWorld()
    const { apiKey, apiBaseUrl } = world.stack.facts
    const env = { STEWARD_API_KEY: apiKey, STEWARD_BASE_URL: apiBaseUrl }
    const reports = await Promise.all(files.map((file) => runCases(python ?? '', [file], env)))
    report = new Map(reports.flatMap((one) => [...one]))
  }, STACK_MS)
  afterAll(() => world?.stop())

  describeCases(['stack'], () => report)
})
