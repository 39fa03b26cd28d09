import { buildDashboard } from './parts/dashboard.js'

const wasBuilt = await buildDashboard()
console.log(wasBuilt ? 'Built web/dist.' : 'web/dist is up to date.')
