import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import {
  getCreate2Address,
  getCreateAddress,
  HDNodeWallet,
  Interface,
  keccak256,
  Transaction,
} from 'ethers'
import { type Artifact } from './artifacts.js'
import { readOrMake } from '../cache.js'
import { callRpc, callRpcBatch } from '../rpc.js'

export type Contract = { address: string; interface: Interface }
type Libraries = Record<string, string>
type PlannedTransaction = {
  label: string
  to: string | null
  data: string
  value: string
  gasLimit: number
}
type RawTransaction = { raw: string; hash: string }
export type DeployReceipt = { status: string; logs: { topics: string[]; data: string }[] }

/** Present on every chain that anvil starts, and on public networks. */
const CREATE2_DEPLOYER = '0x4e59b44847b379578588920cA78FbF26c0B4956C'

/** Fixed, because the called contracts do not exist yet when gas would be estimated. */
const DEPLOY_GAS = 8_000_000
const CALL_GAS = 1_500_000

/** Fixed, because the bytes must be the same on each run. Far above the 1 gwei that anvil starts with. */
const fees = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }

const POLL_MS = 15
/** Time until the rest is sent again, and interval of receipt polls. */
const ROUND_MS = 1_500
const ROUNDS = 20

const interfaces = new Map<Artifact, Interface>()

/**
 * A deployment as numbered transactions of one account. Every contract's address is known in advance, so all
 * transactions are sent as one batch.
 */
export class Plan {
  readonly #deployer: string
  readonly #planned: PlannedTransaction[] = []

  /** @param deployer - Address of an account that has never sent a transaction. */
  constructor(deployer: string) {
    this.#deployer = deployer
  }

