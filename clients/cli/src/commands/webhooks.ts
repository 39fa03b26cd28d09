import { listen, type ListenOptions } from '../webhooks/listen.js'
import { openSession, type Session, type Speaker } from '../session.js'
import { addKeyOption, addPaging, parseNames, readPages } from '../options.js'
import { misused } from '../exit.js'
import { formatTime, plain } from '../terminal/text.js'
import { signs, type Io } from '../terminal/io.js'
import type { PageOptions, IdempotencyOptions } from '../options.js'
import type { Command } from 'commander'
import type { UpdateWebhookParams, Webhook, WebhookDelivery } from '@steward/sdk'

export function addWebhooks(program: Command, io: Io): void {
  const webhooks = program.command('webhooks').description('Receive events over HTTP.')
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
      'address of your receiver, such as http://localhost:3000/hook',
    )
    .option('--events <types>', 'only these types, comma-separated', parseNames)
    .option('--after <eventId>', 'start after this event; evt_0 starts with the first one')
    .option('--print-secret', 'print only the signing secret')
    .description('forward events to a receiver on this machine, signed as the service signs')
    .action(async (options: ListenOptions, command: Command) => {
      await listen(openSession(io, command), options)
    })
}

type EndpointOptions = IdempotencyOptions & { events?: string[]; description?: string }
const keyOf = ({ idempotencyKey }: IdempotencyOptions) => ({
  ...(idempotencyKey && { idempotencyKey }),
})

function addEndpoints(webhooks: Command, io: Io): void {
  addKeyOption(webhooks.command('create'))
    .argument('<url>', 'address of the endpoint: https, on a public address')
    .option('--events <types>', 'only these types, comma-separated', parseNames)
    .option('--description <text>')
    .description('create an endpoint; its secret is shown once')
    .action(async (url: string, options: EndpointOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const { events, description } = options
      const request = { url, ...(events && { events }), ...(description && { description }) }
      const webhook = await steward.webhooks.create(request, keyOf(options))
      say.show(webhook, () => [...webhookLines(say, webhook), secretAdvice(webhook.secret)])
    })

  webhooks
    .command('list')
    .description('list the endpoints of the account')
    .action(async (_options: object, command: Command) => {
      const { steward, say } = openSession(io, command)
      const page = await steward.webhooks.list()
      say.show(page, () => listLines(say, page.data))
    })

  webhooks
    .command('get')
    .argument('<webhookId>')
    .description('show an endpoint and its status')
    .action(async (id: string, _options: object, command: Command) => {
      const { steward, say } = openSession(io, command)
      const webhook = await steward.webhooks.get(id)
      say.show(webhook, () => webhookLines(say, webhook))
    })
}

/** A repeated call with the same idempotency key returns no secret. */
const secretAdvice = (secret: string | undefined) =>
  secret === undefined
    ? '  The secret was shown before. Create a new one: steward webhooks rotate-secret <webhookId>'
    : '  The secret is shown only once. Store it for your receiver.'

type UpdateOptions = EndpointOptions & { url?: string; enable?: true; disable?: true }

function addChanges(webhooks: Command, io: Io): void {
  addKeyOption(webhooks.command('update'))
    .argument('<webhookId>')
    .option('--url <url>')
    .option('--events <types>', 'only these types, comma-separated', parseNames)
    .option('--description <text>')
    .option('--enable', 'resume deliveries')
    .option('--disable', 'stop deliveries')
    .description('change an endpoint')
    .action(async (id: string, options: UpdateOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const webhook = await steward.webhooks.update(id, toChange(options), keyOf(options))
      say.show(webhook, () => webhookLines(say, webhook))
    })

  addKeyOption(webhooks.command('delete'))
    .argument('<webhookId>')
    .description('delete an endpoint')
    .action(async (id: string, options: IdempotencyOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      await steward.webhooks.delete(id, keyOf(options))
      say.show({ id, deleted: true }, () => [`${signs.done} Deleted ${plain(id)}.`])
    })

  addKeyOption(webhooks.command('rotate-secret'))
    .argument('<webhookId>')
    .option(
      '--grace-hours <hours>',
      'hours during which the old secret signs too (default 24)',
      Number,
    )
    .description('create a new secret; it is shown once')
    .action(
      async (
        id: string,
        options: IdempotencyOptions & { graceHours?: number },
        command: Command,
      ) => {
        const { steward, say } = openSession(io, command)
        const { graceHours } = options
        const params = graceHours === undefined ? {} : { graceHours }
        const rotated = await steward.webhooks.rotateSecret(id, params, keyOf(options))
        say.show(rotated, () => [
          ...say.facts([['secret', rotated.secret]]),
          `  The old secret signs too until ${formatTime(rotated.previousUntil)}.`,
        ])
      },
    )
}

