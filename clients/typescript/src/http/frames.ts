/** One server-sent event. Without `data` it only sets the position to resume from. */
export type Frame = { id: string | undefined; data: string | undefined }

/**
 * Parses server-sent events from a stream of text pieces.
 *
 * @returns A function that takes the next piece and returns the completed events.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export function createFrameReader(onRetry: (ms: number) => void): (piece: string) => Frame[] {
  let rest = ''
  let id: string | undefined
  let data: string[] = []
  const readLine = (line: string) => {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) id = value
    else if (field === 'retry' && /^\d+$/.test(value)) onRetry(Number(value))
  }
  return (piece) => {
    const frames: Frame[] = []
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== '') {
        readLine(line)
        continue
      }
      if (id !== undefined || data.length > 0) {
        frames.push({ id, data: data.length > 0 ? data.join('\n') : undefined })
      }
      id = undefined
      data = []
    }
    return frames
  }
}
