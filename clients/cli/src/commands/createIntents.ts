import { Option, type Command } from 'commander'
import { printCreated } from './created.js'
import { openSession, type Session, type Speaker } from '../session.js'
import {
  addKeyOption,
  parseAmount,
  parseAmountOrMax,
  parseCount,
  parseDuration,
  parseObject,
  walletIdOf,
  type IdempotencyOptions,
} from '../options.js'
import { misused } from '../exit.js'
import { confirmRealMoney } from '../network.js'
import { beginTimeline } from '../intents/timeline.js'
import { timelineLines } from '../intents/follow.js'
import { formatPercent, formatUsd, plain } from '../terminal/text.js'
import { signs, type Io } from '../terminal/io.js'
import type { CreateIntentParams, DryRun } from '@steward/sdk'

type Fields = {
  chain?: string
  from?: string
  to?: string
  optimize?: 'apy' | 'net'
  horizonDays?: number
  metadata?: Record<string, unknown>
  simulate?: string
}
type CreateIntentOptions = IdempotencyOptions &
  Fields & { detach?: true; timeout?: number; yes?: true }

const actions = ['lend', 'withdraw', 'bridge'] as const
type ActionName = (typeof actions)[number]

const summaries: Record<ActionName, string> = {
  lend: 'lend at the best rate, or on one chain (5 credits)',
  withdraw: 'withdraw lent money on a chain (5 credits)',
  bridge: 'move money from one chain to another (5 credits)',
}

export function addCreating(intents: Command, io: Io): void {
  for (const action of actions) addAction(intents, io, action)
  addPreview(intents, io)
  addPreviewRetry(intents, io)
}

function addPreview(intents: Command, io: Io): void {
  const preview = intents
    .command('preview')
    .argument('<action>', 'lend, withdraw or bridge')
    .argument('<wallet>', 'id of a wallet, or the userId of its owner')
    .argument('<amount>', 'in whole tokens; a withdrawal accepts max', parseAmountOrMax)
    .description('show the plan of an intent; nothing moves, nothing is charged')
  for (const action of actions) addFields(preview, action)
  preview.action(
    async (
      action: string,
      name: string,
      amount: string,
      options: CreateIntentOptions,
      command: Command,
    ) => {
      const known = actions.find((one) => one === action)
      if (!known) throw misused(`Unknown action ${action}. Use ${actions.join(', ')}.`)
      const session = openSession(io, command)
      const request = toRequest(known, { ...options, walletId: name, amount })
      const walletId = await walletIdOf(session, name)
      const plan = await session.steward.intents.preview({ ...request, walletId })
      session.say.show(plan, () => planLines(session.say, plan, io))
    },
  )
}

function addPreviewRetry(intents: Command, io: Io): void {
  intents
    .command('preview-retry')
    .argument('<intentId>')
    .description('show the plan of a retry; nothing moves, nothing is charged')
    .action(async (id: string, _options: object, command: Command) => {
      const { steward, say } = openSession(io, command)
      const preview = await steward.intents.previewRetry(id)
      say.show(preview, () =>
        'dryRun' in preview
          ? planLines(say, preview, io)
          : [
              `${signs.done} ${id} has been retried.`,
              `  Show the retry: steward intents get ${preview.id}`,
            ],
      )
    })
}

function addAction(intents: Command, io: Io, action: ActionName): void {
  const parse = action === 'withdraw' ? parseAmountOrMax : parseAmount
  const command = intents
    .command(action)
    .argument('<wallet>', 'id of a wallet, or the userId of its owner')
    .argument('<amount>', `in whole USDC${action === 'withdraw' ? ', or max' : ''}`, parse)
    .description(summaries[action])
  addFields(command, action)
  addKeyOption(command)
    .option('--detach', 'return at once, without waiting for the end')
    .option('--timeout <time>', 'wait at most this long, such as 90s', parseDuration)
    .option('-y, --yes', 'skip the confirmation before real money moves')
    .action(async (name: string, amount: string, options: CreateIntentOptions, own: Command) => {
      const session = openSession(io, own)
      await create(session, action, { ...options, name, amount })
    })
}

/** Adds the options of an action that the command does not have yet: `preview` has those of every action. */
function addFields(command: Command, action: ActionName): void {
  const has = (flag: string) => command.options.some(({ long }) => long === flag)
  for (const option of [...fieldsOf[action](), ...anyFields()]) {
    if (!has(option.long ?? '')) command.addOption(option)
  }
}

