import { StewardError } from '@steward/sdk'
import { findDevnet, type Devnet } from '../devnet.js'
import { misused } from '../exit.js'
import { readNetwork } from '../network.js'
import {
  DEFAULT_PROFILE,
  findProfile,
  profileNames,
  removeProfile,
  saveProfile,
} from '../profiles.js'
import { openClient, openSpeaker, toBaseUrl, type GlobalOptions } from '../session.js'
import { signs, type Io } from '../terminal/io.js'
import { askSecret, readSecret } from '../terminal/prompt.js'
import type { Steward } from '@steward/sdk'
import type { Network } from '../profiles.js'
import type { Command } from 'commander'

type LoginOptions = GlobalOptions & { keyStdin?: true; devnet?: true }

const keyForm = /^svc_sk_[0-9a-f]{64}$/

export function addLogin(program: Command, io: Io): void {
  program
    .command('login')
    .option('--key-stdin', 'read the key from standard input')
    .option('--devnet', 'use the devnet that npm start runs for this checkout')
    .description('check an API key and store it for the other commands')
    .action(async (_options: object, command: Command) => {
      await login(io, command.optsWithGlobals<LoginOptions>())
    })

  program
    .command('logout')
    .description('delete the stored key; it stays valid until it is revoked in the dashboard')
    .action((_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const name = nameOf(io, options)
      if (!removeProfile(io.env, name)) throw misused(`The profile ${name} does not exist.`)
      openSpeaker(io, options.json === true).show({ profile: name, loggedIn: false }, () => [
        `${signs.done} Deleted the stored key of the profile ${name}.`,
      ])
    })
}

async function login(io: Io, options: LoginOptions): Promise<void> {
  const say = openSpeaker(io, options.json === true)
  const name = nameOf(io, options)
  const devnet = options.devnet ? knownDevnet(io) : undefined
  const baseUrl = devnet ? toBaseUrl(devnet.baseUrl) : chooseUrl(io, options, name)
  if (isOpenToAll(baseUrl)) say.note(`! ${baseUrl} is not encrypted: the network can read the key.`)
  const apiKey =
    devnet?.apiKey ?? (options.keyStdin ? await readSecret(io) : await ask(io, baseUrl))
  if (!keyForm.test(apiKey)) {
    throw misused('The API key is not valid. It is `svc_sk_` and 64 hexadecimal characters.')
  }
  const steward = openClient(io, apiKey, baseUrl)
  const { plan, balance } = await steward.credits.get({ signal: io.interrupted })
  const network = await tryNetwork(steward)
  const { webhookSecret } = findProfile(io.env, name) ?? {}
  const profile = {
    ...{ baseUrl, apiKey },
    ...(network && { network }),
    ...(webhookSecret !== undefined && { webhookSecret }),
  }
  const file = saveProfile(io.env, name, profile)
  const facts = [...(network ? [network] : []), `plan ${plan}`, `${balance} credits left`]
  say.show({ profile: name, baseUrl, network, plan, credits: balance, file }, () => [
    `${signs.done} Logged in to ${baseUrl} (${facts.join(', ')}).`,
    `  Profile ${name}, in ${file}`,
  ])
}

/** Undefined while no chain answers. A later command determines it then. */
async function tryNetwork(steward: Steward): Promise<Network | undefined> {
  try {
    return await readNetwork(steward)
  } catch (error) {
    if (error instanceof StewardError && (error.status ?? 0) >= 500) return undefined
    throw error
  }
}

const nameOf = ({ env }: Io, { profile }: GlobalOptions) =>
  profile ?? (env.STEWARD_PROFILE || DEFAULT_PROFILE)

function knownDevnet(io: Io): Devnet {
  const devnet = findDevnet(io.env)
  if (devnet) return devnet
  throw misused('No devnet runs for this folder. Start it in a checkout: npm start')
}

/** The address from the options or the environment, otherwise that of the existing profile. */
function chooseUrl(io: Io, { baseUrl }: LoginOptions, name: string): string {
  const known = baseUrl ?? io.env.STEWARD_BASE_URL ?? findProfile(io.env, name)?.baseUrl
  if (known) return toBaseUrl(known)
  const others = profileNames(io.env)
  throw misused(
    'The address of the API is missing. Add --base-url <url>, or --devnet for a devnet.',
    ...(others.length > 0 ? [`Existing profiles: ${others.join(', ')}`] : []),
  )
}

const ask = (io: Io, baseUrl: string) =>
  askSecret(io, `API key for ${baseUrl} (from its dashboard, not shown): `)

/** Whether the key would cross a public network without TLS. A name without a dot is on the local network. */
function isOpenToAll(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  const isNear = hostname === '[::1]' || hostname.startsWith('127.') || !hostname.includes('.')
  return protocol === 'http:' && !isNear
}
