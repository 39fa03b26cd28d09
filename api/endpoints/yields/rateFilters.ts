import { protocols, tokenSymbols } from '../../../evm/registry.js'
import { chainInput, chainInputNames, knownName } from '../../schemas/parameters.js'

/** The published document lists the names as they are written. */
const listed = (names: readonly string[]) => ({ type: 'string' as const, enum: [...names] })

/** Query parameters that filter rates. An unknown name is rejected: it would match nothing. */
export const rateFilters = {
  chain: chainInput.optional().meta({
    description: 'Only this chain, by its name or alias.',
    examples: ['arbitrum'],
    override: listed(chainInputNames),
  }),
  asset: knownName(tokenSymbols)
    .optional()
    .meta({
      description: 'Only this token.',
      examples: ['USDC'],
      override: listed(tokenSymbols),
    }),
  protocol: knownName(protocols)
    .optional()
    .meta({
      description: 'Only this lending protocol.',
      examples: ['aave-v3'],
      override: listed(protocols),
    }),
}
