import { faultPoint } from '../../runtime/faultPoints.js'
import {
  findClaimedNonces,
  setAttested,
  setDelayReason,
  type OpenBurn,
} from '../../operations/burns.js'
import { logFailure, type AttesterTools, type UnattestedBurn } from './attesterTools.js'
import type { AttestedMessage } from '../../evm/bridges/bridge.js'

/** Requests the messages of the burns of one transaction. Never throws, so that a failure delays no other one. */
export async function attestBurns(
  tools: AttesterTools,
  key: string,
  burns: [UnattestedBurn, ...UnattestedBurn[]],
): Promise<void> {
  const onFailure = (error: unknown) => {
    logFailure(tools, error)
  }
  const { sourceDomain, txHash } = burns[0]
  try {
    const messages = await tools.attestations.readMessages(sourceDomain, txHash)
    if (tools.complaint) tools.log.info({}, 'attestation service reachable again')
    tools.complaint = undefined
    // Sequential: a message that one burn has claimed must not go to another burn.
    for (const burn of burns) await attestBurn(tools, { key, burn, messages }).catch(onFailure)
  } catch (error) {
    onFailure(error)
  }
}

type Attestable = { key: string; burn: UnattestedBurn; messages: AttestedMessage[] }

/** Stores the message of a burn if it is new, or requests a new attestation of an expired or refused one. */
async function attestBurn(
  tools: AttesterTools,
  { key, burn, messages }: Attestable,
): Promise<void> {
  const { db, attestations, log, schedules } = tools
  const { operationId } = burn
  const own = await findOwn(tools, burn, messages)
  if (!own) return storeDelayReason(tools, burn, messages)
  const facts = { operation: operationId, nonce: own.eventNonce }
  // New attesters may sign the same message again.
  const isNew = own.message !== burn.message || own.attestation !== burn.attestation
  if (isNew) {
    faultPoint('attester: before the message is stored')
    await setAttested(db, operationId, own)
    // The next request of this transaction checks for expiry only. A refused message keeps its growing delay.
    if (!burn.isRefused) schedules.delete(key)
    log.info(facts, 'burn attested')
  } else if (isProvisional(tools, own.message)) {
    if (await attestations.reattest(own.eventNonce))
      log.info(facts, 'renewed attestation requested')
    else log.warn(facts, 'renewed attestation rejected by the service')
  }
}

/** Whether the service can attest a message again: one before the finality of its burn, which expires. */
const isProvisional = ({ attestations: { bridge } }: AttesterTools, message: string) =>
  bridge.readMessage(message).expirationBlock !== 0n

/**
 * Stores why a burn without a message becomes a standard transfer. A pending message does not show whose it is, so the
 * messages of a transaction must have the same reason.
 */
async function storeDelayReason(
  { db, log }: AttesterTools,
  { operationId, message, delayReason }: UnattestedBurn,
  messages: AttestedMessage[],
): Promise<void> {
  const reasons = new Set(messages.map((one) => one.delayReason))
  const [shared] = reasons
  const reason = reasons.size === 1 && shared ? shared : null
  if (messages.length === 0 || message !== null || reason === delayReason) return
  await setDelayReason(db, operationId, reason)
  log.warn({ operation: operationId, reason }, 'speed of the attestation changed')
}

/** The message of a burn among the messages of its transaction; undefined until it is attested. */
async function findOwn(
  { db, attestations: { bridge } }: AttesterTools,
  burn: OpenBurn,
  messages: AttestedMessage[],
) {
  const found = messages.flatMap(({ message, attestation }) => {
    if (!message || !attestation || !bridge.isSameMessage(burn.sent, message)) return []
    return [{ eventNonce: bridge.readMessage(message).nonce, message, attestation }]
  })
  if (found.length === 0) return undefined
  // Two burns of one transaction may be equal. Each has its own message.
  const nonces = found.map(({ eventNonce }) => eventNonce)
  const claimed = await findClaimedNonces(db, burn, nonces)
  // A stored nonce stays, because its mint may be in flight, unless a reorg moved the burn to another transaction.
  const isKnown = messages.some(({ eventNonce }) => eventNonce.toLowerCase() === burn.eventNonce)
  return found.find(({ eventNonce }) =>
    isKnown ? eventNonce === burn.eventNonce : !claimed.includes(eventNonce),
  )
}
