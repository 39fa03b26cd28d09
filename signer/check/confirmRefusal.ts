import { atMost } from '../../runtime/timeout.js'
import { PREPARE_WAIT_MS } from '../patience.js'
import { prepare, type Ordered } from '../prepare.js'
import { readSigningContext, type SigningContext, type SignerTools } from '../signingContext.js'
import type { ChainClient } from '../../evm/connect.js'

/** One endpoint may be on a fork or lie, so it cannot end an operation alone. */
const REFUSALS = 2

/**
 * True when at least two endpoints refuse. Each is asked separately, at its own head, which must be later than the
 * block of the first refusal. Always true on a chain with one endpoint.
 */
export async function isRefusalConfirmed(
  tools: SignerTools,
  { client, sender }: SigningContext,
  ordered: Ordered,
): Promise<boolean> {
  const { operation } = ordered
  if (client.endpoints.length < REFUSALS) return true
  const refuses = async (endpoint: ChainClient): Promise<boolean> => {
    const context = await readSigningContext(endpoint, sender)
    const isLater =
      context.head > (operation.refusedBlock ?? 0n) && context.head >= operation.minBlock
    return isLater && (await prepare(tools, context, ordered)).kind === 'refused'
  }
  // An unreachable endpoint counts as no refusal.
  const opinions = client.endpoints.map((endpoint) =>
    atMost(
      refuses(endpoint).catch(() => false),
      tools.patienceMs ?? PREPARE_WAIT_MS,
    ),
  )
  return (await Promise.all(opinions)).filter(Boolean).length >= REFUSALS
}
