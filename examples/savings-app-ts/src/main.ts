import { once } from 'node:events'
import { Steward } from '@steward/sdk'
import { createApp } from './http.js'
import { createOrders } from './orders.js'
import { createSavings } from './savings.js'
import { openStore } from './store.js'

const { PORT = '4000', STORE_FILE = 'savings.json' } = process.env

// Key and address come from STEWARD_API_KEY and STEWARD_BASE_URL.
const steward = new Steward()
const store = openStore(STORE_FILE)
const orders = createOrders(steward, store)
const savings = createSavings({ steward, store, orders })

const server = createApp(savings, () => Promise.resolve())
server.listen(Number(PORT), '127.0.0.1')
await once(server, 'listening')
console.log(`Savings at http://127.0.0.1:${(server.address() as { port: number }).port}`)
orders.resume()
