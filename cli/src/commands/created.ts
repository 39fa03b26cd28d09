import { assertCompleted, endLines, follow } from '../intents/follow.js'
import { signs } from '../terminal/io.js'
import type { Intent } from '@steward/sdk'
import type { Session } from '../session.js'

/** Tells of a new intent: at once, or when it is over. */
export async function tellCreated(
  session: Session,
  created: Intent,
  { detach, timeout }: { detach?: true; timeout?: number },
): Promise<void> {
  const { say, io } = session
  if (detach) {
    say.show(created, () => [
      `${signs.done} ${created.id} is ${created.status}.`,
      `  Follow it: steward intents watch ${created.id}`,
    ])
    return
  }
  if (!say.isJson) io.out.write(`${io.out.paint.dim(created.id)}\n`)
  const intent = await follow(session, created, { timeoutMs: timeout }).catch((error: unknown) => {
    // Programs learn the id whatever comes between.
    if (say.isJson) say.show(created, () => [])
    throw error
  })
  say.show(intent, () => endLines(intent, io.out))
  assertCompleted(intent)
}
