import { z } from 'zod'
import { enter, toVisit, type Caller, type Purpose } from '../auth/door.js'
import { parseInput, type Schema } from '../input.js'
import { answerPreflight } from '../auth/readToken.js'
import { ownOf, send, type Call, type Entrance, type Route, type Spec } from '../route.js'
import type { Request } from 'express'
import type { Answer } from '../commit.js'
import type { Services } from '../services.js'
import type { Story } from './stream.js'

type StreamSpec<Known extends Caller, Params extends Schema, Query extends Schema> = Omit<
  Spec<Known, Params, Query, Schema>,
  'body' | 'keepsKeys' | 'scope'
>

type StreamCall<Known, Params, Query> = Call<Known, Params, Query, undefined> & {
  /** Where a client goes on that was cut off. */
  lastEventId: string | undefined
}

type Handlers<Known, Params, Query> = {
  /** Finds what is to be told. */
  tell(services: Services, call: StreamCall<Known, Params, Query>): Promise<Story>
  /** For those who do not ask for a stream; absent: everybody gets one. */
  list?(services: Services, call: Call<Known, Params, Query, undefined>): Promise<Answer>
}

/** An endpoint that tells events as they happen. It counts once against the rate, however long it goes on. */
export function streamRoute<Known extends Caller, Params extends Schema, Query extends Schema>(
  read: StreamSpec<Known, Params, Query>,
  { tell, list }: Handlers<Known, z.infer<Params>, z.infer<Query>>,
): Route {
  const spec = { ...read, body: z.undefined() }
  const purpose: Purpose = { route: `GET ${spec.path}`, scope: 'read' }
  return {
    method: 'get',
    spec,
    mount(services, router, { door, path }: Entrance<Known> = ownOf(spec)) {
      if (door.anyOrigin) router.options(path, answerPreflight(services))
      router.get(path, async (request, response) => {
        const visit = toVisit(services, response, purpose)
        const caller = await enter(door, visit)
        const { requestId } = visit
        const call = { caller, requestId, ...parseInput(spec, request) }
        if (list && !wantsStream(request)) {
          const { status, body } = await list(services, call)
          send(response, { status, text: JSON.stringify(body) })
          return
        }
        const lastEventId = request.get('last-event-id')
        const story = await tell(services, { ...call, lastEventId })
        const { stillKnown } = door
        await services.streams.serve({ response, requestId, caller, stillKnown }, story)
      })
    },
  }
}

const wantsStream = (request: Request) =>
  /\btext\/event-stream\b/i.test(request.get('accept') ?? '')
