import { parseArgs } from 'node:util'
import { connect } from '../db/client/connect.js'
import { ServiceError } from '../domain/errors.js'
import { assetUnits } from '../domain/money.js'
import { chainNames, findCanonicalName } from '../evm/registry.js'
import { advanceClock } from './clock/advance.js'
import { mintToken } from './devnet/deploy.js'
import { openDevnet, type Devnet } from './state/openDevnet.js'
import { UserError, printFailure, say, sign } from './terminal.js'

const USAGE = `Usage: npm run devnet -- advance <days>d
       npm run devnet -- fund <wallet> <amount> [--asset USDC|TUSD] [--chain <chain>]

  advance   lets days pass: stored times become older, markets pay interest.
            Finishes an interrupted advance instead of a new one
  fund      mints tokens for a wallet, named by its id, its userId or its address

  --asset   USDC by default. TUSD exists on ethereum-sepolia
  --chain   ${chainNames.join(', ')}; arbitrum-sepolia by default`

/** The longest fixed retention, that of request counts. The audit log and other records stay for ever. */
const MOST_DAYS = 400

type Options = { asset: string; chain: string }

/** `npm run devnet`: what only a local network can do. It acts on the stack of `npm start`, and on no other. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      asset: { type: 'string', default: 'USDC' },
      chain: { type: 'string', default: 'arbitrum-sepolia' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  const [command, ...args] = positionals
  if (values.help) return say(USAGE)
  if (command === 'advance' && args.length === 1) return advance(args[0] ?? '')
  if (command === 'fund' && args.length === 2) return fund(args as [string, string], values)
  throw new UserError(USAGE)
}

async function advance(time: string): Promise<void> {
  const days = Number(/^(\d{1,3})d$/.exec(time)?.[1])
  if (!(days >= 1 && days <= MOST_DAYS)) {
    throw new UserError(`${time} is no number of days. Use 1d to ${MOST_DAYS}d, such as 30d.`)
  }
  const { days: passed, wasInterrupted } = await advanceClock(await openDevnet(process.env), days)
  if (wasInterrupted)
    say(`  ${sign.again} An interrupted advance is finished instead of a new one.`)
  const passedText = passed === 1 ? '1 day has passed' : `${passed} days have passed`
  say(`  ${sign.done} ${passedText}. Stored times are older, and interest has accrued.`)
}

async function fund([wallet, amount]: [string, string], options: Options): Promise<void> {
  const units = readAmount(amount)
  const devnet = await openDevnet(process.env)
  const { name, symbol, token } = findToken(devnet, options)
  const holder = await findAddress(devnet, wallet)
  await mintToken(devnet.facts.rpcUrls[name], token, { holder, units })
  say(`  ${sign.done} ${amount} ${symbol} on ${name} for ${holder}`)
}

function readAmount(amount: string): bigint {
  try {
    return assetUnits(amount)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new UserError(error.message, { cause: error })
  }
}

function findToken({ contracts }: Devnet, { asset, chain }: Options) {
  const name = findCanonicalName(chain)
  if (!name) throw new UserError(`${chain} is no chain. Use ${chainNames.join(', ')}.`)
  const { usdc, testDollar } = contracts[name]
  const symbol = asset.toUpperCase()
  const token = new Map<string, string | undefined>([
    ['USDC', usdc],
    ['TUSD', testDollar],
  ]).get(symbol)
  if (!token) throw new UserError(`${name} has no ${asset}. Use USDC, or TUSD on ethereum-sepolia.`)
  return { name, symbol, token }
}

async function findAddress({ facts }: Devnet, text: string): Promise<string> {
  const db = connect(facts.databaseUrl, 1)
  try {
    const found = await db('wallet')
      .where({ id: text })
      .orWhere({ user_id: text })
      .orWhere({ address: text })
      .limit(2)
      .pluck<string[]>('address')
    if (found.length > 1) {
      throw new UserError(`Several accounts have a wallet of ${text}. Name its address.`)
    }
    if (found[0]) return found[0]
    throw new UserError(`No wallet has the id, userId or address ${text}. Create one first.`)
  } finally {
    await db.destroy()
  }
}

main().catch((error: unknown) => {
  process.exitCode = printFailure(error)
})
