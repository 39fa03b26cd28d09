import { IntentFailedError, TimeoutError } from '@steward/sdk'
import { CommandError, exitCodes } from '../exit.js'
import { beginTimeline, describeFunds, describeIntent, applyEvent } from './timeline.js'
import { createLive, spinner } from '../terminal/live.js'
import { signs } from '../terminal/io.js'
import {
  formatClock,
  formatDuration,
  formatTime,
  formatUsd,
  plain,
  shorten,
} from '../terminal/text.js'
import type { Event, Intent } from '@steward/sdk'
import type { Session } from '../session.js'
import type { StepView, Timeline } from './timeline.js'
import type { Output } from '../terminal/io.js'

export type Following = {
  timeoutMs?: number | undefined
  /** Receives every event, in addition to the display. */
  onEvent?: (event: Event) => void
}

const FRAME_MS = 80

/**
 * Follows an intent until it ends and shows its progress. A terminal shows the steps, redrawn in place; other outputs
 * get one line per event. With `--json` nothing is shown.
 *
 * @returns The completed or failed intent.
 * @throws {CommandError} when `timeoutMs` has passed or Ctrl-C was pressed. The intent continues.
 */
export async function follow(
  session: Session,
  begun: Intent,
  { timeoutMs, onEvent }: Following = {},
): Promise<Intent> {
  const { steward, io } = session
  const view = openView(session, begun)
  let last = begun
  try {
    last = await steward.intents.waitForCompletion(begun.id, {
      signal: io.interrupted,
      ...(timeoutMs !== undefined && { timeoutMs }),
      onEvent: (event: Event) => {
        view.show(event)
        onEvent?.(event)
      },
    })
    return last
  } catch (error) {
    if (error instanceof IntentFailedError) return (last = error.intent)
    if (io.interrupted.aborted) throw leftAlone(exitCodes.interrupted, begun, 'Stopped following')
    if (error instanceof TimeoutError && timeoutMs !== undefined) {
      throw leftAlone(exitCodes.timeout, begun, `Not finished after ${formatDuration(timeoutMs)}`)
    }
    throw error
  } finally {
    view.end(last)
  }
}

function leftAlone(
  exitCode: typeof exitCodes.interrupted | typeof exitCodes.timeout,
  { id }: Intent,
  what: string,
): CommandError {
  return new CommandError(exitCode, `${what}: ${id} continues.`, [
    `Follow it again: steward intents watch ${id}`,
  ])
}

/** The result of an ended intent, as lines of text. */
export function endLines(intent: Intent, { paint }: Output): string[] {
  const { id, status, results, createdAt, endedAt } = intent
  const isDone = status === 'completed'
  const sign = isDone ? paint.green(signs.done) : paint.red(signs.failed)
  const took = endedAt ? [formatDuration(Date.parse(endedAt) - Date.parse(createdAt))] : []
  const usd = results?.totalGasCostUsd ?? null
  const gas = usd === null ? [] : [`${formatUsd(usd)} of gas`]
  const head = [plain(describeIntent(intent)), ...(isDone ? [...took, ...gas] : [])].join(', ')
  if (isDone) return [`${sign} ${head}`, `  ${paint.dim(id)}`]
  const money = describeFunds(intent).map((line) => `  Funds: ${plain(line)}`)
  return [`${sign} ${head}`, ...money, ...nextLines(intent)]
}

/** The command that continues a failed intent, when it succeeds now or from a known time on. */
function nextLines({ id, actions, retryFrom, error }: Intent): string[] {
  if (error?.code === 'CANCELLED') return []
  const command = `steward intents retry ${id}`
  if (actions.includes('retry')) return [`  Retry: ${command}`]
  return retryFrom ? [`  Retry from ${formatTime(retryFrom)} on: ${command}`] : []
}

/** @throws {CommandError} without a message when the intent has not completed: the reason is already printed. */
export function assertCompleted({ status }: Intent): void {
  if (status !== 'completed') throw new CommandError(exitCodes.failed, '')
}

/** `end` receives the last known state of the intent. */
type ProgressView = { show(event: Event): void; end(intent: Intent): void }

function openView({ io, say }: Session, begun: Intent): ProgressView {
  if (say.isJson) return { show: () => undefined, end: () => undefined }
  return io.out.isTerminal ? openLiveView(io.out, begun) : openPlainView(io.out)
}

/** One line per event, for logs and pipes. */
function openPlainView(out: Output): ProgressView {
  return {
    show: (event) => out.write(`${eventLine(event)}\n`),
    end: () => undefined,
  }
}

/** `05:36:07  intent.step_completed  step 2, deposit on base-sepolia 0xf4bf…264b`. */
export function eventLine({ type, timestamp, data }: Event, about = ''): string {
  const { step, kind, chain, txHash, error, delay, status } = data
  const reason = (error ?? delay) as { code?: unknown; message?: unknown } | undefined
  const parts = [
    ...(about ? [about] : []),
    ...(step === undefined ? [] : [`step ${String(step)}, ${String(kind)} on ${String(chain)}`]),
    ...(typeof txHash === 'string' ? [txHash] : []),
    ...(reason ? [`${String(reason.code)}: ${String(reason.message)}`] : []),
    ...(step === undefined && !reason && typeof status === 'string' ? [status] : []),
  ]
  return plain(
    `${formatClock(new Date(timestamp))}  ${type.padEnd(22)}  ${parts.join('  ')}`.trimEnd(),
  )
}

/** The steps of the plan, redrawn in place. They stay on the screen when the intent ends. */
function openLiveView(out: Output, begun: Intent): ProgressView {
  const live = createLive(out)
  let timeline = beginTimeline(begun)
  const draw = () => {
    live.draw(timelineLines(timeline, out))
  }
  draw()
  const timer = setInterval(draw, FRAME_MS)
  return {
    show(event) {
      timeline = applyEvent(timeline, event)
    },
    end(intent) {
      clearInterval(timer)
      live.clear()
      // The ended intent is authoritative over the events.
      const shown = intent.endedAt === undefined ? timeline : beginTimeline(intent)
      out.write(
        timelineLines(shown, out, false)
          .map((line) => `${line}\n`)
          .join(''),
      )
    },
  }
}

/** @param isMoving - Whether the intent still runs. A running step then has a spinner. */
export function timelineLines({ status, steps }: Timeline, out: Output, isMoving = true): string[] {
  const { dim, cyan } = out.paint
  if (steps.length > 0) return steps.map((step) => stepLine(step, out, isMoving))
  return [`${isMoving ? cyan(spinner()) : dim(signs.waiting)} ${plain(status)}`]
}

function stepLine(step: StepView, { paint }: Output, isMoving: boolean): string {
  const { state, text, note, txHash, startedAt, endedAt = Date.now() } = step
  const running = isMoving ? spinner() : signs.waiting
  const sign = {
    waiting: paint.dim(signs.waiting),
    running: paint.cyan(running),
    completed: paint.green(signs.done),
    failed: paint.red(signs.failed),
  }[state]
  const took = startedAt === undefined ? [] : [formatDuration(Math.max(0, endedAt - startedAt))]
  const facts = [...(note ? [plain(note)] : []), ...(txHash ? [shorten(txHash)] : []), ...took]
  const shown = state === 'waiting' ? paint.dim(plain(text)) : plain(text)
  return `${sign} ${shown}${facts.length > 0 ? `  ${paint.dim(facts.join('  '))}` : ''}`
}
