import { afterAll, beforeAll, describe } from 'vitest'
import { joinWorld, type E2eWorld } from '../../e2e/world.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { startControl, type Control } from './control.js'
import { findPython } from './environment.js'
import { describeCases, runCases } from './pytest.js'

const python = await findPython()
const describeWithPython = python === undefined ? describe.skip : describe

const STACK_MS = 600_000
/** Long enough for a failed attempt of a client. */
const OUTAGE_MS = 1_500

describeWithPython('steward-sdk with the whole service during failures', () => {
  let world: E2eWorld
  let proxy: TcpProxy
  let control: Control
  let report: Awaited<ReturnType<typeof runCases>>

  beforeAll(async () => {
    world = await joinWorld()
    const { apiKey, apiBaseUrl } = world.stack.facts
    const { hostname: host, port, pathname } = new URL(apiBaseUrl)
    proxy = await startTcpProxy({ host, port: Number(port) })
    control = await startControl({
      cutApi() {
        proxy.set('closed')
        setTimeout(() => proxy.set('open'), OUTAGE_MS)
        return Promise.resolve()
      },
    })
    report = await runCases(python ?? '', ['deep'], {
      STEWARD_API_KEY: apiKey,
      STEWARD_BASE_URL: `http://127.0.0.1:${proxy.port}${pathname}`,
      CONTROL_URL: control.url,
    })
  }, STACK_MS)
  afterAll(async () => {
    await control?.stop()
    await proxy?.stop()
    await world?.stop()
  })

  describeCases(['deep'], () => report)
})
