import { toFrame } from '../../http/streaming/eventStream.js'
import { eventExamples } from '../../schemas/events.js'

export const RESUMING =
  'A client that was cut off goes on after the last event that it has, by `Last-Event-ID` or `after`: it misses none and gets none twice. Comments come every 15 s. A stream ends when this service restarts, when its client reads too slowly, and within seconds when its key ends or its account is suspended; an account may have 1,000 open at a time, above that 429 with the `window` `open streams`.'

export const KEPT =
  'Events are kept for a time that the deployment sets, 90 days where it sets none, and never less than 31. After one that is kept no longer nothing can be read: 400 with the reason `event_gone`.'

export const exampleStream = eventExamples
  .map((one) => toFrame({ id: one.id, type: one.type, data: one }))
  .join('')