  deploy(artifact: Artifact, args: unknown[] = [], libraries: Libraries = {}): Contract {
    const nonce = this.#planned.length
    const contract = {
      address: getCreateAddress({ from: this.#deployer, nonce }),
      interface: interfaceOf(artifact),
    }
    const data = link(artifact, libraries) + contract.interface.encodeDeploy(args).slice(2)
    this.#add({ label: `deployment ${nonce}`, to: null, data, value: '0', gasLimit: DEPLOY_GAS })
    return contract
  }

  /** With the salt of the public deployment the contract gets the same address as on public networks. */
  deployPublic(artifact: Artifact, salt: string): Contract {
    const { bytecode } = artifact
    const address = getCreate2Address(CREATE2_DEPLOYER, salt, keccak256(bytecode))
    const data = salt + bytecode.slice(2)
    const call = { to: CREATE2_DEPLOYER, data, value: '0', gasLimit: DEPLOY_GAS }
    this.#add({ label: `deployment of ${address}`, ...call })
    return { address, interface: interfaceOf(artifact) }
  }

  call(
    contract: Contract,
    name: string,
    args: unknown[] = [],
    options: { gasLimit?: number; value?: bigint } = {},
  ): void {
    const { gasLimit = CALL_GAS, value = 0n } = options
    const data = contract.interface.encodeFunctionData(name, args)
    this.#add({ label: name, to: contract.address, data, value: value.toString(), gasLimit })
  }

  /**
   * Sends the transactions that the chain does not have yet and waits until it has all. Sends nothing when it already
   * has all.
   *
   * @throws Error when the chain has other transactions of the deployer, when a transaction reverts, or when some
   *   stay unmined.
   */
  async execute(rpcUrl: string, chainId: number, mnemonic: string): Promise<void> {
    const signed = await this.#sign(chainId, mnemonic)
    const missing = await this.#findMissing(rpcUrl, signed)
    if (missing.length > 0) await settle(rpcUrl, this.#deployer, missing)
    const receipts = await readReceipts(rpcUrl, signed)
    receipts.forEach((receipt, index) => {
      if (receipt?.status === '0x1') return
      const label = this.#planned[index]?.label
      throw new Error(`Devnet: ${label} failed on chain ${chainId}.`)
    })
  }

  #add(planned: PlannedTransaction): void {
    this.#planned.push(planned)
  }

  /** Cached, because signing takes several ms per transaction (hashes of big bytecodes in JavaScript). */
  #sign(chainId: number, mnemonic: string): Promise<RawTransaction[]> {
    const input = JSON.stringify([chainId, mnemonic, this.#planned, String(fees.maxFeePerGas)])
    return readOrMake(input, async () => {
      const { signingKey } = HDNodeWallet.fromPhrase(mnemonic)
      const signed: RawTransaction[] = []
      for (const [nonce, { to, data, value, gasLimit }] of this.#planned.entries()) {
        const call = { type: 2, chainId, nonce, to, data, value, gasLimit }
        const transaction = Transaction.from({ ...call, ...fees })
        transaction.signature = signingKey.sign(transaction.unsignedHash)
        const raw = transaction.serialized
        signed.push({ raw, hash: keccak256(raw) })
        // Together the signatures take seconds. Other work of this process gets its turn in between.
        await setImmediate()
      }
      return signed
    })
  }

  async #findMissing(rpcUrl: string, signed: RawTransaction[]): Promise<RawTransaction[]> {
    const params = [this.#deployer, 'latest']
    const nonce = Number(await callRpc<string>(rpcUrl, 'eth_getTransactionCount', params))
    if (nonce === 0) return signed
    const receipts = await readReceipts(rpcUrl, signed)
    const foreign = receipts.findIndex((receipt, index) => index < nonce && !receipt)
    if (foreign === -1) return signed.slice(nonce)
    throw new Error(
      `The chain at ${rpcUrl} was deployed by another version: transaction ${foreign} of ` +
        `${this.#deployer} is not ours. Delete its state files and start it again.`,
    )
  }
}

function interfaceOf(artifact: Artifact): Interface {
  const known = interfaces.get(artifact)
  if (known) return known
  const created = new Interface(artifact.abi)
  interfaces.set(artifact, created)
  return created
}

function link({ bytecode, linkReferences = {} }: Artifact, libraries: Libraries): string {
  let code = bytecode
  for (const file of Object.values(linkReferences)) {
    for (const [name, places] of Object.entries(file)) {
      const address = libraries[name]
      if (!address) throw new Error(`Deploy library ${name} before the contract that links it.`)
      for (const { start, length } of places) {
        const end = 2 + (start + length) * 2
        code = code.slice(0, 2 + start * 2) + address.slice(2).toLowerCase() + code.slice(end)
      }
    }
  }
  return code
}

async function readReceipts(
  rpcUrl: string,
  signed: RawTransaction[],
): Promise<(DeployReceipt | null)[]> {
  const answers = await callRpcBatch<DeployReceipt | null>(
    rpcUrl,
    signed.map(({ hash }) => ['eth_getTransactionReceipt', [hash]] as const),
  )
  return answers.map(({ result }) => result ?? null)
}

/**
 * Sends signed transactions until each has a receipt. A rejection proves nothing: a second sender may have been
 * first. Nor does an acceptance: a transaction that arrives while anvil mines the previous one may stay queued (one
 * deployment in thirty on a busy machine), and is then rejected as known. So transactions without a receipt are
 * dropped from the pool and sent again with the same bytes.
 */
async function settle(rpcUrl: string, sender: string, signed: RawTransaction[]): Promise<void> {
  let missing = signed
  let refusal = 'accepted, but not mined'
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) await callRpc(rpcUrl, 'anvil_removePoolTransactions', [sender])
    const sent = await callRpcBatch(
      rpcUrl,
      missing.map(({ raw }) => ['eth_sendRawTransaction', [raw]] as const),
    )
    refusal = sent.find(({ error }) => error)?.error ?? refusal
    await waitForReceipt(rpcUrl, missing.at(-1)?.hash ?? '', ROUND_MS)
    const receipts = await readReceipts(rpcUrl, missing)
    missing = missing.filter((_, index) => !receipts[index])
    if (missing.length === 0) return
  }
  throw new Error(
    `${missing.length} transactions of the devnet's deployment do not settle at ${rpcUrl}: ${refusal}`,
  )
}

/** The receipt of a transaction as soon as it exists; undefined after the timeout. */
export async function waitForReceipt(
  rpcUrl: string,
  hash: string,
  timeoutMs: number,
): Promise<DeployReceipt | undefined> {
  const deadline = performance.now() + timeoutMs
  while (performance.now() < deadline) {
    const receipt = await callRpc<DeployReceipt | null>(rpcUrl, 'eth_getTransactionReceipt', [hash])
    if (receipt) return receipt
    await sleep(POLL_MS)
  }
  return undefined
}
