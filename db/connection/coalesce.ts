/** Half of 64 busy connections: the database answers one half while this process works on the other half's answers. */
const MOST_CALLS = 32

type Waiting<Call, Answer> = {
  call: Call
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/**
 * Sends a call at once, and all calls that come while it is under way together in the next statement, so that load
 * makes statements larger instead of more. For admission only.
 *
 * @param send - Answers calls in their order.
 */
export function coalesce<Call, Answer>(
  send: (calls: Call[]) => Promise<Answer[]>,
): (call: Call) => Promise<Answer> {
  const waiting: Waiting<Call, Answer>[] = []
  let isSending = false

  async function sendWaiting(): Promise<void> {
    isSending = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MOST_CALLS)
      try {
        const answers = await send(batch.map(({ call }) => call))
        for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Answer)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isSending = false
  }

  return (call) =>
    new Promise((resolve, reject) => {
      waiting.push({ call, resolve, reject })
      if (!isSending) void sendWaiting()
    })
}
