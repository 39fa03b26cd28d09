import { toFrame } from '../../http/streaming/eventStream.js'
import { eventExamples } from '../../schemas/events.js'

export const RESUMING =
  'A reconnecting client resumes after its last event with `Last-Event-ID` or `after`, without gaps or duplicates. Heartbeat comments are sent every 15 s. A stream ends when the service restarts, when its client reads too slowly, and within seconds after its key expires or its account is suspended. An account may have 1,000 open streams. More return 429 with the `window` `open streams`.'

export const KEPT =
  'Events are kept for 90 days, unless the deployment sets another time of at least 31 days. A request to resume after a deleted event returns 400 with the reason `event_gone`.'

export const exampleStream = eventExamples
  .map((one) => toFrame({ id: one.id, type: one.type, data: one }))
  .join('')
