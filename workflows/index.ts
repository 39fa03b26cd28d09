export { deliverWebhook } from './deliverWebhook.js'
export { executeIntent } from './executeIntent.js'
export { fundWallet } from './fundWallet.js'
export { snapshotYields } from './snapshotYields.js'
