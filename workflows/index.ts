export { executeIntent } from './executeIntent.js'
export { fundWallet } from './fundWallet.js'
