import { z } from 'zod'
import { authenticate, toRequestContext, type Purpose } from '../auth/authScheme.js'
import type { Caller } from '../auth/caller.js'
import { parseInput, type Schema } from '../input.js'
import { answerPreflight } from '../auth/readToken.js'
import { ownOf, send, type ApiCall, type Entrance, type Route, type Spec } from '../route.js'
import type { Request } from 'express'
import type { Answer } from '../commit.js'
import type { Services } from '../services.js'
import type { StreamedEvents } from './stream.js'

type StreamSpec<Known extends Caller, Params extends Schema, Query extends Schema> = Omit<
  Spec<Known, Params, Query, Schema>,
  'body' | 'keepsKeys' | 'scope'
>

type StreamCall<Known, Params, Query> = ApiCall<Known, Params, Query, undefined> & {
  /** The last event of a reconnecting client. */
  lastEventId: string | undefined
}

type Handlers<Known, Params, Query> = {
  /** The events to stream. */
  stream(services: Services, call: StreamCall<Known, Params, Query>): Promise<StreamedEvents>
  /** The JSON response to requests without `Accept: text/event-stream`. Absent: every request gets a stream. */
  list?(services: Services, call: ApiCall<Known, Params, Query, undefined>): Promise<Answer>
}

/** An endpoint that streams events. A stream counts as one request of the rate limit. */
export function streamRoute<Known extends Caller, Params extends Schema, Query extends Schema>(
  read: StreamSpec<Known, Params, Query>,
  { stream, list }: Handlers<Known, z.infer<Params>, z.infer<Query>>,
): Route {
  const spec = { ...read, body: z.undefined() }
  const purpose: Purpose = { route: `GET ${spec.path}`, scope: 'read' }
  return {
    method: 'get',
    spec,
    mount(services, router, { scheme, path }: Entrance<Known> = ownOf(spec)) {
      if (scheme.anyOrigin) router.options(path, answerPreflight(services))
      router.get(path, async (request, response) => {
        const context = toRequestContext(services, response, purpose)
        const caller = await authenticate(scheme, context)
        const { requestId } = context
        const call = { caller, requestId, ...parseInput(spec, request) }
        if (list && !wantsStream(request)) {
          const { status, body } = await list(services, call)
          send(response, { status, text: JSON.stringify(body) })
          return
        }
        const lastEventId = request.get('last-event-id')
        const source = await stream(services, { ...call, lastEventId })
        const { stillKnown } = scheme
        await services.streams.serve({ response, requestId, caller, stillKnown }, source)
      })
    },
  }
}

const wantsStream = (request: Request) =>
  /\btext\/event-stream\b/i.test(request.get('accept') ?? '')
