import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type JsonFragment } from 'ethers'
import { readOrMake, rootFolder } from '../cache.js'

/** A compiled contract. `linkReferences` lists, per file and library, byte offsets in `bytecode`. */
export type Artifact = {
  abi: JsonFragment[]
  bytecode: string
  deployedBytecode: string
  linkReferences?: Record<string, Record<string, { start: number; length: number }[]>>
}

type OwnContract =
  | 'DevUSDC'
  | 'DevFeed'
  | 'DevMulticall'
  | 'DevArbGasInfo'
  | 'DevGasPriceOracle'
  | 'DevCctpMessenger'
  | 'DevCctpTransmitter'
  | 'DevVault'
  | 'DevComet'
  | 'DevVirtualPool'
  | 'DevSilentVault'
export type OwnArtifacts = Record<OwnContract, Artifact>

const require = createRequire(import.meta.url)
const solidityFolder = path.join(rootFolder, 'dev/devnet/sol')
const loaded = new Map<string, Artifact>()

/**
 * A contract of Aave v3.0.2 from its npm package.
 *
 * @param name - Path below the package's contracts, e.g. `protocol/pool/Pool`.
 */
export function readAaveArtifact(name: string): Artifact {
  const file = `artifacts/contracts/${name}.sol/${path.basename(name)}.json`
  return readArtifact('@aave/core-v3', file)
}

/** A contract of ERC-4337 v0.8 from its npm package, e.g. `EntryPoint`. */
export function readAccountArtifact(name: string): Artifact {
  return readArtifact('@account-abstraction/contracts', `artifacts/${name}.json`)
}

/**
 * A contract of Uniswap v3 from its npm package, by its path below the package's contracts.
 */
export function readUniswapArtifact(name: string, part: 'core' | 'periphery'): Artifact {
  const file = `artifacts/contracts/${name}.sol/${path.basename(name)}.json`
  return readArtifact(`@uniswap/v3-${part}`, file)
}

/** The router of Uniswap v3 on public networks. See `dev/devnet/artifacts/README.md`. */
export function readRouterArtifact(): Artifact {
  return readFileOnce(path.join(rootFolder, 'dev/devnet/artifacts/SwapRouter02.json'))
}

/** The contracts of `dev/devnet/sol`, compiled once per content. The compiler takes seconds. */
export function readOwnArtifacts(): Promise<OwnArtifacts> {
  const input = compilerInput()
  const versions = ['solc', '@openzeppelin/contracts'].map(packageVersion)
  return readOrMake(input + versions.join(), () => compile(input))
}

function readArtifact(packageName: string, file: string): Artifact {
  return readFileOnce(path.join(packageFolder(packageName), file))
}

function readFileOnce(file: string): Artifact {
  const known = loaded.get(file)
  if (known) return known
  const text = readFileSync(file, 'utf8')
  const { abi, bytecode, deployedBytecode, linkReferences } = JSON.parse(text) as Artifact
  const artifact = {
    abi,
    bytecode,
    deployedBytecode,
    ...(linkReferences ? { linkReferences } : {}),
  }
  loaded.set(file, artifact)
  return artifact
}

function compilerInput(): string {
  const files = readdirSync(solidityFolder).sort()
  const sources = files.map((file) => {
    return [file, { content: readFileSync(path.join(solidityFolder, file), 'utf8') }] as const
  })
  const settings = {
    evmVersion: 'prague',
    optimizer: { enabled: true, runs: 200 },
    metadata: { bytecodeHash: 'none' },
    outputSelection: {
      '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] },
    },
  }
  return JSON.stringify({ language: 'Solidity', sources: Object.fromEntries(sources), settings })
}

type CompilerOutput = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts?: Record<string, Record<string, CompiledContract>>
}
type CompiledContract = {
  abi: JsonFragment[]
  evm: { bytecode: { object: string }; deployedBytecode: { object: string } }
}

async function compile(input: string): Promise<OwnArtifacts> {
  const output = JSON.parse(await runCompiler(input)) as CompilerOutput
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0) {
    throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
  }
  const entries = Object.keys((JSON.parse(input) as { sources: object }).sources).map((file) => {
    const name = path.basename(file, '.sol')
    const contract = output.contracts?.[file]?.[name]
    if (!contract) throw new Error(`dev/devnet/sol/${file} must define contract ${name}.`)
    const { bytecode, deployedBytecode } = contract.evm
    const code = {
      bytecode: `0x${bytecode.object}`,
      deployedBytecode: `0x${deployedBytecode.object}`,
    }
    return [name, { abi: contract.abi, ...code }]
  })
  return Object.fromEntries(entries) as OwnArtifacts
}

/**
 * Runs solc in its own process: it blocks for seconds, keeps 100 MB and installs handlers for uncaught errors. It
 * writes its output to a file, because a pipe loses output beyond its buffer when the process exits.
 */
async function runCompiler(input: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'steward-solc-'))
  const file = path.join(folder, 'output.json')
  const output = await open(file, 'w')
  try {
    const stdio = ['pipe', output.fd, 'ignore'] as const
    const solc = spawn(process.execPath, compilerArguments(), { stdio: [...stdio] })
    // The exit code reports a compiler that crashes early.
    solc.stdin?.on('error', () => undefined).end(input)
    const [code] = (await once(solc, 'exit')) as [number | null]
    if (code !== 0) throw new Error('The Solidity compiler failed.')
    const text = await readFile(file, 'utf8')
    // solc prints a note about its SMT callback before the output.
    return text.slice(text.indexOf('{'))
  } finally {
    await output.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function compilerArguments(): string[] {
  const solc = path.join(packageFolder('solc'), 'solc.js')
  const includes = path.resolve(packageFolder('@openzeppelin/contracts'), '../..')
  return [solc, '--standard-json', '--base-path', solidityFolder, '--include-path', includes]
}

function packageFolder(name: string): string {
  return path.dirname(require.resolve(`${name}/package.json`))
}

function packageVersion(name: string): string {
  const text = readFileSync(path.join(packageFolder(name), 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
