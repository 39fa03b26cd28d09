import type { Response } from 'express'

/** Reconnect delay of clients, milliseconds: `from` plus a random part of `more`, so that they do not reconnect at once. */
const RETRY_MS = { from: 500, more: 1_500 }

/** Milliseconds that a client has to read the rest when a stream ends. */
const END_MS = 2_000

/** `bufferBytes`: unread bytes after which a client is disconnected. It can resume after its last event. */
type StreamBuffer = { bufferBytes: number; onCut(): void }

/**
 * Server-sent events on one response.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function openEventStream(response: Response, { bufferBytes, onCut }: StreamBuffer) {
  let isStuck = false
  const cut = () => {
    onCut()
    response.destroy()
  }
  const retry = Math.round(RETRY_MS.from + Math.random() * RETRY_MS.more)
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store, no-transform',
    // nginx would otherwise buffer events.
    'X-Accel-Buffering': 'no',
  })
  response.write(`retry: ${retry}\n\n`)
  return {
    isOpen: () => !response.writableEnded && !response.destroyed,
    /** Sends new events. Disconnects a client that reads too slowly. */
    write(text: string): void {
      if (response.writableLength > bufferBytes) cut()
      else response.write(text)
    },
    /** Sends past events, and waits until the client has read them. */
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
    /** Sends a heartbeat comment. Disconnects a client that has not read since the last one. */
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

/** An event on the wire. JSON has no line breaks, so `data` is one line. */
export const toFrame = ({ id, type, data }: { id: string; type: string; data: unknown }) =>
  `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`

/** Sets the id after which a client resumes, without an event. */
export const toMark = (id: string) => `id: ${id}\n\n`
