import { safeText } from '../../domain/intent.js'
import { plannedIntent, walletAnswer } from './examples.js'

/** Identifiers as requests carry them. An unknown one is not found, whatever it looks like. */
export const walletIdInput = safeText(64).meta({
  description: 'Id of a wallet, as `POST /wallets` returned it.',
  examples: [walletAnswer.id],
})

export const intentIdInput = safeText(64).meta({
  description: 'Id of an intent, as `POST /intents` returned it.',
  examples: [plannedIntent.id],
})

export const userIdInput = safeText(128).meta({
  description: 'Your own identifier for the end user. One user has one wallet.',
  examples: [walletAnswer.userId],
})

export const readTokenInput = safeText(64).optional().meta({
  description:
    'A token of `POST /intents/{intentId}/read-token`, for browsers, where no `Authorization` can be sent.',
})
