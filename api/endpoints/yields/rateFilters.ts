import { safeText } from '../../schemas/safeText.js'

/** Query parameters that filter rates. */
export const rateFilters = {
  chain: safeText(32)
    .optional()
    .meta({ description: 'Only this chain, by its name or alias.', examples: ['arbitrum'] }),
  asset: safeText(32)
    .optional()
    .meta({ description: 'Only this token.', examples: ['USDC'] }),
  protocol: safeText(32)
    .optional()
    .meta({ description: 'Only this lending protocol.', examples: ['aave-v3'] }),
}
