import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { signOnce } from '../../../signer/sign.js'
import { assertAffordable } from '../../../signer/check/gasBound.js'
import { readSenderState, readSigningContext } from '../../../signer/signingContext.js'
import { readSenders } from '../../../operations/signing/signing.js'
import { createWorld, usdcUnits, type World } from '../../relayer/world/fixture.js'

describe('assertAffordable', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())

  test('an operation above its gas budget is deferred with the reason', async () => {
    const lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    const client = world.signer.chains.byId(0)
    await signOnce({ ...world.signer, operationGasWei: 10n ** 9n }, client)
    expect(await world.row(lend.operationId)).toMatchObject({
      ...{ state: 'deferred', code: 'RPC_ERROR', payload: null, tx_id: null },
      message: 'Gas on arbitrum-sepolia exceeds the gas budget of an operation.',
    })
    expect(await world.transactions()).toHaveLength(0)
    await world.retryNow(lend)
    await world.round()
    expect(await world.row(lend.operationId)).toMatchObject({ state: 'confirmed', success: true })
  })

  test('each operation of a bundle is checked, independent of cheaper ones', async () => {
    const [sender] = await readSenders(world.db)
    if (!sender) throw new Error('There is no sender.')
    const context = await readSigningContext(world.signer.chains.byId(0), sender)
    const funded = { ...context, ...(await readSenderState(context)) }
    const unsigned = { data: '0x', gasLimit: 1_120_000n }
    const operationGasWei = 520_000n * funded.fees.maxWei
    const assertBound = (gas: bigint[]) =>
      assertAffordable({ operationGasWei }, funded, { unsigned, gas })
    // The operations share 20,000 gas of the bundle.
    expect(() => assertBound([600_000n, 500_000n])).toThrow(
      'exceeds the gas budget of an operation',
    )
    expect(() => assertBound([550_000n, 550_000n])).toThrow(
      'exceeds the gas budget of an operation',
    )
    expect(() => assertBound([500_000n, 500_000n])).toThrow(
      'exceeds the gas budget of an operation',
    )
    expect(() =>
      assertAffordable({ operationGasWei }, funded, {
        unsigned: { data: '0x', gasLimit: 1_020_000n },
        gas: [510_000n, 490_000n],
      }),
    ).not.toThrow()
  })
})
