import {
  TestWorkflowEnvironment,
  type TimeSkippingTestWorkflowEnvironmentOptions,
} from '@temporalio/testing'
import { timed } from '../run/seconds.js'
import { testServer } from './testServer.js'

type EnvironmentOptions = Omit<TimeSkippingTestWorkflowEnvironmentOptions, 'server'>

/** The SDK kills a server that is not up after five seconds. A busy machine may need longer. */
const ATTEMPTS = 3

/**
 * A Temporal server whose clock jumps to the next timer while a result is awaited. All its workflows share the clock,
 * so run them one after the other. Close it by `teardown()`.
 */
export async function createTimeSkippingEnvironment(
  options: EnvironmentOptions = {},
): Promise<TestWorkflowEnvironment> {
  const server = { executable: { type: 'existing-path', path: testServer() } } as const
  for (let attempt = 1; ; attempt++) {
    try {
      return await timed('temporal', () =>
        TestWorkflowEnvironment.createTimeSkipping({ ...options, server }),
      )
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
  }
}
