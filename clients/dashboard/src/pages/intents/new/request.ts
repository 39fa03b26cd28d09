import type { Intent } from '../../../api/types.js'
import { chainText } from '../../../text/names.js'

/** The values of the form, as text. */
export type IntentForm = {
  walletId: string
  action: Intent['action']
  amount: string
  chain: string
  fromChain: string
  toChain: string
}

const DECIMAL = /^(0|[1-9]\d*)(\.\d{1,6})?$/

/** The error of an amount, or undefined. A withdrawal accepts `max`. */
export function amountFault({
  action,
  amount,
}: Pick<IntentForm, 'action' | 'amount'>): string | undefined {
  if (amount === '') return 'Enter an amount.'
  if (action === 'withdraw' && amount === 'max') return undefined
  if (!DECIMAL.test(amount)) return 'Enter a number with at most 6 decimals, such as 12.5.'
  return Number(amount) > 0 ? undefined : 'Enter an amount above 0.'
}

/** The body of `POST /intents`. Undefined while a field is missing. */
export function requestOf(draft: IntentForm): Record<string, string> | undefined {
  const { walletId, action, amount, chain, fromChain, toChain } = draft
  if (!walletId || amountFault(draft)) return undefined
  const common = { walletId, action, amount }
  switch (action) {
    case 'lend':
      return chain ? { ...common, chain } : common
    case 'withdraw':
      return chain ? { ...common, chain } : undefined
    case 'bridge':
      return fromChain && toChain && fromChain !== toChain
        ? { ...common, fromChain, toChain }
        : undefined
  }
}

/** The label of the submit button: `Lend 25 USDC on Base Sepolia`. */
export function promiseOf({ action, amount, chain, toChain }: IntentForm, target?: string): string {
  const sum = amount === 'max' ? 'everything' : `${amount || '…'} USDC`
  const name = (where: string | undefined) => (where ? chainText(where) : '…')
  switch (action) {
    case 'lend':
      return `Lend ${sum} on ${name(target ?? chain)}`
    case 'withdraw':
      return `Withdraw ${sum} on ${name(chain)}`
    case 'bridge':
      return `Bridge ${sum} to ${name(toChain)}`
  }
}
