import { constants } from 'node:buffer'
import * as fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import * as anvil from '../../../dev/devnet/anvil.js'
import type { Anvil, StartOptions } from '../../../dev/devnet/anvil.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { prepareState } from '../../../dev/devnet/state.js'

const chainId = 421614
const account = '0x00000000000000000000000000000000000000aa'

type Head = { number: number; timestamp: number; hash: string }

let folder = ''
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'steward-state-'))
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const started: Anvil[] = []
/** A node that ends with its test, also after a failure. */
async function startAnvil(options: StartOptions): Promise<Anvil> {
  const node = await anvil.startAnvil(options)
  started.push(node)
  return node
}
afterEach(async () => {
  for (const node of started.splice(0)) await node.stop()
})

async function readHead({ url }: Anvil, tag = 'latest'): Promise<Head> {
  const block = await callRpc<Record<keyof Head, string>>(url, 'eth_getBlockByNumber', [tag, false])
  const { number, timestamp, hash } = block
  return { number: Number(number), timestamp: Number(timestamp), hash }
}

async function waitForBlock(node: Anvil, number: number): Promise<void> {
  while ((await readHead(node)).number < number) await sleep(20)
}

describe('startAnvil', () => {
  test('ends the node; a second stop has no effect', async () => {
    const node = await startAnvil({ chainId })
    await node.stop()
    await node.stop()
    expect(() => process.kill(node.pid, 0)).toThrow('ESRCH')
  })

  test('error: refuses a port on which another node listens', async () => {
    const node = await startAnvil({ chainId })
    const port = Number(new URL(node.url).port)
    await expect(startAnvil({ chainId, port })).rejects.toThrow(`Port ${port} is taken`)
  })

  test.each(['node', 'tended'] as const)('mines on time (%s)', async (mining) => {
    const node = await startAnvil({ chainId, blockTimeSeconds: 0.1, mining })
    const { number } = await readHead(node)
    const begun = performance.now()
    await waitForBlock(node, number + 8)
    const mined = (await readHead(node)).number - number
    // A busy machine wakes up late, so the expected blocks follow from the elapsed time.
    const due = (performance.now() - begun) / 100
    expect(mined).toBeGreaterThanOrEqual(Math.floor(due * 0.6))
    expect(mined).toBeLessThanOrEqual(Math.ceil(due) + 2)
  })

  test('a tended node mines no block of its own', async () => {
    const node = await startAnvil({ chainId, blockTimeSeconds: 3_600, mining: 'tended' })
    const { number } = await readHead(node)
    // Meanwhile a node with a block time mines.
    const other = await startAnvil({ chainId, blockTimeSeconds: 0.1 })
    await waitForBlock(other, 10)
    await other.stop()
    expect((await readHead(node)).number).toBe(number)
  })

  test('keeps the base fee of an idle tended node', async () => {
    const baseFeeWei = 20_000_000n
    const mining = 'tended'
    const node = await startAnvil({ chainId, blockTimeSeconds: 0.02, mining, baseFeeWei })
    await waitForBlock(node, 30)
    const blocks = await Promise.all(
      Array.from({ length: 30 }, (_, i) => {
        const number = `0x${(i + 1).toString(16)}`
        return callRpc<{ baseFeePerGas: string }>(node.url, 'eth_getBlockByNumber', [number, false])
      }),
    )
    const fees = blocks.map(({ baseFeePerGas }) => BigInt(baseFeePerGas))
    expect(new Set(fees)).toEqual(new Set([baseFeeWei]))
  })

  test('calls a block final 15 seconds later, and still knows its state', async () => {
    const node = await startAnvil({ chainId, blockTimeSeconds: 0.25, mining: 'tended' })
    await callRpc(node.url, 'anvil_mine', ['0x64'])
    const [head, final] = await Promise.all([readHead(node), readHead(node, 'finalized')])
    expect(Math.abs(head.number - final.number - 60)).toBeLessThanOrEqual(2)
    expect(await callRpc(node.url, 'eth_getCode', [account, 'finalized'])).toBe('0x')
  })

  test('continues from its last block after a restart', async () => {
    const options = { chainId, blockTimeSeconds: 0.1, stateFile: path.join(folder, 'stopped') }
    const first = await startAnvil(options)
    await callRpc(first.url, 'anvil_setBalance', [account, '0x7b'])
    await waitForBlock(first, 3)
    const head = await readHead(first)
    await first.stop()

    const second = await startAnvil(options)
    expect(await callRpc(second.url, 'eth_chainId')).toBe(`0x${chainId.toString(16)}`)
    expect(await callRpc(second.url, 'eth_getBalance', [account, 'latest'])).toBe('0x7b')
    expect(await readHead(second, `0x${head.number.toString(16)}`)).toEqual(head)
    await waitForBlock(second, head.number + 2)
    expect((await readHead(second)).timestamp).toBeGreaterThanOrEqual(head.timestamp)
  })

  /** A node that was killed after more than one dump interval, and restarted. */
  async function startKilled(name: string, stateIntervalSeconds: number): Promise<Anvil> {
    const stateFile = path.join(folder, name)
    const options = { chainId, blockTimeSeconds: 0.1, stateFile, stateIntervalSeconds }
    const first = await startAnvil(options)
    await callRpc(first.url, 'anvil_setBalance', [account, '0x7b'])
    await waitForBlock(first, 25)
    process.kill(first.pid, 'SIGKILL')
    await first.stop()
    return startAnvil(options)
  }
  const readBalance = (node: Anvil) => callRpc(node.url, 'eth_getBalance', [account, 'latest'])

  test('loses only seconds of the chain when it is killed', async () => {
    const node = await startKilled('killed', 1)
    expect(await readBalance(node)).toBe('0x7b')
    expect((await readHead(node)).number).toBeGreaterThan(5)
  })

  test('loses the chain when it is killed before the first dump', async () => {
    const node = await startKilled('seldom', 86_400)
    expect(await readBalance(node)).toBe('0x0')
  })
})

