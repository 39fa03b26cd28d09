import { connect } from '../../../db/client/connect.js'
import { createLog } from '../../../runtime/log.js'
import { connectTemporal } from '../../../workflows/client/connect.js'
import { createGuard } from '../../../activities/webhooks/address.js'
import { runDeliveries } from '../../../worker/deliveries.js'
import { loadWebhookKey } from '../../../worker/webhookKey.js'

/** Delivers webhooks in a separate process that a test may kill. */
const [url = '', address = '', keyFile = '', codePath = ''] = process.argv.slice(2)
const db = connect(url, 10)
const temporal = { untilThere: () => Promise.resolve() }
await runDeliveries(
  {
    ...{ db, url, address, temporal, log: createLog('worker', 'warn') },
    key: await loadWebhookKey(db, keyFile),
    guard: createGuard({ isDevnet: true }),
    client: connectTemporal(address, 'default'),
    options: { namespace: 'default', workflowBundle: { codePath } },
    retryDelayMs: () => 200,
  },
  new AbortController().signal,
)
