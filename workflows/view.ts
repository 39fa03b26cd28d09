import {
  SearchAttributeType,
  defineSearchAttributeKey,
  type SearchAttributeUpdatePair,
} from '@temporalio/common'
import {
  defineQuery,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow'
import { searchAttributeNames as names } from '../domain/events/searchAttributes.js'
import { toMarkdown, type Mark, type View } from './details.js'
import type { WaitReason } from '../domain/intent/waitReason.js'
import type { StepPlan, LifecycleStatus, Progress } from '../domain/intent/intent.js'

const progressQuery = defineQuery<Progress>('progress')

const { KEYWORD, KEYWORD_LIST } = SearchAttributeType
const intentStatus = defineSearchAttributeKey(names.intentStatus, KEYWORD)
const intentFailure = defineSearchAttributeKey(names.intentFailure, KEYWORD)
const waitingFor = defineSearchAttributeKey(names.waitingFor, KEYWORD_LIST)

export type IntentView = ReturnType<typeof createView>

/**
 * Publishes the progress of an intent: to the API by the query `progress`, and to operators in the details of the
 * workflow, which add no events. Each update of a search attribute costs an event, so an intent without long waits or
 * failures writes none.
 */
export function createView(plan: StepPlan | undefined) {
  const view: View = { plan, marks: [] }
  let status: LifecycleStatus = plan ? 'planning' : 'pending'
  const list = createListing()
  const show = () => {
    setCurrentDetails(toMarkdown(view))
  }
  const resume = () => {
    delete view.waitsFor
    list(undefined)
    show()
  }

  setHandler(progressQuery, () => toProgress(view, status))
  show()

  return {
    begin(planned: StepPlan): void {
      view.plan = planned
      show()
    },
    step(sequence: number): void {
      status = 'executing'
      view.current = { sequence, since: new Date() }
      show()
    },
    /** Shows the wait reason of a step that runs for over a minute. */
    wait(hold: WaitReason | undefined): void {
      view.waitsFor = hold
      list(hold?.isUsual ? undefined : hold?.code)
      if (hold?.failure) upsertSearchAttributes(failed('failed', hold.failure))
      show()
    },
    /** Clears the wait reason. */
    resume,
    mark(mark: Mark): void {
      view.marks.push(mark)
      resume()
    },
    end(ended: LifecycleStatus, failure?: { code: string; message: string }): void {
      status = ended
      const shown = failure?.code === 'CANCELLED' ? 'cancelled' : ended
      if (failure) upsertSearchAttributes(failed(shown, failure.code))
      const reason =
        failure && shown !== 'cancelled' ? ` (${failure.code}): ${failure.message}` : ''
      view.end = `${shown}${reason}`
      resume()
    },
  }
}

function toProgress({ plan, current, waitsFor }: View, status: LifecycleStatus): Progress {
  const steps = plan?.steps ?? []
  const before = steps.filter(({ sequence }) => sequence < (current?.sequence ?? 0))
  const isCompleted = status === 'completed'
  return {
    status,
    completedSteps: isCompleted ? steps.length : before.length,
    ...(current && !isCompleted && { currentStep: current.sequence }),
    ...(waitsFor && { waitingFor: { code: waitsFor.code, since: waitsFor.since } }),
  }
}

/** Returns a function that sets the search attribute of the wait reason, when the reason has changed. */
function createListing() {
  let listed: string | undefined
  return (code: string | undefined) => {
    if (code === listed) return
    upsertSearchAttributes([{ key: waitingFor, value: code === undefined ? null : [code] }])
    listed = code
  }
}

const failed = (status: string, code: string): SearchAttributeUpdatePair[] => [
  { key: intentStatus, value: status },
  { key: intentFailure, value: code },
]
