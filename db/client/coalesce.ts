/** Half of 64 busy connections: the database executes one half while this process handles the other half's results. */
const MOST_CALLS = 32

type PendingCall<Call, Answer> = {
  call: Call
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/**
 * Sends a call immediately, and batches the calls that arrive meanwhile into the next statement. Under load, statements
 * get larger instead of more numerous. Used for authentication only.
 *
 * @param send - Returns the results in the order of the calls.
 */
export function coalesce<Call, Answer>(
  send: (calls: Call[]) => Promise<Answer[]>,
): (call: Call) => Promise<Answer> {
  const waiting: PendingCall<Call, Answer>[] = []
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
