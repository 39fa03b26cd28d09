import { listen, type ListenOptions } from '../webhooks/listen.js'
import { openSession, type Session, type Speaker } from '../session.js'
import { addKeyOption, addPaging, parseNames, readPages } from '../options.js'
import { misused } from '../exit.js'
import { formatTime, plain } from '../terminal/text.js'
import { signs, type Io } from '../terminal/io.js'
import type { PageOptions, WriteOptions } from '../options.js'
import type { Command } from 'commander'
import type { UpdateWebhookParams, Webhook, WebhookDelivery } from '@steward/sdk'

export function addWebhooks(program: Command, io: Io): void {
  const webhooks = program.command('webhooks').description('Be told of events over HTTP.')
  addListening(webhooks, io)
  addEndpoints(webhooks, io)
  addChanges(webhooks, io)
  addDeliveries(webhooks, io)
}

function addListening(webhooks: Command, io: Io): void {
  webhooks
    .command('listen')
    .requiredOption(
      '--forward-to <url>',
      'where your receiver listens, such as http://localhost:3000/hook',
    )
    .option('--events <types>', 'only of these types, with commas between', parseNames)
    .option('--after <eventId>', 'go on after this event; evt_0 begins with the first one')
    .option('--print-secret', 'tell only the secret that it signs with')
    .description('send what happens to a receiver on this machine, signed as the service signs')
    .action(async (options: ListenOptions, command: Command) => {
      await listen(openSession(io, command), options)
    })
}

type EndpointOptions = WriteOptions & { events?: string[]; description?: string }
const keyOf = ({ idempotencyKey }: WriteOptions) => ({ ...(idempotencyKey && { idempotencyKey }) })

function addEndpoints(webhooks: Command, io: Io): void {
  addKeyOption(webhooks.command('create'))
    .argument('<url>', 'where the service sends events: https, on a public address')
    .option('--events <types>', 'only of these types, with commas between', parseNames)
    .option('--description <text>')
    .description('have the service send events to a URL; its secret is shown once')
    .action(async (url: string, options: EndpointOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const { events, description } = options
      const request = { url, ...(events && { events }), ...(description && { description }) }
      const webhook = await steward.webhooks.create(request, keyOf(options))
      say.show(webhook, () => [...webhookLines(say, webhook), secretAdvice(webhook.secret)])
    })

  webhooks
    .command('list')
    .description('the endpoints of the account')
    .action(async (_options: object, command: Command) => {
      const { steward, say } = openSession(io, command)
      const page = await steward.webhooks.list()
      say.show(page, () => listLines(say, page.data))
    })

  webhooks
    .command('get')
    .argument('<webhookId>')
    .description('an endpoint, and whether it is disabled')
    .action(async (id: string, _options: object, command: Command) => {
      const { steward, say } = openSession(io, command)
      const webhook = await steward.webhooks.get(id)
      say.show(webhook, () => webhookLines(say, webhook))
    })
}

/** The answer of a call that was made before has no secret. */
const secretAdvice = (secret: string | undefined) =>
  secret === undefined
    ? '  Its secret was shown before. Make a new one: steward webhooks rotate-secret <webhookId>'
    : '  The secret is shown only now: keep it where your receiver finds it.'

type UpdateOptions = EndpointOptions & { url?: string; enable?: true; disable?: true }

function addChanges(webhooks: Command, io: Io): void {
  addKeyOption(webhooks.command('update'))
    .argument('<webhookId>')
    .option('--url <url>')
    .option('--events <types>', 'only of these types, with commas between', parseNames)
    .option('--description <text>')
    .option('--enable', 'send again')
    .option('--disable', 'send nothing')
    .description('change an endpoint')
    .action(async (id: string, options: UpdateOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const webhook = await steward.webhooks.update(id, toChange(options), keyOf(options))
      say.show(webhook, () => webhookLines(say, webhook))
    })

  addKeyOption(webhooks.command('delete'))
    .argument('<webhookId>')
    .description('send nothing more to an endpoint, and forget it')
    .action(async (id: string, options: WriteOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      await steward.webhooks.delete(id, keyOf(options))
      say.show({ id, deleted: true }, () => [`${signs.done} Deleted ${plain(id)}.`])
    })

  addKeyOption(webhooks.command('rotate-secret'))
    .argument('<webhookId>')
    .option('--grace-hours <hours>', 'so long the old secret signs too; 24 when absent', Number)
    .description('make a new secret; it is shown once')
    .action(
      async (id: string, options: WriteOptions & { graceHours?: number }, command: Command) => {
        const { steward, say } = openSession(io, command)
        const { graceHours } = options
        const wish = graceHours === undefined ? {} : { graceHours }
        const rotated = await steward.webhooks.rotateSecret(id, wish, keyOf(options))
        say.show(rotated, () => [
          ...say.facts([['secret', rotated.secret]]),
          `  The old one signs too until ${formatTime(rotated.previousUntil)}.`,
        ])
      },
    )
}

