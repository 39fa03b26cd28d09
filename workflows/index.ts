/**
 * So many places of the code a trace names. The SDK takes one for each promise of a workflow; the nearest places tell
 * where something was thrown, and what a workflow waits for it tells itself.
 */
Error.stackTraceLimit = 3

export { deliverWebhook } from './deliverWebhook.js'
export { executeIntent } from './executeIntent.js'
export { fundWallet } from './fundWallet.js'
export { snapshotYields } from './snapshotYields.js'