describe('prepareState', () => {
  const block = (number: number, transactions: string[] = []) => {
    return { header: { number: `0x${number.toString(16)}` }, transactions }
  }
  const write = (file: string, text: string) => {
    fs.writeFileSync(path.join(folder, file), text)
    return path.join(folder, file)
  }
  const read = (file: string) => JSON.parse(fs.readFileSync(file, 'utf8')) as unknown

  test('drops empty old blocks and keeps the first, the newest and those with transactions', () => {
    const blocks = [0, 1, 2, 700, 1000].map((number) => block(number, number === 2 ? ['0x'] : []))
    const file = write('old', JSON.stringify({ best_block_number: 1000, blocks }))
    prepareState(file)
    const kept = [block(0), block(2, ['0x']), block(1000)]
    expect(read(file)).toEqual({ best_block_number: 1000, blocks: kept })
  })

  test('uses the copy when the node was killed during a dump', () => {
    const whole = { best_block_number: 0, blocks: [block(0)] }
    write('torn.last', JSON.stringify(whole))
    const file = write('torn', JSON.stringify(whole).slice(0, -5))
    prepareState(file)
    expect(read(file)).toEqual(whole)
  })

  test('leaves a file unchanged that is too large to parse, unless it is incomplete', () => {
    /** A file with a hole, which uses no disk space. */
    const large = (file: string, end: string) => {
      const at = write(file, '{')
      fs.truncateSync(at, constants.MAX_STRING_LENGTH)
      fs.appendFileSync(at, end)
      return at
    }
    write('large.last', '{"blocks":[]}')
    const file = large('large', '  }')
    prepareState(file)
    expect(fs.statSync(file).size).toBe(constants.MAX_STRING_LENGTH + 3)
    expect(fs.existsSync(`${file}.last`)).toBe(false)
    const torn = large('torn large', ' "a"')
    large('torn large.last', ' }')
    prepareState(torn)
    expect(fs.statSync(torn).size).toBe(constants.MAX_STRING_LENGTH + 2)
  })

  test('error: a damaged file without a copy; asks to delete it', () => {
    const file = write('damaged', '{"blocks":[')
    expect(() => prepareState(file)).toThrow('is damaged')
  })
})
