import {
  SearchAttributeType,
  defineSearchAttributeKey,
  type SearchAttributeUpdatePair,
} from '@temporalio/common'
import {
  defineSignal,
  patched,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow'
import { HELD_UP, type Hold } from '../domain/hold.js'
import { searchAttributeNames as names } from '../domain/searchAttributes.js'
import type { ExecutionPlan } from '../domain/intent.js'
import { toMarkdown, type Awaited, type Mark, type View } from './details.js'

const heldUpSignal = defineSignal<[Hold]>(HELD_UP)

const { KEYWORD, KEYWORD_LIST } = SearchAttributeType
const intentStatus = defineSearchAttributeKey(names.intentStatus, KEYWORD)
const intentFailure = defineSearchAttributeKey(names.intentFailure, KEYWORD)
const waitingFor = defineSearchAttributeKey(names.waitingFor, KEYWORD_LIST)

/** What a workflow tells operators of its intent. */
export type Telling = ReturnType<typeof createTelling>

/**
 * Tells operators how an intent goes, in the details of its workflow, which cost nothing. Search attributes are
 * written only of what is unusual, each time for an event and an action: a usual intent has none of them.
 */
export function createTelling() {
  const view: View = { marks: [] }
  const list = createListing()
  const show = () => {
    setCurrentDetails(toMarkdown(view))
  }
  const goOn = () => {
    delete view.hold
    delete view.awaited
    list(undefined)
  }

  setHandler(heldUpSignal, (hold) => {
    view.hold = hold
    list(hold.isUsual ? undefined : hold.code)
    if (hold.failure) write(failed('failed', hold.failure))
    show()
  })
  show()

  return {
    /** Begins a round through the steps. */
    begin(plan: ExecutionPlan): void {
      Object.assign(view, { plan, marks: [] })
      show()
    },
    step(sequence: number): void {
      view.current = { sequence, since: new Date() }
      show()
    },
    /** An operation is over. */
    mark(mark: Mark): void {
      goOn()
      view.marks.push(mark)
      show()
    },
    /** The attestation of a burn is waited for. What was completed by hand tells nothing of it. */
    wait(awaited: Awaited | undefined): void {
      goOn()
      if (isAwaited(awaited)) view.awaited = awaited
      show()
    },
    /** The intent is over. `code`: why it has failed. */
    end(status: string, failure?: { code: string; message: string }): void {
      goOn()
      const isCancelled = failure?.code === 'CANCELLED'
      const told = isCancelled ? 'cancelled' : status
      if (failure) write(failed(told, failure.code))
      view.end = failure && !isCancelled ? `failed (${failure.code}): ${failure.message}` : told
      show()
    },
  }
}

/** Lists the workflow under what holds it up, or no longer. */
function createListing() {
  let listed: string | undefined
  return (code: string | undefined) => {
    if (code === listed) return
    write([{ key: waitingFor, value: code === undefined ? null : [code] }])
    listed = code
  }
}

function isAwaited(awaited: Awaited | undefined): awaited is Awaited {
  const isTime = typeof awaited?.since === 'string' && !isNaN(Date.parse(awaited.since))
  return isTime && Array.isArray(awaited.usualSeconds)
}

const failed = (status: string, code: string): SearchAttributeUpdatePair[] => [
  { key: intentStatus, value: status },
  { key: intentFailure, value: code },
]

/** Workflows that began before there were these attributes go on without them. */
function write(attributes: SearchAttributeUpdatePair[]): void {
  if (patched('search attributes')) upsertSearchAttributes(attributes)
}
