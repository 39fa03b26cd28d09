import { describe, expect, test } from 'vitest'
import { Interface, getAddress, toBeHex, zeroPadValue } from 'ethers'
import { ENTRY_POINT_ADDRESS, createRegistry, type Chain } from '../../../evm/registry.js'
import { toMined } from '../../../relayer/outcomeLogs.js'
import { isOutcomeOf, readOutcome, type OutcomeLog } from '../../../evm/logs/outcomes.js'
import type { EventLog, Receipt } from '../../../evm/read.js'
import type { WatchedOperation } from '../../../operations/indexing/watched.js'

const events = new Interface([
  `event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster,
    uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)`,
  'event BeforeExecution()',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  `event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender,
    uint32 indexed finalityThresholdExecuted, bytes messageBody)`,
  `event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount,
    uint16 indexed referralCode)`,
])

const chain: Chain = createRegistry('testnet').get('arbitrum-sepolia')
const { address: usdc } = chain.usdc
const addressOf = (n: number) => getAddress(zeroPadValue(toBeHex(n), 20))
const [wallet, stranger, treasury] = [addressOf(1), addressOf(2), addressOf(3)]
const word = zeroPadValue('0x07', 32)
const key = zeroPadValue('0x07', 24)

let logIndex = 0
function logOf(address: string, name: string, values: unknown[]): EventLog {
  const { topics, data } = events.encodeEventLog(name, values)
  const at = { blockNumber: 5n, blockHash: '0x05', transactionHash: '0x06' }
  return { address, topics: topics, data, ...at, logIndex: logIndex++ }
}
const executed = (emitter: string, sender = wallet, gasUsed = 100n) =>
  logOf(emitter, 'UserOperationEvent', [
    ...[word, sender, addressOf(0), 7n << 64n, true, 0n, gasUsed],
  ])
const authorized = (emitter: string, authorizer = treasury) =>
  logOf(emitter, 'AuthorizationUsed', [authorizer, word])
const received = (emitter: string) =>
  logOf(emitter, 'MessageReceived', [stranger, 0, word, word, 2_000, '0x'])
const transferred = (emitter: string, to: string, units: bigint) =>
  logOf(emitter, 'Transfer', [treasury, to, units])
const supplied = (units: bigint) => {
  const [market] = chain.markets
  const { address = '', underlying = '' } = market ?? {}
  return logOf(address, 'Supply', [underlying, wallet, wallet, units, 0])
}

const watched = (kind: WatchedOperation['kind']): WatchedOperation => ({
  ...{ id: 'op', intentId: 'intent', sequence: 1, kind, state: 'signed', blockHash: null },
  ...{ chainKey: kind === 'fund' || kind === 'mint' ? word : key, wallet, treasury },
})
function outcomeOf(log: EventLog): OutcomeLog {
  const outcome = readOutcome(chain, log)
  if (!outcome) throw new Error('The log is no outcome.')
  return outcome
}
const receiptOf = (logs: EventLog[], gasUsed = 1_000n): Receipt => ({
  ...{ transactionHash: '0x06', blockNumber: 5n, blockHash: '0x05', success: true, gasUsed },
  ...{ gasPriceWei: 1n, l1FeeWei: 0n, logs },
})
const minedOf = (kind: WatchedOperation['kind'], own: EventLog, logs: EventLog[]) =>
  toMined(chain, watched(kind), {
    ...{ outcome: outcomeOf(own), ethPriceE8: 0n },
    bundleTransaction: { receipt: receiptOf(logs), isOurs: true },
  })

