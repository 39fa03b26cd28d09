import type { Intent } from '../../api/types.js'
import { chainText } from '../../text/shorten.js'

/** What the form holds, as texts. */
export type Draft = {
  walletId: string
  action: Intent['action']
  amount: string
  chain: string
  fromChain: string
  toChain: string
}

const DECIMAL = /^(0|[1-9]\d*)(\.\d{1,6})?$/

/** What is wrong with an amount, or undefined. Of a withdrawal `max` is one. */
export function amountFault({
  action,
  amount,
}: Pick<Draft, 'action' | 'amount'>): string | undefined {
  if (amount === '') return 'How much?'
  if (action === 'withdraw' && amount === 'max') return undefined
  if (!DECIMAL.test(amount)) return 'A number with at most six decimals, such as 12.5.'
  return Number(amount) > 0 ? undefined : 'More than nothing.'
}

/** The body of `POST /intents`; undefined while something is missing. */
export function requestOf(draft: Draft): Record<string, string> | undefined {
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

/** What the button says it will do: `Lend 25 USDC on Base Sepolia`. */
export function promiseOf({ action, amount, chain, toChain }: Draft, target?: string): string {
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
