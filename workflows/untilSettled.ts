import { condition, defineSignal, setHandler } from '@temporalio/workflow'
import {
  SETTLED,
  isUnsettled,
  type WaitReason,
  type Unsettled,
} from '../domain/intent/waitReason.js'

/** Fallback for a lost signal. The pause doubles each time, up to a day, which bounds the history of long waits. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [3_600_000, 24 * 3_600_000]

const settled = defineSignal(SETTLED)

/**
 * Returns a function that calls an activity until it returns a result. Between two calls the workflow waits for the
 * signal `settled`, without slot, heartbeat or polling. A signal that arrives during a call counts.
 *
 * @param onWait - Receives the wait reason of the step. The next call passes its code to the activity, which returns
 *   early when the reason changes.
 */
export function createUntilSettled(
  onWait: (waitsFor: WaitReason | undefined) => void = () => undefined,
) {
  let isSignalled = false
  setHandler(settled, () => {
    isSignalled = true
  })

  return async function untilSettled<Result>(
    call: (shown: WaitReason['code'] | undefined) => Promise<Result | Unsettled>,
  ): Promise<Result> {
    let shown: WaitReason['code'] | undefined
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      isSignalled = false
      const result = await call(shown)
      if (!isUnsettled(result)) return result
      shown = result.waitsFor?.code
      onWait(result.waitsFor)
      await condition(() => isSignalled, Math.min(pauseMs, result.againMs ?? pauseMs))
    }
  }
}

export type UntilSettled = ReturnType<typeof createUntilSettled>
