import { printCreated } from './created.js'
import { addCreating } from './createIntents.js'
import { assertCompleted, endLines, follow, timelineLines } from '../intents/follow.js'
import { openSession, type Speaker } from '../session.js'
import { beginTimeline, describeFunds, describeIntent } from '../intents/timeline.js'
import {
  addKeyOption,
  addPaging,
  parseDuration,
  parseNames,
  readPages,
  walletIdOf,
  type PageOptions,
  type IdempotencyOptions,
} from '../options.js'
import { confirmRealMoney } from '../network.js'
import { formatTime, plain } from '../terminal/text.js'
import { signs, type Io } from '../terminal/io.js'
import type { Event, Intent } from '@steward/sdk'
import type { Command } from 'commander'

export function addIntents(program: Command, io: Io): void {
  const intents = program.command('intents').description('Create, read and follow intents.')
  addCreating(intents, io)
  addReading(intents, io)
  addChanging(intents, io)
}

type ListOptions = PageOptions & { wallet?: string; status?: string[]; action?: string }

function addReading(intents: Command, io: Io): void {
  intents
    .command('get')
    .argument('<intentId>')
    .description('show an intent (1 credit)')
    .action(async (id: string, _options: object, command: Command) => {
      const { steward, say } = openSession(io, command)
      const intent = await steward.intents.get(id)
      say.show(intent, () => intentLines(say, intent, io))
    })

  addPaging(intents.command('list'))
    .option('--wallet <wallet>', 'only this wallet, by its id or the userId of its owner')
    .option('--status <statuses>', 'only these statuses, comma-separated', parseNames)
    .option('--action <action>', 'only lend, withdraw or bridge')
    .description('list intents, newest first (1 credit per page)')
    .action(async (options: ListOptions, command: Command) => {
      const session = openSession(io, command)
      const { steward, say } = session
      const { wallet, status, action } = options
      const filter = {
        ...(wallet !== undefined && { walletId: await walletIdOf(session, wallet) }),
        ...(status && { status }),
        ...(action !== undefined && { action }),
      }
      const page = await readPages(options, (pageParams) =>
        steward.intents.list({ ...filter, ...pageParams }),
      )
      say.show(page, () => listLines(say, page.data))
      if (page.hasMore && !say.isJson)
        say.note(`Next page: --cursor ${page.nextCursor}. All pages: --all`)
    })

  intents
    .command('watch')
    .argument('<intentId>')
    .option('--timeout <time>', 'watch at most this long, such as 90s', parseDuration)
    .description('follow an intent until it ends; with --json one line per event')
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

type RetryOptions = IdempotencyOptions & { detach?: true; timeout?: number; yes?: true }

function addChanging(intents: Command, io: Io): void {
  addKeyOption(intents.command('retry'))
    .argument('<intentId>')
    .option('--detach', 'return at once, without waiting for the end')
    .option('--timeout <time>', 'wait at most this long, such as 90s', parseDuration)
    .option('-y, --yes', 'skip the confirmation before real money moves')
    .description('create an intent that finishes a failed one (5 credits)')
    .action(async (id: string, options: RetryOptions, command: Command) => {
      const session = openSession(io, command)
      await confirmRealMoney(session, `Retry ${id}`, options.yes === true)
      const { idempotencyKey } = options
      const key = { ...(idempotencyKey && { idempotencyKey }) }
      const created = await session.steward.intents.retry(id, key)
      await printCreated(session, created, options)
    })

  addKeyOption(intents.command('cancel'))
    .argument('<intentId>')
    .description('cancel an intent without an unfinished signed step')
    .action(async (id: string, { idempotencyKey }: IdempotencyOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const intent = await steward.intents.cancel(id, { ...(idempotencyKey && { idempotencyKey }) })
      const head = `${signs.done} Cancelled ${intent.id}.`
      const money = describeFunds(intent).map((line) => `  Funds: ${plain(line)}`)
      say.show(intent, () =>
        intent.error?.funds
          ? [`${head} Its completed steps stand.`, ...money]
          : [`${head} No money has moved.`],
      )
    })
}

function intentLines(say: Speaker, intent: Intent, io: Io): string[] {
  const { id, walletId, status, createdAt, endedAt, retryOf, retriedBy, waitingFor } = intent
  const hasEnded = status === 'completed' || status === 'failed'
  const facts = say.facts([
    ['intent', id],
    ['wallet', walletId],
    ['status', status],
    ['waiting for', waitingFor?.message],
    ['created', formatTime(createdAt)],
    ['ended', endedAt && formatTime(endedAt)],
    ['retry of', retryOf],
    ['retried by', retriedBy],
    ['funds', describeFunds(intent).join('; ') || undefined],
  ])
  const hashes = (intent.results?.transactions ?? []).map(
    ({ type, txHash, chain, explorerUrl }) =>
      `  ${plain(`${type} on ${chain}`.padEnd(30))} ${explorerUrl ?? txHash}`,
  )
  const end = hasEnded ? endLines(intent, io.out).slice(0, 1) : [plain(describeIntent(intent))]
  return [...end, ...facts, ...timelineLines(beginTimeline(intent), io.out, false), ...hashes]
}

function listLines(say: Speaker, intents: Intent[]): string[] {
  if (intents.length === 0)
    return ['No intents yet. Create one: steward intents lend <wallet> <amount>']
  return say.table(intents, [
    { title: 'INTENT', of: ({ id }) => id },
    { title: 'ACTION', of: ({ action, amount, asset }) => `${action} ${amount} ${asset}` },
    { title: 'STATUS', of: statusOf },
    { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
  ])
}

const statusOf = ({ status, error }: Intent) => (error?.code ? `${status} ${error.code}` : status)
