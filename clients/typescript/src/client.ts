import { createApi } from './http/api.js'
import { createBalances } from './resources/balances.js'
import { createCredits } from './resources/credits.js'
import { createDemo } from './resources/demo.js'
import { createEvents } from './resources/events.js'
import { createIntents } from './resources/intents.js'
import { createPositions } from './resources/positions.js'
import { createWallets } from './resources/wallets.js'
import { createWebhooks } from './resources/webhooks.js'
import { createYields } from './resources/yields.js'
import { toSettings, type StewardOptions } from './settings.js'
import { verifyWebhook } from './webhooks/verify.js'

/** A client of one account. It holds no connection, so you can create one or many. */
export class Steward {
  /** Verifies webhooks without an API key. */
  static readonly webhooks = { verify: verifyWebhook }

  readonly wallets
  readonly balances
  readonly yields
  readonly intents
  readonly positions
  readonly demo
  readonly credits
  readonly events
  readonly webhooks

  /** @throws {TypeError} without a key or base URL, or with an API key in a browser. */
  constructor(options: StewardOptions = {}) {
    const api = createApi(toSettings(options))
    this.wallets = createWallets(api)
    this.balances = createBalances(api)
    this.yields = createYields(api)
    this.intents = createIntents(api)
    this.positions = createPositions(api)
    this.demo = createDemo(api)
    this.credits = createCredits(api)
    this.events = createEvents(api)
    this.webhooks = createWebhooks(api)
  }
}
