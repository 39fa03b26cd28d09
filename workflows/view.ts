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
import { searchAttributeNames as names } from '../domain/searchAttributes.js'
import { toMarkdown, type Mark, type View } from './details.js'
import type { Hold } from '../domain/hold.js'
import type { ExecutionPlan, IntentStatus, Progress } from '../domain/intent.js'

const progressQuery = defineQuery<Progress>('progress')

const { KEYWORD, KEYWORD_LIST } = SearchAttributeType
const intentStatus = defineSearchAttributeKey(names.intentStatus, KEYWORD)
const intentFailure = defineSearchAttributeKey(names.intentFailure, KEYWORD)
const waitingFor = defineSearchAttributeKey(names.waitingFor, KEYWORD_LIST)

export type IntentView = ReturnType<typeof createView>

/**
 * How far an intent is: for the API by the query `progress`, for operators in the details of the workflow, which cost
 * nothing. Search attributes cost an event and an action each, so that a usual intent writes none.
 */
export function createView(plan: ExecutionPlan | undefined) {
  const view: View = { plan, marks: [] }
  let status: IntentStatus = plan ? 'planning' : 'pending'
  const list = createListing()
  const show = () => {
    setCurrentDetails(toMarkdown(view))
  }
  const goOn = () => {
    delete view.waitsFor
    list(undefined)
    show()
  }

  setHandler(progressQuery, () => toProgress(view, status))
  show()

  return {
    begin(planned: ExecutionPlan): void {
      view.plan = planned
      show()
    },
    step(sequence: number): void {
      status = 'executing'
      view.current = { sequence, since: new Date() }
      show()
    },
    /** The current step is not over within a minute. */
    wait(hold: Hold | undefined): void {
      view.waitsFor = hold
      list(hold?.isUsual ? undefined : hold?.code)
      if (hold?.failure) upsertSearchAttributes(failed('failed', hold.failure))
      show()
    },
    /** What the current step waited for is over. */
    goOn,
    mark(mark: Mark): void {
      view.marks.push(mark)
      goOn()
    },
    end(ended: IntentStatus, failure?: { code: string; message: string }): void {
      status = ended
      const told = failure?.code === 'CANCELLED' ? 'cancelled' : ended
      if (failure) upsertSearchAttributes(failed(told, failure.code))
      const why = failure && told !== 'cancelled' ? ` (${failure.code}): ${failure.message}` : ''
      view.end = `${told}${why}`
      goOn()
    },
  }
}

function toProgress({ plan, current, waitsFor }: View, status: IntentStatus): Progress {
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

/** Lists the workflow under what it waits for, while it does. */
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
