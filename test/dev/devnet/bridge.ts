import { Interface, ZeroAddress, zeroPadValue } from 'ethers'
import { type ChainClient } from '../../../evm/connect.js'
import { readBalance } from '../../../evm/read.js'
import { type Faults } from '../../../dev/devnet/iris/attestation.js'
import { startIris } from '../../../dev/devnet/iris/iris.js'
import type { Limit } from '../../../dev/devnet/iris/limit.js'
import { mine, startChains } from '../../planning/chains.js'
import { sendFrom, users } from './send.js'

const [sender, recipient, stranger] = users
const usdc = 1_000_000n

/** The ABI as Circle publishes it, so that the stand-ins must match the real names. */
export const messenger = new Interface([
  `function depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient,
    address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)`,
  'function getMinFeeAmount(uint256 amount) view returns (uint256)',
  'function remoteTokenMessengers(uint32 domain) view returns (bytes32)',
  'function setMinFee(uint256 minFee)',
  `event DepositForBurn(address indexed burnToken, uint256 amount, address indexed depositor,
    bytes32 mintRecipient, uint32 destinationDomain, bytes32 destinationTokenMessenger,
    bytes32 destinationCaller, uint256 maxFee, uint32 indexed minFinalityThreshold, bytes hookData)`,
  `event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken,
    uint256 feeCollected)`,
])
export const transmitter = new Interface([
  'function receiveMessage(bytes message, bytes attestation) returns (bool)',
  'function usedNonces(bytes32 nonce) view returns (uint256)',
  `event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce,
    bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)`,
])
const token = new Interface(['function approve(address spender, uint256 amount)'])

/** The accounts that burn, receive, and submit messages. */
export const people = { sender, recipient, stranger }

export type BurnArguments = {
  from: ChainClient
  to: ChainClient
  amount?: bigint
  maxFee?: bigint
  finality?: number
  caller?: string
  recipient?: string
}

export type DeliveredMessage = {
  message: string
  attestation: string
  eventNonce: string
  status: string
  delayReason: string | null
  decodedMessage: { decodedMessageBody: Record<string, string | null> } & Record<string, string>
}

/** For tests that poll. */
const unlimited: Limit = { requests: Infinity, windowMs: 1, blockMs: 1 }

export type TestBridge = Awaited<ReturnType<typeof startBridge>>

/**
 * Two chains that mine a block per transaction. Burns are attested after 2 blocks, final ones after 4.
 */
export async function startBridge({ limit = unlimited }: { limit?: Limit } = {}) {
  const world = await startChains(['arbitrum-sepolia', 'base-sepolia'])
  const client = (name: 'arbitrum-sepolia' | 'base-sepolia') =>
    world.chains.byId(world.registry.get(name).chainId)
  const [arbitrum, base] = [client('arbitrum-sepolia'), client('base-sepolia')]
  let iris = await startAttesting()

  function startAttesting() {
    const chains = [arbitrum, base].map(({ chain }) => ({
      domain: chain.cctp.domain,
      rpcUrl: world.urls[chain.name],
      transmitter: chain.cctp.messageTransmitter,
    }))
    return startIris({ port: 0, confirmations: { fast: 2, standard: 4 }, chains, limit })
  }

  const ask = (path: string, init?: RequestInit) => fetch(iris.url + path, init)

  async function askFor(from: ChainClient, hash: string) {
    const answer = await ask(`/v2/messages/${from.chain.cctp.domain}?transactionHash=${hash}`)
    const { messages } = (await answer.json()) as { messages?: DeliveredMessage[] }
    return { status: answer.status, message: messages?.[0] }
  }

  return {
    ...{ arbitrum, base, ask, askFor },
    mine: (at: ChainClient, blocks: number) => mine(world.urls[at.chain.name], blocks),

    /** Burns new money of the sender in a block of its own. Returns the hash of the transaction. */
    async burn(order: BurnArguments): Promise<string> {
      const { from, amount = usdc } = order
      const { name, usdc: asset, cctp } = from.chain
      await world.mint(name, sender, amount)
      const data = token.encodeFunctionData('approve', [cctp.tokenMessenger, amount])
      await sendFrom(from, sender, { to: asset.address, data })
      return (await sendFrom(from, sender, burnCall(order))).transactionHash
    },

    /** The attested message of a burn, after the given number of blocks on top. */
    async attested(from: ChainClient, hash: string, blocks = 1): Promise<DeliveredMessage> {
      await mine(world.urls[from.chain.name], blocks)
      const { message } = await askFor(from, hash)
      if (message?.status !== 'complete') throw new Error('The burn is not attested.')
      return message
    },

    async setFaults(faults: Partial<Faults>): Promise<number> {
      return (await ask('/dev/faults', { method: 'POST', body: JSON.stringify(faults) })).status
    },

    async restartIris() {
      await iris.stop()
      iris = await startAttesting()
    },

    async stop() {
      await iris.stop()
      await world.stop()
    },
  }
}

export function burnCall(order: BurnArguments) {
  const { from, to, amount = usdc, maxFee = 200n, finality = 1_000 } = order
  const accounts = [order.recipient ?? recipient, order.caller ?? ZeroAddress]
  const [mintRecipient, caller] = accounts.map((account) => zeroPadValue(account, 32))
  const place = [amount, to.chain.cctp.domain, mintRecipient, from.chain.usdc.address, caller]
  const data = messenger.encodeFunctionData('depositForBurn', [...place, maxFee, finality])
  return { to: from.chain.cctp.tokenMessenger, data }
}

export const mintCall = (
  to: ChainClient,
  { message, attestation }: Pick<DeliveredMessage, 'message' | 'attestation'>,
) => ({
  to: to.chain.cctp.messageTransmitter,
  data: transmitter.encodeFunctionData('receiveMessage', [message, attestation]),
})

export const mintAt = (to: ChainClient, message: DeliveredMessage, by: string = stranger) =>
  sendFrom(to, by, mintCall(to, message))

/** The error of a call that reverts. */
export async function refusal(client: ChainClient, from: string, call: object): Promise<string> {
  const answer = client.send('eth_call', [{ from, ...call }, 'latest'])
  return answer.then(
    () => 'It was taken.',
    (error: Error) => error.message,
  )
}

export const held = (client: ChainClient, owner: string) =>
  readBalance(client, { token: client.chain.usdc.address, owner })
