import { once } from 'node:events'
import type { Response } from 'express'

/** After how many ms a client comes again: from, and up to so much more, so that not all come at once. */
const RETRY_MS = { from: 500, more: 1_500 }

/**
 * Server-sent events on one response.
 *
 * @param bufferBytes - What may wait for the reader. One who has more to read is cut off, and goes on where he was.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function openEventStream(response: Response, { bufferBytes }: { bufferBytes: number }) {
  let isStuck = false
  const retry = Math.round(RETRY_MS.from + Math.random() * RETRY_MS.more)
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store, no-transform',
    // Proxies that gather what they pass on would hold events back.
    'X-Accel-Buffering': 'no',
  })
  response.write(`retry: ${retry}\n\n`)
  return {
    isOpen: () => !response.writableEnded && !response.destroyed,
    /** What happens now. */
    write(text: string): void {
      response.write(text)
      if (response.writableLength > bufferBytes) response.destroy()
    },
    /** What has happened: waits until the reader has taken it. */
    async writeSlowly(text: string): Promise<void> {
      if (response.write(text)) return
      await Promise.race([once(response, 'drain'), once(response, 'close')])
    },
    /** Tells client and proxies that the connection is well, and cuts it where nobody reads. */
    beat(): void {
      if (isStuck && response.writableNeedDrain) response.destroy()
      isStuck = response.writableNeedDrain
      if (!isStuck) response.write(':\n\n')
    },
    end(): void {
      response.end()
    },
    onClose(callback: () => void): void {
      if (response.closed) callback()
      else response.once('close', callback)
    },
  }
}

/** One event as it goes over the wire. `data` has no line break in it, as JSON has none. */
export const toFrame = ({ id, type, data }: { id: string; type: string; data: unknown }) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`

/** Has a client go on from here although he was told no event. */
export const toMark = (id: string) => `id: ${id}\n\n`
