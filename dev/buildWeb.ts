import { buildDashboard } from './stack/dashboard.js'

const wasBuilt = await buildDashboard()
console.log(wasBuilt ? 'Built clients/dashboard/dist.' : 'clients/dashboard/dist is up to date.')