/** @throws {CommandError} when it would change nothing. */
function toChange(options: UpdateOptions): UpdateWebhookParams {
  const { url, events, description, enable, disable } = options
  if (enable && disable) throw misused('Choose --enable or --disable.')
  const status = statusOf(enable, disable)
  const change = {
    ...(url !== undefined && { url }),
    ...(events && { events }),
    ...(description !== undefined && { description }),
    ...(status && { status }),
  } satisfies UpdateWebhookParams
  if (Object.keys(change).length === 0)
    throw misused('Say what to change: --help tells the options.')
  return change
}

const statusOf = (enable?: true, disable?: true) =>
  enable ? ('enabled' as const) : disable ? ('disabled' as const) : undefined

function addDeliveries(webhooks: Command, io: Io): void {
  addKeyOption(webhooks.command('test'))
    .argument('<webhookId>')
    .description('send an event webhook.test to an endpoint')
    .action(async (id: string, options: WriteOptions, command: Command) => {
      const session = openSession(io, command)
      const delivery = await session.steward.webhooks.test(id, keyOf(options))
      showDelivery(session, delivery)
    })

  addPaging(webhooks.command('deliveries'))
    .argument('<webhookId>')
    .description('what was sent to an endpoint, and what it answered')
    .action(async (id: string, options: PageOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const page = await readPages(options, (asked) => steward.webhooks.deliveries(id, asked))
      say.show(page, () => deliveryLines(say, page.data))
      if (page.hasMore && !say.isJson) say.note(`More: --cursor ${page.nextCursor}, or --all`)
    })

  addKeyOption(webhooks.command('resend'))
    .argument('<webhookId>')
    .argument('<deliveryId>')
    .description('send an event once more')
    .action(async (id: string, deliveryId: string, options: WriteOptions, command: Command) => {
      const session = openSession(io, command)
      const delivery = await session.steward.webhooks.resend(id, deliveryId, keyOf(options))
      showDelivery(session, delivery)
    })
}

function showDelivery({ say }: Session, delivery: WebhookDelivery): void {
  say.show(delivery, () => deliveryLines(say, [delivery]))
}

function webhookLines(say: Speaker, webhook: Webhook & { secret?: string }): string[] {
  const { id, url, events, description, status, disabledReason, createdAt, secret } = webhook
  return say.facts([
    ['webhook', id],
    ['url', url],
    ['events', events.join(', ')],
    ['description', description || undefined],
    ['status', disabledReason ? `${status}: ${disabledReason}` : status],
    ['created', formatTime(createdAt)],
    ['secret', secret],
  ])
}

function listLines(say: Speaker, webhooks: readonly Webhook[]): string[] {
  if (webhooks.length === 0) return ['No endpoint. Make one: steward webhooks create <url>']
  return say.table(webhooks, [
    { title: 'WEBHOOK', of: ({ id }) => id },
    { title: 'STATUS', of: ({ status }) => status },
    { title: 'EVENTS', of: ({ events }) => events.join(' ') },
    { title: 'URL', of: ({ url }) => url },
  ])
}

function deliveryLines(say: Speaker, deliveries: readonly WebhookDelivery[]): string[] {
  if (deliveries.length === 0) return ['Nothing was sent yet.']
  return say.table(deliveries, [
    { title: 'DELIVERY', of: ({ id }) => id },
    { title: 'EVENT', of: ({ eventId, type }) => `${type} ${eventId}` },
    { title: 'STATUS', of: ({ status }) => status },
    { title: 'TRIES', of: ({ attempts }) => String(attempts.length), isNumber: true },
    { title: 'LAST ANSWER', of: lastAnswer },
    { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
  ])
}

function lastAnswer({ attempts }: WebhookDelivery): string {
  const { status, error } = attempts.at(-1) ?? {}
  return status === undefined ? (error ?? '') : String(status)
}
