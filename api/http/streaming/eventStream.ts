import type { Response } from 'express'

/** After how many ms a client comes again: from, and up to so much more, so that not all come at once. */
const RETRY_MS = { from: 500, more: 1_500 }

/** How long a reader may take for the rest when a stream ends. */
const END_MS = 2_000

/** `bufferBytes` is what may wait for the reader. One who has more to read is cut off, and goes on where he was. */
type Limits = { bufferBytes: number; onCut(): void }

/**
 * Server-sent events on one response.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function openEventStream(response: Response, { bufferBytes, onCut }: Limits) {
  let isStuck = false
  const cut = () => {
    onCut()
    response.destroy()
  }
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
      if (response.writableLength > bufferBytes) cut()
      else response.write(text)
    },
    /** What has happened: waits until the reader has taken it. */
    async writeSlowly(text: string): Promise<void> {
      if (response.write(text)) return
      await new Promise<void>((resolve) => {
        const go = () => {
          response.off('drain', go).off('close', go)
          resolve()
        }
        response.on('drain', go).on('close', go)
      })
    },
    /** Tells client and proxies that the connection is well, and cuts it where nobody reads. */
    beat(): void {
      if (response.writableEnded) return
      if (isStuck && response.writableNeedDrain) cut()
      isStuck = response.writableNeedDrain
      if (!isStuck) response.write(':\n\n')
    },
    end(): void {
      response.end()
      setTimeout(() => response.destroy(), END_MS).unref()
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