describe('readOutcome', () => {
  const { messageTransmitter } = chain.cctp
  test.each([
    ['of a user operation', executed, ENTRY_POINT_ADDRESS, 'userOperation', key],
    ['of a funding', authorized, usdc, 'authorization', word],
    ['of a mint', received, messageTransmitter, 'message', word],
  ])('%s: only from its own contract', (_title, createLogOf, emitter, source, key) => {
    expect(readOutcome(chain, createLogOf(emitter))).toMatchObject({ source, key })
    expect(readOutcome(chain, createLogOf(addressOf(9)))).toBeUndefined()
  })

  test('only for the operation of the acting account', () => {
    const own = (log: EventLog, kind: WatchedOperation['kind']) =>
      isOutcomeOf(outcomeOf(log), watched(kind))
    expect(own(executed(ENTRY_POINT_ADDRESS), 'deposit')).toBe(true)
    expect(own(executed(ENTRY_POINT_ADDRESS, stranger), 'deposit')).toBe(false)
    expect(own(authorized(usdc), 'fund')).toBe(true)
    expect(own(authorized(usdc, stranger), 'fund')).toBe(false)
    expect(own(authorized(usdc, wallet), 'fund')).toBe(false)
  })

  test('only for the operation kind of its contract', () => {
    const message = outcomeOf(received(messageTransmitter))
    const authorization = outcomeOf(authorized(usdc))
    expect(isOutcomeOf(message, watched('mint'))).toBe(true)
    expect(isOutcomeOf(message, watched('fund'))).toBe(false)
    expect(isOutcomeOf(authorization, watched('mint'))).toBe(false)
  })

  test('only for the operation with its key', () => {
    const other = { ...watched('deposit'), chainKey: zeroPadValue('0x08', 24) }
    expect(isOutcomeOf(outcomeOf(executed(ENTRY_POINT_ADDRESS)), other)).toBe(false)
  })
})

describe('readMoved', () => {
  test("reads the operation's own logs, and ignores those of a wrapping contract", () => {
    const before = supplied(9_000_000n)
    const mark = logOf(ENTRY_POINT_ADDRESS, 'BeforeExecution', [])
    const own = supplied(1_000_000n)
    const end = executed(ENTRY_POINT_ADDRESS)
    const after = supplied(9_000_000n)
    const mined = minedOf('deposit', end, [before, mark, own, end, after])
    expect(mined).toMatchObject({ success: true, units: 1_000_000n, gasUsed: 1_000n })
  })

  test("reads a funding from the token's transfer to the wallet after the authorization", () => {
    const logs = [transferred(usdc, wallet, 9n)]
    const own = authorized(usdc)
    logs.push(own, transferred(addressOf(9), wallet, 8n), transferred(usdc, stranger, 7n))
    logs.push(logOf(usdc, 'Approval', [treasury, wallet, 6n]))
    logs.push(transferred(usdc, wallet, 1_000_000n))
    expect(minedOf('fund', own, logs)).toMatchObject({ units: 1_000_000n, gasUsed: 1_000n })
  })
})

describe('the gas of a bundle', () => {
  test('is shared by its operations, independent of foreign logs', () => {
    const foreign = executed(addressOf(9), stranger, 10n ** 12n)
    const [one, other] = [
      executed(ENTRY_POINT_ADDRESS, wallet, 300n),
      executed(ENTRY_POINT_ADDRESS, stranger, 200n),
    ]
    const logs = [foreign, one, other]
    // 501 gas are common; the first operation includes the odd unit.
    const receipt = receiptOf(logs, 1_001n)
    const gasOf = (log: EventLog) => {
      const bundleTransaction = { receipt, isOurs: true }
      const mining = { outcome: outcomeOf(log), bundleTransaction, ethPriceE8: 0n }
      return toMined(chain, watched('deposit'), mining).gasUsed
    }
    expect([gasOf(one), gasOf(other)]).toEqual([551n, 450n])
  })

  test('is read only from an event with the shape of a user operation', () => {
    const whole = executed(ENTRY_POINT_ADDRESS)
    for (const data of ['0x', whole.data.slice(0, -64), whole.data.slice(2)]) {
      expect(() => readOutcome(chain, { ...whole, data })).toThrow()
    }
    const failed = { ...whole, data: `${whole.data.slice(0, 129)}0${whole.data.slice(130)}` }
    expect(readOutcome(chain, failed)).toMatchObject({ success: false, key })
  })

  test('is 0 for a mint in a foreign transaction', () => {
    const own = received(chain.cctp.messageTransmitter)
    const mintedBy = (isOurs: boolean) => {
      const bundleTransaction = { receipt: receiptOf([own]), isOurs }
      const mining = { outcome: outcomeOf(own), bundleTransaction, ethPriceE8: 0n }
      return toMined(chain, watched('mint'), mining).gasUsed
    }
    expect([mintedBy(true), mintedBy(false)]).toEqual([1_000n, 0n])
  })
})
