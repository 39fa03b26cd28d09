import { CommandError, exitCodes, misused } from '../exit.js'
import { findProfile, saveProfile } from '../profiles.js'
import { tailEvents } from './tail.js'
import { formatClock, plain } from '../terminal/text.js'
import { isSecret, newSecret, sendWebhook, type ForwardResult } from './webhookSender.js'
import type { Event } from '@steward/sdk'
import type { Session } from '../session.js'

export type ListenOptions = {
  forwardTo: string
  events?: string[]
  after?: string
  printSecret?: true
}

/** Forwards events to a receiver, one after the other, until Ctrl-C. */
export async function listen(session: Session, options: ListenOptions): Promise<void> {
  const { io, say } = session
  const url = toReceiver(options.forwardTo)
  const secret = secretOf(session)
  if (options.printSecret) {
    io.out.write(`${secret}\n`)
    return
  }
  const { dim } = io.out.paint
  say.next({ secret, forwardTo: url }, () => [
    `Forwarding to ${plain(url)}, signed with ${secret}`,
    dim('Verify with webhooks.verify of the SDK and this secret. Stop with Ctrl-C.'),
  ])
  const { events: type, after } = options
  const filter = { ...(type && { type }), ...(after !== undefined && { after }) }
  await tailEvents(session, filter, async (event) => {
    const result = await sendWebhook(url, secret, event)
    say.next({ event, receipt: result }, () => [sentLine(event, result, session)])
    return true
  })
  if (io.interrupted.aborted) throw new CommandError(exitCodes.interrupted, '')
}

/** @throws {CommandError} when the text is not an HTTP address. */
function toReceiver(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw misused(
      '--forward-to is not an HTTP address. Use one such as http://localhost:3000/hook.',
    )
  }
  if (url.username || url.password)
    throw misused('--forward-to must not contain a user name or a password.')
  return url.href
}

/** STEWARD_WEBHOOK_SECRET, otherwise the secret kept for the login, so that a receiver is configured once. */
function secretOf({ io, access, say }: Session): string {
  const { STEWARD_WEBHOOK_SECRET: given } = io.env
  if (given) {
    if (isSecret(given)) return given
    throw misused('STEWARD_WEBHOOK_SECRET is not valid. Use `whsec_` and 24 to 64 bytes in base64.')
  }
  const { profile: name } = access
  const profile = name === undefined ? undefined : findProfile(io.env, name)
  if (name === undefined || !profile) {
    say.note('! Without a login each run has a new secret. Set STEWARD_WEBHOOK_SECRET to keep it.')
    return newSecret()
  }
  if (profile.webhookSecret !== undefined) return profile.webhookSecret
  const secret = newSecret()
  saveProfile(io.env, name, { ...profile, webhookSecret: secret })
  return secret
}

function sentLine(
  { id, type, timestamp }: Event,
  { status, error, ms }: ForwardResult,
  { io }: Session,
) {
  const { green, red, dim } = io.out.paint
  const isAccepted = status !== undefined && status >= 200 && status < 300
  const answer = status === undefined ? (error ?? '') : String(status)
  const shown = isAccepted ? green(answer) : red(answer)
  const at = formatClock(new Date(timestamp))
  return `${at}  ${plain(type).padEnd(22)}  ${plain(id)}  ${shown} ${dim(`${ms} ms`)}`
}
