import { Option, type Command } from 'commander'
import { tellCreated } from './created.js'
import { openSession, type Session, type Speaker } from '../session.js'
import {
  addKeyOption,
  parseAmount,
  parseAmountOrMax,
  parseCount,
  parseDuration,
  parseObject,
  walletIdOf,
  type WriteOptions,
} from '../options.js'
import { misused } from '../exit.js'
import { confirmDeed } from '../network.js'
import { beginStory } from '../intents/story.js'
import { storyLines } from '../intents/follow.js'
import { formatPercent, formatUsd, plain } from '../terminal/text.js'
import type { CreateIntentParams, DryRun } from '@steward/sdk'
import type { Io } from '../terminal/io.js'

type Fields = {
  chain?: string
  from?: string
  to?: string
  optimize?: 'apy' | 'net'
  horizonDays?: number
  metadata?: Record<string, unknown>
  simulate?: string
}
type Options = WriteOptions & Fields & { detach?: true; timeout?: number; yes?: true }

const actions = ['lend', 'withdraw', 'bridge'] as const
type Action = (typeof actions)[number]

const summaries: Record<Action, string> = {
  lend: 'lend where it pays most, or on one chain (5 credits)',
  withdraw: 'take back what was lent on a chain (5 credits)',
  bridge: 'move money from one chain to another (5 credits)',
}

export function addCreating(intents: Command, io: Io): void {
  for (const action of actions) addAction(intents, io, action)
  const preview = intents
    .command('preview')
    .argument('<action>', 'lend, withdraw or bridge')
    .argument('<wallet>', 'id of a wallet, or the userId of its owner')
    .argument('<amount>', 'in whole tokens; for a withdrawal also max', parseAmountOrMax)
    .description('the plan that an intent would have now: nothing moves, nothing is charged')
  for (const action of actions) addFields(preview, action)
  preview.action(
    async (action: string, name: string, amount: string, options: Options, command: Command) => {
      const known = actions.find((one) => one === action)
      if (!known) throw misused(`The action must be ${actions.join(', ')}.`)
      const session = openSession(io, command)
      const walletId = await walletIdOf(session, name)
      const request = toRequest(known, { ...options, walletId, amount })
      const plan = await session.steward.intents.preview(request)
      session.say.show(plan, () => planLines(session.say, plan, io))
    },
  )
}

function addAction(intents: Command, io: Io, action: Action): void {
  const parse = action === 'withdraw' ? parseAmountOrMax : parseAmount
  const command = intents
    .command(action)
    .argument('<wallet>', 'id of a wallet, or the userId of its owner')
    .argument('<amount>', `in whole USDC${action === 'withdraw' ? ', or max' : ''}`, parse)
    .description(summaries[action])
  addFields(command, action)
  addKeyOption(command)
    .option('--detach', 'do not wait for its end')
    .option('--timeout <time>', 'wait no longer, such as 90s', parseDuration)
    .option('-y, --yes', 'do not ask before real money moves')
    .action(async (name: string, amount: string, options: Options, own: Command) => {
      const session = openSession(io, own)
      await create(session, action, { ...options, name, amount })
    })
}

/** The fields of an action that are not there yet: `preview` has those of all. */
function addFields(command: Command, action: Action): void {
  const has = (flag: string) => command.options.some(({ long }) => long === flag)
  for (const option of [...fieldsOf[action](), ...anyFields()]) {
    if (!has(option.long ?? '')) command.addOption(option)
  }
}

const onChain = (text: string) => new Option('--chain <chain>', text)
const fieldsOf: Record<Action, () => Option[]> = {
  lend: () => [
    onChain('lend there, instead of where it pays most'),
    new Option('--optimize <goal>', 'the best rate, or what leaves most after all costs').choices([
      'apy',
      'net',
    ]),
    new Option('--horizon-days <days>', 'days over which net counts').argParser(parseCount),
  ],
  withdraw: () => [onChain('where it was lent (required)')],
  bridge: () => [
    new Option('--from <chain>', 'where the money is (required)'),
    new Option('--to <chain>', 'where it shall be (required)'),
  ],
}
const anyFields = () => [
  new Option('--metadata <json>', 'an object that comes back with the intent').argParser(
    parseObject,
  ),
  new Option(
    '--simulate <code>',
    'on test networks: fail as with this code, such as DEPOSIT_FAILED',
  ),
]

type Wish = Options & { name: string; amount: string }

async function create(session: Session, action: Action, wish: Wish): Promise<void> {
  const { name, amount, yes, idempotencyKey } = wish
  // What is missing is told before anything is asked of the API.
  const fields = { ...wish, walletId: name }
  toRequest(action, fields)
  const deed = `${action[0]?.toUpperCase()}${action.slice(1)} ${amount} USDC of ${name}`
  await confirmDeed(session, deed, yes === true)
  const request = toRequest(action, { ...fields, walletId: await walletIdOf(session, name) })
  const key = { ...(idempotencyKey && { idempotencyKey }) }
  const created = await session.steward.intents.create(request, key)
  await tellCreated(session, created, wish)
}

/** @throws {CommandError} when an option that the action needs is missing. */
function toRequest(
  action: Action,
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
      return { action, ...own, chain: needed(chain, '--chain') }
    case 'bridge':
      return { action, ...own, fromChain: needed(from, '--from'), toChain: needed(to, '--to') }
  }
}

function metadataOf({ metadata, simulate }: Fields) {
  const all = { ...metadata, ...(simulate !== undefined && { simulate }) }
  return Object.keys(all).length > 0 ? { metadata: all } : {}
}

function needed(value: string | undefined, option: string): string {
  if (value !== undefined) return value
  throw misused(`It needs ${option} <chain>.`, 'Chains there are: steward yields')
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
  const story = beginStory({ ...asked, status: 'preview', executionPlan: plan } as never)
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
    ...storyLines(story, io.out, false),
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
