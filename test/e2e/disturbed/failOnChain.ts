import { until } from '../stack.js'
import type { IntentResponse, Wallet, OwnWorld } from '../world.js'

const chain = 'arbitrum-sepolia'

/** A lend whose market closes after its deposit was signed, and reopens after the deposit has failed on chain. */
export async function failOnChain(world: OwnWorld, wallet: Wallet): Promise<IntentResponse> {
  const untilState = (id: string, wanted: string) =>
    until(
      () => world.db('operation').where({ intent_id: id }).first<{ state: string } | undefined>(),
      (row) => row?.state === wanted,
    )
  world.signal('signer', 'SIGSTOP')
  const created = await world.create(wallet, { action: 'lend', amount: 1, chain })
  await untilState(created.id, 'queued')
  // Bundles signed now are not sent before the market is closed.
  world.signal('relayer', 'SIGSTOP')
  world.signal('signer', 'SIGCONT')
  await untilState(created.id, 'signed')
  await world.setAavePaused(chain, true)
  world.signal('relayer', 'SIGCONT')
  await world.untilFinished(created.id)
  await world.setAavePaused(chain, false)
  return created
}
