import { CommandError, exitCodes, misused } from '../exit.js'
import { findProfile, saveProfile } from '../profiles.js'
import { tailEvents } from './tail.js'
import { formatClock, plain } from '../terminal/text.js'
import { isSecret, newSecret, sendWebhook, type Receipt } from './webhookSender.js'
import type { Event } from '@steward/sdk'
import type { Session } from '../session.js'

export type ListenOptions = {
  forwardTo: string
  events?: string[]
  after?: string
  printSecret?: true
}

/** Sends what happens to a receiver, one event after the other, until Ctrl-C. */
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
    `Sends to ${plain(url)}, signed with ${secret}`,
    dim('Verify with this secret: webhooks.verify of the SDK. Ctrl-C ends.'),
  ])
  const { events: type, after } = options
  const filter = { ...(type && { type }), ...(after !== undefined && { after }) }
  await tailEvents(session, filter, async (event) => {
    const receipt = await sendWebhook(url, secret, event)
    say.next({ event, receipt }, () => [sentLine(event, receipt, session)])
    return true
  })
  if (io.interrupted.aborted) throw new CommandError(exitCodes.interrupted, '')
}

/** @throws {CommandError} for what is no address of the web. */
function toReceiver(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw misused('--forward-to must be an address such as http://localhost:3000/hook.')
  }
  if (url.username || url.password) throw misused('--forward-to has no place for a password.')
  return url.href
}

/** The same for a login each time, so that a receiver is set up once; STEWARD_WEBHOOK_SECRET is stronger. */
function secretOf({ io, access, say }: Session): string {
  const { STEWARD_WEBHOOK_SECRET: given } = io.env
  if (given) {
    if (isSecret(given)) return given
    throw misused('STEWARD_WEBHOOK_SECRET must be `whsec_` and 24 to 64 bytes in base64.')
  }
  const { profile: name } = access
  const profile = name === undefined ? undefined : findProfile(io.env, name)
  if (name === undefined || !profile) {
    say.note(
      '! Without a login the secret is a new one each time. STEWARD_WEBHOOK_SECRET keeps it.',
    )
    return newSecret()
  }
  if (profile.webhookSecret !== undefined) return profile.webhookSecret
  const secret = newSecret()
  saveProfile(io.env, name, { ...profile, webhookSecret: secret })
  return secret
}

function sentLine({ id, type, timestamp }: Event, { status, error, ms }: Receipt, { io }: Session) {
  const { green, red, dim } = io.out.paint
  const isTaken = status !== undefined && status >= 200 && status < 300
  const answer = status === undefined ? (error ?? '') : String(status)
  const shown = isTaken ? green(answer) : red(answer)
  const at = formatClock(new Date(timestamp))
  return `${at}  ${plain(type).padEnd(22)}  ${plain(id)}  ${shown} ${dim(`${ms} ms`)}`
}
