import type { Lane } from '../../db/lanes/signing.js'
import type { Turn } from '../../signer/loops.js'

export const laneOf = (sender: string): Lane => ({
  ...{ chainId: 1n, sender, kekId: 'kek', sealedKey: Buffer.alloc(0), purpose: 'operations' },
})

/** Something that happens when the test says so, any number of times. */
export function createGate() {
  const waiting: (() => void)[] = []
  return {
    wait: () => new Promise<void>((resolve) => waiting.push(resolve)),
    open: () => waiting.splice(0).forEach((resolve) => resolve()),
  }
}

/** Orders of a chain, announced when the test says so. */
export function createOrders() {
  const { wait, open } = createGate()
  return { wait: () => wait().then(() => 'queued'), open }
}

export const turns = () => new Promise((resolve) => setTimeout(resolve, 20))
export const nobodyElse = () => Promise.resolve(false)
export const none: Turn = { taken: 0, isFull: false, isAlone: false, over: Promise.resolve() }
