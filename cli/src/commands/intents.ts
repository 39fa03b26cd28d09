import { tellCreated } from './created.js'
import { addCreating } from './createIntents.js'
import { assertCompleted, endLines, follow, storyLines } from '../intents/follow.js'
import { openSession, type Speaker } from '../session.js'
import { beginStory, describeFunds, describeIntent } from '../intents/story.js'
import {
  addKeyOption,
  addPaging,
  parseDuration,
  parseNames,
  readPages,
  walletIdOf,
  type PageOptions,
  type WriteOptions,
} from '../options.js'
import { confirmDeed } from '../network.js'
import { formatTime, plain } from '../terminal/text.js'
import { signs, type Io } from '../terminal/io.js'
import type { Event, Intent } from '@steward/sdk'
import type { Command } from 'commander'

export function addIntents(program: Command, io: Io): void {
  const intents = program.command('intents').description('Lend, withdraw, bridge, and follow it.')
  addCreating(intents, io)
  addReading(intents, io)
  addChanging(intents, io)
}

type ListOptions = PageOptions & { wallet?: string; status?: string[]; action?: string }

function addReading(intents: Command, io: Io): void {
  intents
    .command('get')
    .argument('<intentId>')
    .description('an intent as it is now (1 credit)')
    .action(async (id: string, _options: object, command: Command) => {
      const { steward, say } = openSession(io, command)
      const intent = await steward.intents.get(id)
      say.show(intent, () => intentLines(say, intent, io))
    })

  addPaging(intents.command('list'))
    .option('--wallet <wallet>', 'only of this wallet, by its id or the userId of its owner')
    .option('--status <statuses>', 'only with one of these, with commas between', parseNames)
    .option('--action <action>', 'only lend, withdraw or bridge')
    .description('intents, newest first (1 credit a page)')
    .action(async (options: ListOptions, command: Command) => {
      const session = openSession(io, command)
      const { steward, say } = session
      const { wallet, status, action } = options
      const filter = {
        ...(wallet !== undefined && { walletId: await walletIdOf(session, wallet) }),
        ...(status && { status }),
        ...(action !== undefined && { action }),
      }
      const page = await readPages(options, (asked) =>
        steward.intents.list({ ...filter, ...asked }),
      )
      say.show(page, () => listLines(say, page.data))
      if (page.hasMore && !say.isJson) say.note(`More: --cursor ${page.nextCursor}, or --all`)
    })

  intents
    .command('watch')
    .argument('<intentId>')
    .option('--timeout <time>', 'watch no longer, such as 90s', parseDuration)
    .description('follow an intent to its end; with --json a line for each event')
    .action(async (id: string, options: { timeout?: number }, command: Command) => {
      const session = openSession(io, command)
      const { steward, say } = session
      const begun = await steward.intents.get(id)
      const onEvent = (event: Event) => say.isJson && say.next(event, () => [])
      const intent = await follow(session, begun, { timeoutMs: options.timeout, onEvent })
      if (!say.isJson) say.show(intent, () => endLines(intent, io.out))
      assertCompleted(intent)
    })
}

type RetryOptions = WriteOptions & { detach?: true; timeout?: number; yes?: true }

function addChanging(intents: Command, io: Io): void {
  addKeyOption(intents.command('retry'))
    .argument('<intentId>')
    .option('--detach', 'do not wait for its end')
    .option('--timeout <time>', 'wait no longer, such as 90s', parseDuration)
    .option('-y, --yes', 'do not ask before real money moves')
    .description('reach the goal of a failed intent from where its money is (5 credits)')
    .action(async (id: string, options: RetryOptions, command: Command) => {
      const session = openSession(io, command)
      await confirmDeed(session, `Retry ${id}`, options.yes === true)
      const { idempotencyKey } = options
      const key = { ...(idempotencyKey && { idempotencyKey }) }
      const created = await session.steward.intents.retry(id, key)
      await tellCreated(session, created, options)
    })

  addKeyOption(intents.command('cancel'))
    .argument('<intentId>')
    .description('stop an intent of which nothing is signed yet')
    .action(async (id: string, { idempotencyKey }: WriteOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const intent = await steward.intents.cancel(id, { ...(idempotencyKey && { idempotencyKey }) })
      say.show(intent, () => [`${signs.done} Cancelled ${intent.id}. Nothing has moved.`])
    })
}

function intentLines(say: Speaker, intent: Intent, io: Io): string[] {
  const { id, walletId, status, createdAt, endedAt, retryOf, retriedBy, waitingFor } = intent
  const isOver = status === 'completed' || status === 'failed'
  const facts = say.facts([
    ['intent', id],
    ['wallet', walletId],
    ['status', status],
    ['waits for', waitingFor?.message],
    ['created', formatTime(createdAt)],
    ['ended', endedAt && formatTime(endedAt)],
    ['retry of', retryOf],
    ['retried by', retriedBy],
    ['money', describeFunds(intent).join('; ') || undefined],
  ])
  const hashes = (intent.results?.transactions ?? []).map(
    ({ type, txHash, chain, explorerUrl }) =>
      `  ${plain(`${type} on ${chain}`.padEnd(30))} ${explorerUrl ?? txHash}`,
  )
  const end = isOver ? endLines(intent, io.out).slice(0, 1) : [plain(describeIntent(intent))]
  return [...end, ...facts, ...storyLines(beginStory(intent), io.out, false), ...hashes]
}

function listLines(say: Speaker, intents: Intent[]): string[] {
  if (intents.length === 0) return ['No intent. Make one: steward intents lend <wallet> <amount>']
  return say.table(intents, [
    { title: 'INTENT', of: ({ id }) => id },
    { title: 'WHAT', of: ({ action, amount, asset }) => `${action} ${amount} ${asset}` },
    { title: 'STATUS', of: statusOf },
    { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
  ])
}

const statusOf = ({ status, error }: Intent) => (error?.code ? `${status} ${error.code}` : status)
