import { assertCompleted, endLines, follow } from '../intents/follow.js'
import { signs } from '../terminal/io.js'
import type { Intent } from '@steward/sdk'
import type { Session } from '../session.js'

/** Prints a new intent: at once with `detach`, otherwise when it has ended. */
export async function printCreated(
  session: Session,
  created: Intent,
  { detach, timeout }: { detach?: true; timeout?: number },
): Promise<void> {
  const { say, io } = session
  if (detach) {
    say.show(created, () => [
      `${signs.done} ${created.id} is ${created.status}.`,
      `  Follow: steward intents watch ${created.id}`,
    ])
    return
  }
  if (!say.isJson) io.out.write(`${io.out.paint.dim(created.id)}\n`)
  const intent = await follow(session, created, { timeoutMs: timeout }).catch((error: unknown) => {
    // The JSON output contains the id even when following fails.
    if (say.isJson) say.show(created, () => [])
    throw error
  })
  say.show(intent, () => endLines(intent, io.out))
  assertCompleted(intent)
}
