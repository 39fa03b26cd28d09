import type { Funds, Intent } from '../../api/types.js'
import { amountText, percentText, usdText } from '../../text/amount.js'
import { chainText, marketText, namesIn } from '../../text/names.js'
import { durationText } from '../../text/time.js'
import { stepText } from './timeline.js'

const past: Record<Intent['action'], string> = {
  lend: 'Lent',
  withdraw: 'Withdrew',
  bridge: 'Bridged',
}

/** The state of an intent in one sentence. */
export function sentenceOf(intent: Intent): string {
  const { status, error, waitingFor } = intent
  switch (status) {
    case 'completed':
      return completedSentence(intent)
    case 'failed':
      return error ? namesIn(error.message) : 'The intent failed.'
    case 'pending':
      return waitingFor
        ? namesIn(waitingFor.message)
        : 'Stored. Planning starts when the chains answer.'
    case 'planning':
      return 'Planned. The first step starts soon.'
    case 'executing':
      return executingSentence(intent)
  }
}

function executingSentence({ executionPlan, currentStep, waitingFor }: Intent): string {
  const steps = executionPlan?.steps ?? []
  const step = steps.find(({ sequence }) => sequence === currentStep)
  const place = step && `Step ${step.sequence} of ${steps.length}: ${stepText(step)}.`
  const parts = [place, waitingFor && namesIn(waitingFor.message)].filter(Boolean)
  return parts.join(' ') || 'The intent is executing.'
}

function completedSentence(intent: Intent): string {
  const { action, results, asset, executionPlan, createdAt, completedAt } = intent
  const amount = amountText(results?.finalAmount ?? intent.amount)
  const took = completedAt && durationText(Date.parse(completedAt) - Date.parse(createdAt))
  const apy = action === 'lend' ? results?.apy : undefined
  return [
    `${past[action]} ${amount} ${asset}`,
    executionPlan && ` on ${chainText(executionPlan.targetChain)}`,
    apy !== undefined && ` at ${percentText(apy)}`,
    took && `, in ${took}`,
    results &&
      results.totalGasCostUsd !== null &&
      `, for ${usdText(results.totalGasCostUsd)} of gas`,
    '.',
  ]
    .filter(Boolean)
    .join('')
}

/** Where the money is: `0.9999 USDC in the wallet on Base Sepolia`. */
export function fundsText({ chain, asset, amount, protocol }: Funds[number]): string {
  const sum = `${amountText(amount)} ${asset}`
  if (chain === 'bridge') return `${sum} in the bridge, between two chains`
  if (protocol) return `${sum} lent to ${marketText({ protocol, chain })}`
  return `${sum} in the wallet on ${chainText(chain)}`
}
