import { once } from 'node:events'
import { Steward } from '@steward/sdk'
import { createApp } from './http.js'
import { createOrders } from './orders.js'
import { createSavings } from './savings.js'
import { openStore } from './store.js'
import { createWebhooks } from './webhooks.js'

const { PORT = '4000', STORE_FILE = 'savings.json', WEBHOOK_URL } = process.env

// Key and address come from STEWARD_API_KEY and STEWARD_BASE_URL.
const steward = new Steward()
const store = openStore(STORE_FILE)
// With webhooks the process does not wait for intents.
const readIntent = (id: string) =>
  WEBHOOK_URL ? steward.intents.get(id) : steward.intents.waitForCompletion(id)
const orders = createOrders({ steward, store, readIntent })
const savings = createSavings({ steward, store, orders })
const webhooks = createWebhooks({ steward, store, orders })

const server = createApp(savings, webhooks.receive)
server.listen(Number(PORT), '127.0.0.1')
await once(server, 'listening')
if (WEBHOOK_URL) await webhooks.register(WEBHOOK_URL)
orders.resume()
console.log(`Savings at http://127.0.0.1:${(server.address() as { port: number }).port}`)
