import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { HDNodeWallet, Interface, ZeroAddress, ZeroHash, keccak256, zeroPadValue } from 'ethers'
import { type ChainClient } from '../../chains/connect.js'
import { readBalance, readContract } from '../../chains/read.js'
import { type ChainName } from '../../chains/registry.js'
import { devnetMnemonic } from '../../devnet/anvil.js'
import { type Faults } from '../../devnet/attestation.js'
import { attesterAddress } from '../../devnet/cctp.js'
import { startIris, type Iris } from '../../devnet/iris.js'
import { mine, startChains, type TestChains } from '../planning/chains.js'
import { sendFrom, users } from './send.js'

const [sender, recipient, stranger] = users
const usdc = 1_000_000n
const confirmations = { fast: 2, standard: 4 }

/** As Circle publishes it, so that the stand-ins are held to the real names. */
const messenger = new Interface([
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
const transmitter = new Interface([
  'function receiveMessage(bytes message, bytes attestation) returns (bool)',
  'function usedNonces(bytes32 nonce) view returns (uint256)',
  `event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce,
    bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)`,
])
const token = new Interface([
  'function approve(address spender, uint256 amount)',
  'function totalSupply() view returns (uint256)',
])

let world: TestChains
let iris: Iris
let arbitrum: ChainClient
let base: ChainClient

const startAttesting = () =>
  startIris({
    port: 0,
    confirmations,
    chains: [arbitrum, base].map(({ chain }) => ({
      domain: chain.cctp.domain,
      rpcUrl: world.urls[chain.name],
      transmitter: chain.cctp.messageTransmitter,
    })),
  })

beforeAll(async () => {
  world = await startChains(['arbitrum-sepolia', 'base-sepolia'])
  const client = (name: ChainName) => world.chains.byId(world.registry.get(name).chainId)
  ;[arbitrum, base] = [client('arbitrum-sepolia'), client('base-sepolia')]
  iris = await startAttesting()
})
afterAll(async () => {
  await iris?.stop()
  await world?.stop()
})
afterEach(() =>
  setFaults({ delayMs: 0, stuck: false, notFound: false, expire: false, outage: false }),
)

async function setFaults(faults: Partial<Faults>): Promise<number> {
  const body = JSON.stringify(faults)
  return (await fetch(`${iris.url}/dev/faults`, { method: 'POST', body })).status
}

type Order = Partial<{ to: ChainClient; amount: bigint; maxFee: bigint; finality: number }>

const burnCall = (from: ChainClient, order: Order & { caller?: string; recipient?: string }) => {
  const { to = base, amount = usdc, maxFee = 200n, finality = 1_000, caller = ZeroAddress } = order
  const words = [order.recipient ?? recipient, caller].map((account) => zeroPadValue(account, 32))
  const [mintRecipient, destinationCaller] = words
  const { domain } = to.chain.cctp
  const place = [amount, domain, mintRecipient, from.chain.usdc.address, destinationCaller]
  const data = messenger.encodeFunctionData('depositForBurn', [...place, maxFee, finality])
  return { to: from.chain.cctp.tokenMessenger, data }
}

/** Burns new money of the sender, in a block of its own; the hash of the transaction. */
async function burn(from: ChainClient, order: Parameters<typeof burnCall>[1] = {}) {
  const { amount = usdc } = order
  const { name, usdc: asset, cctp } = from.chain
  await world.mint(name, sender, amount)
  const approve = token.encodeFunctionData('approve', [cctp.tokenMessenger, amount])
  await sendFrom(from, sender, { to: asset.address, data: approve })
  return (await sendFrom(from, sender, burnCall(from, order))).transactionHash
}

type Message = {
  message: string
  attestation: string
  eventNonce: string
  status: string
  delayReason: string | null
  decodedMessage: { decodedMessageBody: Record<string, string> } & Record<string, string>
}

async function ask(
  from: ChainClient,
  hash: string,
): Promise<{ status: number; message?: Message }> {
  const { domain } = from.chain.cctp
  const answer = await fetch(`${iris.url}/v2/messages/${domain}?transactionHash=${hash}`)
  const { messages } = (await answer.json()) as { messages?: Message[] }
  return { status: answer.status, ...(messages?.[0] ? { message: messages[0] } : {}) }
}

/** The attested message of a burn, after so many blocks on top. */
async function attested(from: ChainClient, hash: string, blocks = 1): Promise<Message> {
  await mine(world.urls[from.chain.name], blocks)
  const { message } = await ask(from, hash)
  if (message?.status !== 'complete') throw new Error('It is not attested.')
  return message
}

const mintCall = (
  to: ChainClient,
  { message, attestation }: Pick<Message, 'message' | 'attestation'>,
) => ({
  to: to.chain.cctp.messageTransmitter,
  data: transmitter.encodeFunctionData('receiveMessage', [message, attestation]),
})
const mintAt = (to: ChainClient, message: Message, by: string = stranger) =>
  sendFrom(to, by, mintCall(to, message))

/** What a call would be refused with. */
async function refusal(client: ChainClient, from: string, call: object): Promise<string> {
  const answer = client.send('eth_call', [{ from, ...call }, 'latest'])
  return answer.then(
    () => 'It was taken.',
    (error: Error) => error.message,
  )
}

const balanceOf = ({ chain }: ChainClient, owner: string, client: ChainClient) =>
  readBalance(client, chain.usdc.address, owner, 'latest')
const held = (client: ChainClient, owner: string) => balanceOf(client, owner, client)
const supplyOf = async (client: ChainClient) => {
  const { address } = client.chain.usdc
  return (await readContract(client, address, token, 'totalSupply', []))[0] as bigint
}
const post = (path: string) => fetch(`${iris.url}${path}`, { method: 'POST' })

describe('a fast transfer', () => {
  test.each([
    ['arbitrum to base', () => [arbitrum, base] as const],
    ['base to arbitrum', () => [base, arbitrum] as const],
  ])('%s: what arrives and the fee are together what was burned', async (_title, route) => {
    const [from, to] = route()
    const before = await Promise.all([supplyOf(from), supplyOf(to)])
    const [had, fees] = await Promise.all([held(to, recipient), held(to, attesterAddress)])
    const hash = await burn(from, { to, amount: 3n * usdc, maxFee: 400n })
    expect(await supplyOf(from)).toBe(before[0])
    const receipt = await mintAt(to, await attested(from, hash))
    expect((await held(to, recipient)) - had).toBe(2_999_700n)
    expect((await held(to, attesterAddress)) - fees).toBe(300n)
    expect((await supplyOf(to)) - before[1]).toBe(3n * usdc)
    const minted = receipt.logs.map((log) => messenger.parseLog(log)).find((event) => event)
    const { address } = to.chain.usdc
    expect(minted?.args.toArray()).toEqual([recipient, 2_999_700n, address, 300n])
    const received = receipt.logs.map((log) => transmitter.parseLog(log)).find((event) => event)
    expect(received?.args.toObject()).toMatchObject({
      caller: stranger,
      sourceDomain: BigInt(from.chain.cctp.domain),
      finalityThresholdExecuted: 1_000n,
    })
  })

  test('is unknown, then pending, then complete', async () => {
    expect((await ask(arbitrum, ZeroHash)).status).toBe(404)
    const hash = await burn(arbitrum)
    const pending = (await ask(arbitrum, hash)).message
    expect(pending).toMatchObject({ status: 'pending_confirmations', attestation: 'PENDING' })
    expect(pending).toMatchObject({ message: null, decodedMessage: null, delayReason: null })
    expect((await attested(arbitrum, hash)).eventNonce).toBe(pending?.eventNonce)
  })

  test('is described as Circle does: numbers are text', async () => {
    const hash = await burn(arbitrum, { maxFee: 250n })
    const { decodedMessage, eventNonce, ...rest } = await attested(arbitrum, hash)
    expect(rest).toMatchObject({ cctpVersion: 2, status: 'complete', delayReason: null })
    expect(decodedMessage).toMatchObject({
      ...{ sourceDomain: '3', destinationDomain: '6', nonce: eventNonce },
      ...{ minFinalityThreshold: '1000', finalityThresholdExecuted: '1000' },
      ...{ sender: arbitrum.chain.cctp.tokenMessenger, recipient: base.chain.cctp.tokenMessenger },
      destinationCaller: ZeroAddress,
      decodedMessageBody: {
        ...{ burnToken: arbitrum.chain.usdc.address, mintRecipient: recipient },
        ...{ amount: '1000000', messageSender: sender, maxFee: '250', feeExecuted: '100' },
        expirationBlock: expect.stringMatching(/^[1-9]\d*$/),
        hookData: '0x',
      },
    })
  })

  test('tells of the burn in the event of the messenger', async () => {
    const hash = await burn(arbitrum)
    const receipt = await arbitrum.send<{ logs: { topics: string[]; data: string }[] }>(
      'eth_getTransactionReceipt',
      [hash],
    )
    const event = receipt.logs.map((log) => messenger.parseLog(log)).find((one) => one)
    expect(event?.args.toObject()).toMatchObject({
      ...{ burnToken: arbitrum.chain.usdc.address, amount: usdc, depositor: sender },
      ...{ destinationDomain: 6n, maxFee: 200n, minFinalityThreshold: 1_000n, hookData: '0x' },
    })
  })

  test('cannot be minted twice', async () => {
    const message = await attested(arbitrum, await burn(arbitrum))
    const { messageTransmitter } = base.chain.cctp
    const used = async () =>
      (
        await readContract(base, messageTransmitter, transmitter, 'usedNonces', [
          message.eventNonce,
        ])
      )[0]
    expect(await used()).toBe(0n)
    await mintAt(base, message)
    expect(await used()).toBe(1n)
    expect(await refusal(base, stranger, mintCall(base, message))).toContain('Nonce already used')
  })
})

describe('a standard transfer', () => {
  test('waits for finality and costs nothing', async () => {
    const had = await held(base, recipient)
    const hash = await burn(arbitrum, { finality: 2_000, maxFee: 0n })
    await mine(world.urls['arbitrum-sepolia'], 1)
    expect((await ask(arbitrum, hash)).message?.status).toBe('pending_confirmations')
    const message = await attested(arbitrum, hash, 2)
    expect(message.decodedMessage).toMatchObject({
      finalityThresholdExecuted: '2000',
      decodedMessageBody: { feeExecuted: '0', expirationBlock: '0' },
    })
    await mintAt(base, message)
    expect((await held(base, recipient)) - had).toBe(usdc)
  })

  test('is what a fast one becomes that pays less than the fee', async () => {
    const had = await held(base, recipient)
    const hash = await burn(arbitrum, { maxFee: 99n })
    await mine(world.urls['arbitrum-sepolia'], 1)
    const { message: pending } = await ask(arbitrum, hash)
    expect(pending).toMatchObject({
      status: 'pending_confirmations',
      delayReason: 'insufficient_fee',
    })
    const message = await attested(arbitrum, hash, 2)
    expect(message.delayReason).toBe('insufficient_fee')
    await mintAt(base, message)
    expect((await held(base, recipient)) - had).toBe(usdc)
  })
})

describe('an attestation that has expired', () => {
  test('is refused, made again as final, and minted at the same fee', async () => {
    await setFaults({ expire: true })
    const hash = await burn(arbitrum)
    const expired = await attested(arbitrum, hash)
    expect(await refusal(base, stranger, mintCall(base, expired))).toContain('Message expired')
    expect((await post(`/v2/reattest/${expired.eventNonce}`)).status).toBe(200)
    const renewed = await attested(arbitrum, hash, 2)
    expect(renewed.decodedMessage).toMatchObject({
      finalityThresholdExecuted: '2000',
      decodedMessageBody: { feeExecuted: '100', expirationBlock: '0' },
    })
    const had = await held(base, recipient)
    await mintAt(base, renewed)
    expect((await held(base, recipient)) - had).toBe(999_900n)
    expect(await refusal(base, stranger, mintCall(base, expired))).toContain('Nonce already used')
  })

  test('stays as it is until the burn is final', async () => {
    await setFaults({ expire: true })
    const hash = await burn(arbitrum)
    const { eventNonce, message } = await attested(arbitrum, hash)
    await post(`/v2/reattest/${eventNonce}`)
    expect((await ask(arbitrum, hash)).message?.message).toBe(message)
  })

  test('404 for a nonce that was never attested', async () => {
    expect((await post(`/v2/reattest/${ZeroHash}`)).status).toBe(404)
  })
})

describe('POST /dev/faults', () => {
  test('stuck: pending until it is switched off', async () => {
    await setFaults({ stuck: true })
    const hash = await burn(arbitrum)
    await expect(attested(arbitrum, hash, 9)).rejects.toThrow('not attested')
    await setFaults({ stuck: false })
    await attested(arbitrum, hash, 0)
  })

  test('delayMs: pending until it has passed', async () => {
    await setFaults({ delayMs: 3_600_000 })
    const hash = await burn(arbitrum)
    await expect(attested(arbitrum, hash, 9)).rejects.toThrow('not attested')
    await setFaults({ delayMs: 1 })
    while ((await ask(arbitrum, hash)).message?.status !== 'complete');
  })

  test('notFound: 404 until it is switched off', async () => {
    await setFaults({ notFound: true })
    const hash = await burn(arbitrum)
    expect((await ask(arbitrum, hash)).status).toBe(404)
    await setFaults({ notFound: false })
    expect((await ask(arbitrum, hash)).status).toBe(200)
  })

  test('outage: 503 everywhere, and what was attested is there afterwards', async () => {
    const hash = await burn(arbitrum)
    const message = await attested(arbitrum, hash)
    await setFaults({ outage: true })
    expect((await ask(arbitrum, hash)).status).toBe(503)
    expect((await fetch(`${iris.url}/v2/fastBurn/USDC/allowance`)).status).toBe(503)
    await setFaults({ outage: false })
    expect((await ask(arbitrum, hash)).message).toEqual(message)
  })

  test.each([{ stuk: true }, { delayMs: -1 }, 'stuck'])('400 for %j', async (faults) => {
    expect(await setFaults(faults as object)).toBe(400)
  })
})

describe('startIris', () => {
  test('gives a burn the same nonce after a restart', async () => {
    const hash = await burn(arbitrum)
    const first = await attested(arbitrum, hash)
    await iris.stop()
    iris = await startAttesting()
    expect((await ask(arbitrum, hash)).message?.eventNonce).toBe(first.eventNonce)
  })

  test('knows a burn on its own chain only', async () => {
    const hash = await burn(arbitrum)
    expect((await ask(base, hash)).status).toBe(404)
  })

  test('tells fees and allowance', async () => {
    const read = async (path: string) => (await fetch(iris.url + path)).json() as Promise<unknown>
    expect(await read('/v2/burn/USDC/fees/3/6')).toEqual([
      { finalityThreshold: 1_000, minimumFee: 1 },
      { finalityThreshold: 2_000, minimumFee: 0 },
    ])
    const allowance = { allowance: expect.any(Number), lastUpdated: expect.any(String) }
    expect(await read('/v2/fastBurn/USDC/allowance')).toEqual(allowance)
  })

  test.each(['/v2/burn/USDC/fees/3/99', '/v2/messages/99?transactionHash=', '/v1/x'])(
    'answers %s with an error',
    async (path) => {
      const hash = path.endsWith('=') ? ZeroHash : ''
      expect((await fetch(iris.url + path + hash)).status).toBe(404)
    },
  )

  test('400 without a transaction hash', async () => {
    expect((await fetch(`${iris.url}/v2/messages/3`)).status).toBe(400)
  })
})

describe('receiveMessage refuses', () => {
  test('another signature, and another message under the same one', async () => {
    const { message, attestation } = await attested(arbitrum, await burn(arbitrum))
    const thief = HDNodeWallet.fromPhrase(devnetMnemonic)
    const forged = thief.signingKey.sign(keccak256(message)).serialized
    const more = message.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
    for (const pair of [
      { message, attestation: forged },
      { message: more, attestation },
    ]) {
      expect(await refusal(base, stranger, mintCall(base, pair))).toMatch(/attester|signature/)
    }
  })

  test('the bytes that the burn emitted, which carry no nonce', async () => {
    const { message } = await attested(arbitrum, await burn(arbitrum))
    const key = HDNodeWallet.fromPhrase(devnetMnemonic, undefined, `m/44'/60'/0'/0/9`).signingKey
    const bare = message.slice(0, 26) + '0'.repeat(64) + message.slice(90)
    const attestation = key.sign(keccak256(bare)).serialized
    const reason = await refusal(base, stranger, mintCall(base, { message: bare, attestation }))
    expect(reason).toContain('Nonce already used')
  })

  test('another chain, and whoever is not the caller that the burn names', async () => {
    const message = await attested(arbitrum, await burn(arbitrum, { caller: recipient }))
    expect(await refusal(arbitrum, recipient, mintCall(arbitrum, message))).toContain('domain')
    expect(await refusal(base, stranger, mintCall(base, message))).toContain('Invalid caller')
    await mintAt(base, message, recipient)
  })
})

describe('depositForBurn refuses', () => {
  const nowhere = () => ({ chain: { ...base.chain, cctp: { ...base.chain.cctp, domain: 99 } } })
  test.each([
    ['no money', () => ({ amount: 0n, maxFee: 0n }), 'Amount must be nonzero'],
    ['no recipient', () => ({ recipient: ZeroAddress }), 'Mint recipient must be nonzero'],
    ['a fee of all', () => ({ maxFee: usdc }), 'Max fee must be less than amount'],
    ['an unknown domain', () => ({ to: nowhere() as ChainClient }), 'No TokenMessenger for domain'],
    ['more than the wallet has allowed', () => ({ amount: 10n ** 18n }), 'revert'],
  ])('%s', async (_title, order, reason) => {
    expect(await refusal(arbitrum, sender, burnCall(arbitrum, order()))).toContain(reason)
  })

  test('less than the least fee of the chain', async () => {
    const { tokenMessenger } = arbitrum.chain.cctp
    const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
    const leastFee = async (amount: bigint) =>
      (await readContract(arbitrum, tokenMessenger, messenger, 'getMinFeeAmount', [amount]))[0]
    const setMinFee = (thousandths: number) => {
      const data = messenger.encodeFunctionData('setMinFee', [thousandths])
      return sendFrom(arbitrum, owner, { to: tokenMessenger, data })
    }
    expect(await leastFee(usdc)).toBe(0n)
    await setMinFee(1_000)
    expect([await leastFee(usdc), await leastFee(2n)]).toEqual([100n, 1n])
    const call = burnCall(arbitrum, { maxFee: 99n })
    expect(await refusal(arbitrum, sender, call)).toContain('Insufficient max fee')
    await setMinFee(0)
  })
})

test('each chain knows the messenger of each other one', async () => {
  for (const [here, there] of [
    [arbitrum, base],
    [base, arbitrum],
  ] as const) {
    const { tokenMessenger } = here.chain.cctp
    const parameters = [there.chain.cctp.domain]
    const answer = await readContract(
      here,
      tokenMessenger,
      messenger,
      'remoteTokenMessengers',
      parameters,
    )
    expect(answer).toEqual([zeroPadValue(there.chain.cctp.tokenMessenger, 32).toLowerCase()])
  }
})
