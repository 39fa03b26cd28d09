import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChainWorld, type ChainWorld, type WalletBody } from '../../chainWorld.js'
import { decimalText } from '../formats.js'

type StepBody = { type: string; sequence: number; amount: string } & Record<string, unknown>
type ExecutionPlanBody = { strategy: string; targetChain: string; steps: StepBody[] } & Record<
  string,
  unknown
>
const kinds = ['direct', 'bridged', 'moved', 'taken', 'swapped', 'swappedOut'] as const

let world: ChainWorld
let plans: Record<(typeof kinds)[number], ExecutionPlanBody>

/** Plans of 10 USDC each: every strategy, and every type of step. */
beforeAll(async () => {
  world = await startChainWorld()
  const units = 10_000_000n
  const onEthereum = await world.newWallet({ 'ethereum-sepolia': units })
  const onArbitrum = await world.newWallet({ 'arbitrum-sepolia': units })
  const onBase = await world.newWallet({ 'base-sepolia': units })
  const lent = await world.newWallet()
  await world.supply('base-sepolia', lent, 2n * units)
  await world.supply('ethereum-sepolia', lent, 2n * units)
  plans = {
    direct: await planFor(onBase, {}),
    bridged: await planFor(onArbitrum, {}),
    moved: await planFor(onEthereum, { action: 'bridge', fromChain: 'ethereum', toChain: 'base' }),
    taken: await planFor(lent, { action: 'withdraw', chain: 'base' }),
    swapped: await planFor(onEthereum, { chain: 'ethereum' }),
    swappedOut: await planFor(lent, { action: 'withdraw', chain: 'ethereum' }),
  }
})
afterAll(() => world?.stop())

async function planFor({ id }: WalletBody, more: object): Promise<ExecutionPlanBody> {
  const { status, body } = await world.lend(id, 10, more, '?dryRun=true')
  expect(status).toBe(200)
  return body.executionPlan as ExecutionPlanBody
}
const stepsOf = (type: string) =>
  Object.values(plans).flatMap(({ steps }) => steps.filter((step) => step.type === type))

describe('executionPlan', () => {
  test('strategy: `direct-deposit`, where no money is bridged', () => {
    expect(plans.direct.strategy).toBe('direct-deposit')
    expect(plans.swapped.strategy).toBe('direct-deposit')
  })

  test('strategy: `single-bridge`, where the deposit is on another chain than the money', () => {
    expect(plans.bridged).toMatchObject({
      ...{ strategy: 'single-bridge', targetChain: 'base-sepolia', targetProtocol: 'aave-v3' },
      expectedApy: expect.closeTo(4.12, 1),
    })
  })

  test.each(kinds)('steps are ordered, and `sequence` is a number that starts at 1: %s', (kind) => {
    const { steps } = plans[kind]
    expect(steps.map(({ sequence }) => sequence)).toEqual(steps.map((_, index) => index + 1))
  })

  test.each([
    ['direct', ['deposit']],
    ['bridged', ['bridge', 'deposit']],
    ['moved', ['bridge']],
    ['taken', ['withdraw']],
    ['swapped', ['swap', 'deposit']],
    ['swappedOut', ['withdraw', 'swap']],
  ] as const)('step, type: a string, in the order of execution: %s is %j', (kind, types) => {
    expect(plans[kind].steps.map(({ type }) => type)).toEqual(types)
  })

  test.each(kinds)('every strategy has estimates and reasoning: %s', (kind) => {
    expect(plans[kind]).toMatchObject({
      estimatedGasUsd: expect.any(Number),
      estimatedTime: expect.stringMatching(/^\d+-\d+ (seconds|minutes)$/),
      reasoning: expect.stringMatching(/^\S+ .+/),
    })
  })
})

describe('Step of a plan', () => {
  test('from and to: the chains, of a bridge', () => {
    expect(plans.bridged.steps[0]).toMatchObject({ from: 'arbitrum-sepolia', to: 'base-sepolia' })
    expect(plans.moved.steps[0]).toMatchObject({ from: 'ethereum-sepolia', to: 'base-sepolia' })
    for (const step of stepsOf('bridge')) expect(step).not.toHaveProperty('chain')
  })

  test.each(['deposit', 'withdraw', 'swap'])('from and to: not on a %s', (type) => {
    expect(stepsOf(type)).not.toEqual([])
    for (const step of stepsOf(type)) {
      for (const field of ['from', 'to']) expect(step).not.toHaveProperty(field)
    }
  })

  test('chain and protocol: of a deposit', () => {
    const deposit = { type: 'deposit', chain: 'base-sepolia', protocol: 'aave-v3' }
    expect(plans.direct.steps[0]).toMatchObject(deposit)
    expect(plans.bridged.steps[1]).toMatchObject(deposit)
  })

  test('chain and protocol: of a withdraw', () => {
    expect(plans.taken.steps[0]).toMatchObject({ chain: 'base-sepolia', protocol: 'aave-v3' })
  })

  test('chain: of a swap, with the token that it brings', () => {
    const chain = 'ethereum-sepolia'
    expect(plans.swapped.steps[0]).toMatchObject({ chain, asset: 'USDC', toAsset: 'TUSD' })
    expect(plans.swappedOut.steps[1]).toMatchObject({ chain, asset: 'TUSD', toAsset: 'USDC' })
  })

  test('asset: the token symbol, on every step', () => {
    for (const { steps } of Object.values(plans)) {
      for (const { asset } of steps) expect(asset).toMatch(/^(USDC|TUSD)$/)
    }
  })

  test('amount: decimal text on every step, what was asked for on the first', () => {
    for (const { steps } of Object.values(plans)) {
      for (const { amount } of steps) expect(amount).toMatch(decimalText)
    }
    for (const kind of ['direct', 'bridged', 'moved', 'taken', 'swapped'] as const) {
      expect(plans[kind].steps[0]?.amount).toBe('10')
    }
  })

  test('amount: that of a deposit is lower than requested after bridge costs', () => {
    const [bridge, deposit] = plans.bridged.steps
    expect(deposit?.amount).toBe('9.999')
    expect(deposit?.amount).toBe(bridge?.arrives)
  })
})