/** @throws {CommandError} without any change. */
function toChange(options: UpdateOptions): UpdateWebhookParams {
  const { url, events, description, enable, disable } = options
  if (enable && disable)
    throw misused('--enable and --disable exclude each other. Use one of them.')
  const status = statusOf(enable, disable)
  const change = {
    ...(url !== undefined && { url }),
    ...(events && { events }),
    ...(description !== undefined && { description }),
    ...(status && { status }),
  } satisfies UpdateWebhookParams
  if (Object.keys(change).length === 0)
    throw misused('Nothing to change. Add an option; --help lists them.')
  return change
}

const statusOf = (enable?: true, disable?: true) =>
  enable ? ('enabled' as const) : disable ? ('disabled' as const) : undefined

function addDeliveries(webhooks: Command, io: Io): void {
  addKeyOption(webhooks.command('test'))
    .argument('<webhookId>')
    .description('send a webhook.test event to an endpoint')
    .action(async (id: string, options: IdempotencyOptions, command: Command) => {
      const session = openSession(io, command)
      const delivery = await session.steward.webhooks.test(id, keyOf(options))
      showDelivery(session, delivery)
    })

  addPaging(webhooks.command('deliveries'))
    .argument('<webhookId>')
    .description('list the deliveries of an endpoint and its answers')
    .action(async (id: string, options: PageOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const page = await readPages(options, (pageParams) =>
        steward.webhooks.deliveries(id, pageParams),
      )
      say.show(page, () => deliveryLines(say, page.data))
      if (page.hasMore && !say.isJson)
        say.note(`Next page: --cursor ${page.nextCursor}. All pages: --all`)
    })

  addKeyOption(webhooks.command('resend'))
    .argument('<webhookId>')
    .argument('<deliveryId>')
    .description('send a delivery again')
    .action(
      async (id: string, deliveryId: string, options: IdempotencyOptions, command: Command) => {
        const session = openSession(io, command)
        const delivery = await session.steward.webhooks.resend(id, deliveryId, keyOf(options))
        showDelivery(session, delivery)
      },
    )
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
  if (webhooks.length === 0) return ['No endpoints yet. Create one: steward webhooks create <url>']
  return say.table(webhooks, [
    { title: 'WEBHOOK', of: ({ id }) => id },
    { title: 'STATUS', of: ({ status }) => status },
    { title: 'EVENTS', of: ({ events }) => events.join(' ') },
    { title: 'URL', of: ({ url }) => url },
  ])
}

function deliveryLines(say: Speaker, deliveries: readonly WebhookDelivery[]): string[] {
  if (deliveries.length === 0) return ['No deliveries yet.']
  return say.table(deliveries, [
    { title: 'DELIVERY', of: ({ id }) => id },
    { title: 'EVENT', of: ({ eventId, type }) => `${type} ${eventId}` },
    { title: 'STATUS', of: ({ status }) => status },
    { title: 'ATTEMPTS', of: ({ attempts }) => String(attempts.length), isNumber: true },
    { title: 'LAST ANSWER', of: lastAnswer },
    { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
  ])
}

function lastAnswer({ attempts }: WebhookDelivery): string {
  const { status, error } = attempts.at(-1) ?? {}
  return status === undefined ? (error ?? '') : String(status)
}
