import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '@temporalio/client'
import type { Browser } from 'playwright-core'
import type { ChainName } from '../../../evm/registry.js'
import { connectTemporal } from '../../../workflows/client/connect.js'
import { hasBrowser, openBrowser } from '../../clients/dashboard/browser.js'
import { expectConserved, expectTransactions } from '../money.js'
import {
  listen,
  openIntentPage,
  watchBlocks,
  type IntentPage,
  type Listening,
} from '../surfaces.js'
import { isWaiting, untilViewed, type WorkflowView } from '../workflowView.js'
import { type OwnWorld } from '../world.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const
/** Usual seconds of an attestation on the devnet, and the factor after which it is late. */
const [USUAL_SECONDS, PATIENCE] = [3, 2]
const funds = [{ chain: 'bridge', asset: 'USDC', amount: '1' }]

/** The visible state of a waiting intent, and how soon it appears. */
export function testDelays(open: () => OwnWorld): void {
  let world: OwnWorld
  let temporal: Client
  /** Undefined without a browser. Pages are not checked then. */
  let browser: Browser | undefined

  beforeAll(async () => {
    world = open()
    const { temporalAddress, temporalNamespace } = world.stack.facts
    temporal = connectTemporal(temporalAddress, temporalNamespace)
    if (hasBrowser) browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await temporal?.connection.close()
  })

  const lend = (chain: ChainName) => ({ action: 'lend', amount: 1, chain })

  type Surfaces = { id: string; stream: Listening; page: IntentPage | undefined }

  /** Opens all surfaces of an intent before its first operation is signed. */
  async function watch(id: string): Promise<Surfaces> {
    const stream = await listen(world, `/intents/${id}/events`)
    return { id, stream, page: browser && (await openIntentPage(browser, world, id)) }
  }

  /** Waits until each surface shows the state. Returns when each first did, ms of Unix time. */
  async function untilAllSay(
    { id, stream, page }: Surfaces,
    expected: { event: string; text: RegExp; view: (view: WorkflowView) => boolean },
  ) {
    const reported = stream.until(({ event }) => event === expected.event)
    const shown = page?.until(expected.text)
    const viewed = untilViewed(temporal, id, expected.view).then((view) => ({
      view,
      at: Date.now(),
    }))
    const [event, pageAt, { view, at }] = await Promise.all([reported, shown, viewed])
    const ats = { stream: event.cameAt, page: pageAt, workflow: at }
    return { data: event.data.data as Record<string, unknown>, details: view.details, ats }
  }

  const readBurn = (id: string) =>
    world
      .db('operation as o')
      .join('burn as b', 'b.operation_id', 'o.id')
      .where({ intent_id: id })
      .first<{ txHash: string; burnedAt: Date }>('o.tx_hash as txHash', 'b.burned_at as burnedAt')

  const utc = (at: Date) => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
  const msAfter = (moment: Date | number, ats: Record<string, number | undefined>) =>
    Object.fromEntries(Object.entries(ats).map(([name, at]) => [name, at && at - Number(moment)]))

  test('a delayed bridge: page, events and workflow show the wait reason, its start and the location of the money', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    await world.setFaults({ stuck: true })
    world.signal('signer', 'SIGSTOP')
    const { id } = await world.create(wallet, lend(base))
    const surfaces = await watch(id)
    const { page } = surfaces
    world.signal('signer', 'SIGCONT')

    // The burn is mined. From now on the step waits for the attestation.
    const burned = await untilAllSay(surfaces, {
      event: 'intent.step_progressed',
      text: /Waits for the attestation\. For [\d.]+ m?s; usually 3/,
      view: ({ details }) => details.includes('burned on'),
    })
    const { txHash, burnedAt } = await readBurn(id)
    const waitingFor = { code: 'ATTESTATION', since: burnedAt.toISOString() }
    expect(burned.data).toEqual({ step: 1, kind: 'bridge', chain: arbitrum, txHash })
    expect(burned.details).toContain(`burned on ${arbitrum}: \`${txHash}\``)
    expect((await untilViewed(temporal, id, () => true)).attributes).not.toHaveProperty(
      'WaitingFor',
    )
    await page?.until(/^1 USDC in the bridge, between two chains\.$/)
    if (page) expect(await page.readJson()).toMatchObject({ waitingFor, funds })

    // The attestation is late.
    const late = await untilAllSay(surfaces, {
      event: 'intent.delayed',
      text: /^Late$/,
      view: isWaiting('**Waits**', 'ATTESTATION'),
    })
    const whereabouts = `1 USDC was burned on ${arbitrum} in ${txHash} and awaits its attestation. It arrives on ${base} without further action.`
    const { delay } = late.data as { delay: { since: string } }
    expect(delay).toMatchObject({ code: 'BRIDGE_TIMEOUT', message: whereabouts, funds })
    expect(Math.abs(Date.parse(delay.since) - Number(burnedAt))).toBeLessThan(1_000)
    expect(late.details).toContain(
      `**Waits** since ${utc(new Date(delay.since))} (\`ATTESTATION\`)`,
    )
    expect(late.details).toContain(whereabouts)
    if (page) {
      expect(await page.readJson()).toMatchObject({ delay, funds, waitingFor })
      expect(await page.isSame()).toBe(true)
    }
    const due = Number(burnedAt) + PATIENCE * USUAL_SECONDS * 1_000
    console.table({
      'ms after the burn was indexed': msAfter(burnedAt, burned.ats),
      'ms after it was late': msAfter(due, late.ats),
    })

    await world.setFaults({ stuck: false })
    await page?.until(/^Completed$/)
    const finished = await world.untilFinished(id)
    await expectTransactions(world, finished, [
      `bridge ${arbitrum}`,
      `mint ${base}`,
      `deposit ${base}`,
    ])
    expect(await expectConserved(world, wallet)).toBe(0n)
    const { typedSearchAttributes } = await temporal.workflow.getHandle(id).describe()
    expect(typedSearchAttributes.getAll().map(({ key }) => key.name)).not.toContain('WaitingFor')
    surfaces.stream.close()
  }, 180_000)

  /** Far more blocks than appear while an event is delivered: the fastest chain has four per second. */
  const MOST_BLOCKS = 20

  test('a mined operation is reported within a few blocks', async () => {
    const blocks = watchBlocks(world, [arbitrum, base])
    const stream = await listen(world, '/events')
    const routes = [
      ...([arbitrum, base, arbitrum, base] as const).map((chain) => ({ from: chain, to: chain })),
      ...[1, 2].map(() => ({ from: arbitrum, to: base })),
    ]
    for (const { from, to } of routes) {
      const wallet = await world.createWallet({ [from]: '1' })
      const { id } = await world.create(wallet, lend(to))
      await stream.until(({ event, data }) => event === 'intent.completed' && data.intentId === id)
    }
    await blocks.stop()
    stream.close()
    const ms: number[] = []
    for (const { data, cameAt } of stream.arrivals) {
      const { txHash, chain } = data.data as { txHash?: string; chain: ChainName }
      if (!txHash) continue
      const receipt = await world.nodes[chain].provider.getTransactionReceipt(txHash)
      const number = receipt?.blockNumber ?? 0
      expect(blocks.countAfter(chain, number, cameAt)).toBeLessThanOrEqual(MOST_BLOCKS)
      ms.push(cameAt - (blocks.at(chain, number) ?? NaN))
    }
    // One per lend, and one each for burn, mint and deposit of a bridged lend.
    expect(ms).toHaveLength(4 + 2 * 3)
    const [half, most] = [ms.sort((a, b) => a - b)[ms.length / 2], ms.at(-1)]
    console.log(
      `from a block to who listens: p50 ${half} ms, max ${most} ms, of ${ms.length} events`,
    )
  }, 120_000)
}
