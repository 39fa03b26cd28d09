import { afterAll, beforeAll, describe } from 'vitest'
import { createHome, removeHome, startStack, type Stack } from '../e2e/stack.js'
import { startControl, type Control } from './python/control.js'
import { findPython } from './python/environment.js'
import { describeCases, runCases } from './python/pytest.js'

const python = await findPython()
const describeWithPython = python === undefined ? describe.skip : describe

const STACK_MS = 600_000

describeWithPython('steward-sdk with the whole service', () => {
  let home: string
  let stack: Stack
  let control: Control
  let report: Awaited<ReturnType<typeof runCases>>

  beforeAll(async () => {
    home = await createHome()
    stack = await startStack(home)
    control = await startControl({
      killApi() {
        process.kill(stack.readFacts().pids.api, 'SIGKILL')
        return Promise.resolve()
      },
    })
    report = await runCases(python ?? '', ['stack'], {
      STEWARD_API_KEY: stack.facts.apiKey,
      STEWARD_BASE_URL: stack.facts.apiBaseUrl,
      CONTROL_URL: control.url,
    })
  }, STACK_MS)

  afterAll(async () => {
    await control?.stop()
    await stack?.stop()
    if (home) removeHome(home)
  }, STACK_MS)

  describeCases(['stack'], () => report)
})