const onChain = (text: string) => new Option('--chain <chain>', text)
const fieldsOf: Record<ActionName, () => Option[]> = {
  lend: () => [
    onChain('lend on this chain instead of at the best rate'),
    new Option('--optimize <goal>', 'the best rate, or the best result after all costs').choices([
      'apy',
      'net',
    ]),
    new Option('--horizon-days <days>', 'days over which net is computed').argParser(parseCount),
  ],
  withdraw: () => [onChain('chain of the position (required)')],
  bridge: () => [
    new Option('--from <chain>', 'source chain (required)'),
    new Option('--to <chain>', 'destination chain (required)'),
  ],
}
const anyFields = () => [
  new Option('--metadata <json>', 'an object that is stored with the intent').argParser(
    parseObject,
  ),
  new Option('--simulate <code>', 'simulate a failure on test networks, such as DEPOSIT_FAILED'),
]

type IntentArguments = CreateIntentOptions & { name: string; amount: string }

async function create(session: Session, action: ActionName, input: IntentArguments): Promise<void> {
  const { name, amount, yes, idempotencyKey } = input
  // Reports missing options before any API call.
  const request = toRequest(action, { ...input, walletId: name })
  const description = `${action[0]?.toUpperCase()}${action.slice(1)} ${amount} USDC of ${name}`
  await confirmRealMoney(session, description, yes === true)
  const walletId = await walletIdOf(session, name)
  const key = { ...(idempotencyKey && { idempotencyKey }) }
  const created = await session.steward.intents.create({ ...request, walletId }, key)
  await printCreated(session, created, input)
}

/**
 * @param walletId - The wallet as typed, so that a hint can repeat it.
 * @throws {CommandError} when an option that the action needs is missing.
 */
function toRequest(
  action: ActionName,
  { walletId, amount, ...fields }: Fields & { walletId: string; amount: string },
): CreateIntentParams {
  const own = { walletId, amount, ...metadataOf(fields) }
  const { chain, from, to, optimize, horizonDays } = fields
  switch (action) {
    case 'lend':
      return {
        ...{ action, ...own },
        ...(chain !== undefined && { chain }),
        ...(optimize && { optimize }),
        ...(horizonDays !== undefined && { horizonDays }),
      }
    case 'withdraw':
      return {
        ...{ action, ...own },
        chain: needed(chain, '--chain', `Show where it lends: steward positions ${walletId}`),
      }
    case 'bridge': {
      const hint = 'List the chains: steward yields'
      const [fromChain, toChain] = [needed(from, '--from', hint), needed(to, '--to', hint)]
      return { action, ...own, fromChain, toChain }
    }
  }
}

function metadataOf({ metadata, simulate }: Fields) {
  const all = { ...metadata, ...(simulate !== undefined && { simulate }) }
  return Object.keys(all).length > 0 ? { metadata: all } : {}
}

function needed(value: string | undefined, option: string, hint: string): string {
  if (value !== undefined) return value
  throw misused(`${option} is missing. Add ${option} <chain>.`, hint)
}

function planLines(say: Speaker, { executionPlan: plan, ...asked }: DryRun, io: Io): string[] {
  const {
    reasoning,
    estimatedGasUsd,
    estimatedTime,
    expectedApy,
    warnings = [],
    alternatives = [],
  } = plan
  const timeline = beginTimeline({ ...asked, status: 'preview', executionPlan: plan } as never)
  const others =
    alternatives.length === 0
      ? []
      : [
          '',
          ...say.table(alternatives, [
            { title: 'INSTEAD', of: ({ protocol, chain }) => `${protocol} on ${chain}` },
            { title: 'APY', of: ({ apy }) => formatPercent(apy), isNumber: true },
            { title: 'WHY NOT', of: ({ why }) => why },
          ]),
        ]
  return [
    ...timelineLines(timeline, io.out, false),
    plain(reasoning),
    ...say.facts([
      ['apy', expectedApy === undefined ? undefined : formatPercent(expectedApy)],
      ['gas', formatUsd(estimatedGasUsd)],
      ['time', estimatedTime],
    ]),
    ...warnings.map(({ code, message }) => io.out.paint.yellow(plain(`! ${code}: ${message}`))),
    ...others,
  ]
}
