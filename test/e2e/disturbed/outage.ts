import { expect, test } from 'vitest'
import { readWalletBalances } from '../balances.js'
import { expectConserved, expectTransactions } from '../money.js'
import { until } from '../stack.js'
import { toIntent, type OwnWorld } from '../world.js'

const [arbitrum, base] = ['arbitrum-sepolia', 'base-sepolia'] as const

/** An outage of Temporal with every role killed. */
export function testOutage(open: () => OwnWorld): void {
  const operationOf = (intentId: string) =>
    open()
      .db('operation')
      .where({ intent_id: intentId, sequence: 1 })
      .first<{ id: string; state: string; tx_hash: string } | undefined>()
  const untilState = (intentId: string, states: string[]) =>
    until(
      () => operationOf(intentId),
      (row) => states.includes(row?.state ?? ''),
    )

  test('Temporal is down and every role is killed: signed operations confirm, finished intents complete by their rows, and the others complete afterwards', async () => {
    const world = open()
    const [lender, crosser] = [
      await world.createWallet({ [arbitrum]: '1' }),
      await world.createWallet({ [arbitrum]: '1' }),
    ]
    // Bundles signed now are not sent before every part is down.
    world.signal('relayer', 'SIGSTOP')
    const lend = { action: 'lend', amount: 1 }
    const { id: deposit } = await world.create(lender, { ...lend, chain: arbitrum })
    const { id: crossing } = await world.create(crosser, { ...lend, chain: base })
    for (const id of [deposit, crossing]) await untilState(id, ['signed'])

    world.signal('temporal', 'SIGSTOP')
    await world.kill('api', 'worker', 'relayer', 'signer')
    const ready = await fetch(`${world.stack.facts.hostUrl}/readyz`)
    expect(await ready.json()).toMatchObject({ temporal: false, degraded: true })
    for (const id of [deposit, crossing]) {
      const row = await untilState(id, ['confirmed', 'final'])
      const { provider } = world.nodes[arbitrum]
      expect((await provider.getTransactionReceipt(row?.tx_hash ?? ''))?.status).toBe(1)
    }
    // All steps are done, and the final status needs no workflow.
    const lent = await world.untilFinished(deposit)
    expect(lent.status).toBe('completed')
    const { id: burn } = (await operationOf(crossing)) ?? {}
    await until(
      () => world.db('burn').where({ operation_id: burn }).first<{ message: string | null }>(),
      ({ message }) => message !== null,
    )
    expect(toIntent(await world.call('GET', `/intents/${crossing}`)).status).toBe('executing')

    world.signal('temporal', 'SIGCONT')
    await expectTransactions(world, lent, [`deposit ${arbitrum}`])
    const crossed = await world.untilFinished(crossing)
    expect(crossed).toMatchObject({ status: 'completed', results: { finalAmount: '0.9999' } })
    await expectTransactions(world, crossed, [
      `bridge ${arbitrum}`,
      `mint ${base}`,
      `deposit ${base}`,
    ])
    for (const wallet of [lender, crosser]) {
      expect(await expectConserved(world, wallet)).toBe(0n)
      expect((await readWalletBalances(world.nodes[arbitrum], wallet)).usdc).toBe(0n)
    }
  }, 300_000)
}
