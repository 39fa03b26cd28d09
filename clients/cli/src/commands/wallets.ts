import { openSession, type Speaker } from '../session.js'
import {
  addKeyOption,
  addPaging,
  parseObject,
  readPages,
  type PageOptions,
  type IdempotencyOptions,
} from '../options.js'
import { formatTime } from '../terminal/text.js'
import type { Wallet } from '@steward/sdk'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'

type CreateWalletOptions = IdempotencyOptions & { metadata?: Record<string, unknown> }

export function addWallets(program: Command, io: Io): void {
  const wallets = program.command('wallets').description('The wallets of your users.')

  addKeyOption(wallets.command('create'))
    .argument('<userId>', 'your identifier of the user, who has one wallet')
    .option('--metadata <json>', 'an object that is stored with the wallet', parseObject)
    .description('create the wallet of a user (1 credit)')
    .action(async (userId: string, options: CreateWalletOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const { metadata, idempotencyKey } = options
      const request = { userId, ...(metadata && { metadata }) }
      const wallet = await steward.wallets.create(request, {
        ...(idempotencyKey && { idempotencyKey }),
      })
      say.show(wallet, () => walletLines(say, wallet))
    })

  wallets
    .command('get')
    .argument('<userId>')
    .description('show the wallet of a user (1 credit)')
    .action(async (userId: string, _options: object, command: Command) => {
      const { steward, say } = openSession(io, command)
      const wallet = await steward.wallets.get(userId)
      say.show(wallet, () => walletLines(say, wallet))
    })

  addPaging(wallets.command('list'))
    .description('list wallets, newest first (1 credit per page)')
    .action(async (options: PageOptions, command: Command) => {
      const { steward, say } = openSession(io, command)
      const page = await readPages(options, (pageParams) => steward.wallets.list(pageParams))
      say.show(page, () => listLines(say, page.data))
      if (page.hasMore && !say.isJson)
        say.note(`Next page: --cursor ${page.nextCursor}. All pages: --all`)
    })
}

function walletLines(say: Speaker, wallet: Wallet): string[] {
  const { id, userId, address, chains, metadata, createdAt } = wallet
  const hasMetadata = Object.keys(metadata).length > 0
  return say.facts([
    ['wallet', id],
    ['user', userId],
    ['address', address],
    ['chains', chains.join(', ')],
    ['metadata', hasMetadata ? JSON.stringify(metadata) : undefined],
    ['created', formatTime(createdAt)],
  ])
}

function listLines(say: Speaker, wallets: Wallet[]): string[] {
  if (wallets.length === 0) return ['No wallets yet. Create one: steward wallets create <userId>']
  return say.table(wallets, [
    { title: 'WALLET', of: ({ id }) => id },
    { title: 'USER', of: ({ userId }) => userId },
    { title: 'ADDRESS', of: ({ address }) => address },
    { title: 'CREATED', of: ({ createdAt }) => formatTime(createdAt) },
  ])
}
