import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../db/client/connect.js'
import { readPairFees } from '../../db/bridgeFees.js'
import { createAttestingWorld, type AttestingWorld } from './bridge/attesting.js'

const pairs = 6
const offered = [
  { finalityThreshold: 1_000, minimumFee: 1.305 },
  { finalityThreshold: 2_000, minimumFee: 0 },
]

let world: AttestingWorld
beforeAll(async () => {
  world = await createAttestingWorld()
})
beforeEach(() => world.restart())
afterAll(() => world?.stop())

const requests = () => world.service().feeRequests().length
const untilRequested = (times: number) =>
  world.waitUntil(() => Promise.resolve(requests() >= times))

/** Starts a new process and waits until it has requested all fees. */
async function restartAttester(): Promise<void> {
  await world.stopAttester()
  const before = requests()
  world.startAgain()
  await untilRequested(before + pairs)
}

/** The API's view. */
async function known() {
  const api = connect(world.database.urlAs('steward_api'), 1)
  try {
    return await readPairFees(api)
  } finally {
    await api.destroy()
  }
}
const readAt = () =>
  world.db('bridge_fee').orderBy(['from_chain', 'to_chain']).pluck<Date[]>('read_at')

/** Of every pair of chains. */
async function expectFees(fastMillionths: bigint | null, standardMillionths: bigint | null) {
  await world.waitUntil(async () =>
    (await known()).every((one) => one.fastMillionths === fastMillionths),
  )
  const fees = await known()
  expect(fees).toHaveLength(pairs)
  for (const one of fees) {
    expect(one).toMatchObject({ protocol: 'cctp', fastMillionths, standardMillionths })
  }
}

describe('the fees of the bridge', () => {
  test('are stored per pair of chains, and not requested on each check', async () => {
    world.service().setFees(offered)
    await restartAttester()
    await expectFees(131n, 0n)
    const before = requests()
    await world.untilNextBurnIsAttested()
    await world.untilRowsAreRead()
    expect(requests()).toBe(before)
  })

  test('stay unchanged while the service fails', async () => {
    world.service().setFees(offered)
    await restartAttester()
    await expectFees(131n, 0n)
    const before = await readAt()
    world.service().turn('broken')
    await restartAttester()
    await world.untilRowsAreRead()
    await expectFees(131n, 0n)
    expect(await readAt()).toEqual(before)
  })

  test('stay unchanged while the service does not answer, and one request is sent', async () => {
    world.service().setFees(offered)
    await restartAttester()
    await expectFees(131n, 0n)
    await world.stopAttester()
    world.service().turn('blocked')
    const before = requests()
    world.startAgain()
    await untilRequested(before + 1)
    await world.untilRowsAreRead()
    await world.untilRowsAreRead()
    expect(requests()).toBe(before + 1)
    await expectFees(131n, 0n)
  })

  test('of a speed that is no longer offered are removed, and the pair is stored without a fee', async () => {
    world.service().setFees(offered)
    await restartAttester()
    await expectFees(131n, 0n)
    world.service().setFees([])
    await restartAttester()
    await expectFees(null, null)
  })
})
