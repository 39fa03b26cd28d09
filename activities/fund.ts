import { findFunding, setFundingCompleted } from '../db/intents/fundings.js'
import { isUnsettled, type Unsettled } from '../domain/intent/waitReason.js'
import { runStep, type StepResult, type Tools } from './step.js'

export type FundInput = { fundingId: string; deadlineMs: number }

/** Sends the test money of a funding. Its EIP-3009 nonce prevents a second payment. */
export async function fund(
  tools: Tools,
  { fundingId, deadlineMs }: FundInput,
): Promise<StepResult | Unsettled> {
  const funding = await findFunding(tools.db, fundingId)
  if (!funding) throw new Error(`Funding ${fundingId} is missing.`)
  const { accountId, walletId } = funding
  const result = await runStep(tools, {
    order: {
      intentId: fundingId,
      sequence: 1,
      kind: 'fund',
      accountId,
      walletId,
      chainId: Number(funding.chainId),
    },
    deadlineMs,
  })
  if (isUnsettled(result)) return result
  await setFundingCompleted(tools.db, fundingId)
  return result
}
