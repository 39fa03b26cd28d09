import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { fingerprintOf } from '../../db/tenants/idempotency.js'
import { findPreview, insertPreview } from '../../db/tenants/previews.js'
import { invalidRequest, ServiceError } from '../../domain/errors.js'
import { prices } from '../../domain/prices.js'
import { previewIntent, submitIntent, toSubmission } from '../endpoints/intents/submitIntent.js'
import { apiKey } from '../http/auth/apiKey.js'
import { noParams, noQuery } from '../http/input.js'
import { writeRoute } from '../http/route.js'
import {
  intentRequestBody,
  previewedRequestBody,
  type IntentRequestBody,
} from '../schemas/intentRequest.js'

/** Nothing is done that was not shown: an intent is created by the preview that has shown it. */

/** `preview_intent`: what `POST /v1/intents?dryRun=true` answers, kept for some minutes under an id. */
export const previewRoute = writeRoute(
  {
    path: '/intents',
    caller: apiKey({ credits: 0 }),
    params: noParams,
    query: noQuery,
    body: intentRequestBody,
    docs: {
      operationId: 'previewIntent',
      tag: 'Intents',
      summary: 'Preview an intent',
      description:
        'Plans a lend, withdrawal or bridge and shows steps, costs, time, yield and warnings. Nothing is moved. The `previewId` of the answer is good for five minutes and one `create_intent` with the same parameters.',
      responses: {},
      errors: [],
    },
  },
  async (services, call, commit) => {
    const { accountId } = call.caller
    const shown = await previewIntent(services, await toSubmission(services, call))
    return commit(async (trx) => {
      const preview = { accountId, fingerprint: fingerprintOfRequest(call.body), body: shown }
      return { status: 200, body: { ...(await insertPreview(trx, preview)), ...shown } }
    })
  },
)

/** `create_intent`: creates what a preview has shown. Its name is the preview's id, so that it is done once. */
export const createRoute = writeRoute(
  {
    path: '/intents',
    caller: apiKey({ credits: prices.createIntent }),
    keepsKeys: true,
    params: noParams,
    query: noQuery,
    body: previewedRequestBody,
    docs: {
      operationId: 'createPreviewedIntent',
      tag: 'Intents',
      summary: 'Create a previewed intent',
      description:
        'Moves money: creates and executes the intent that `preview_intent` has shown. Show the preview to the person whose money it is, and ask first. It takes the `previewId` of the last five minutes and the same parameters. Called again with the same `previewId` it returns the same intent, and nothing is done or charged twice. Follow the intent with `get_intent`.',
      responses: {},
      errors: [],
    },
  },
  async (services, { caller, requestId, body }, commit) => {
    const { previewId, ...request } = body
    const preview = await findPreview(services.db, caller.accountId, previewId)
    if (!preview) {
      const message = 'There is no preview with this id in the last five minutes. Preview again.'
      throw invalidRequest('previewId', message, 'preview_unknown')
    }
    if (!preview.fingerprint.equals(fingerprintOfRequest(request))) throw otherParameters()
    const submission = await toSubmission(services, { caller, requestId, body: request })
    return submitIntent(services, submission, (work) =>
      commit(async (trx) => {
        const answer = await work(trx)
        assertShown(JSON.parse(preview.body), answer.body)
        return answer
      }),
    )
  },
)

/** The parameters are not those of the preview, or not those by which its intent was created. */
export function otherParameters(): ServiceError {
  const message = 'This preview has shown something else. Send its parameters, or preview again.'
  return invalidRequest('previewId', message, 'preview_differs')
}

/** Of what is asked for, whether the amount is a number or its text. */
const fingerprintOfRequest = (body: IntentRequestBody): Buffer =>
  fingerprintOf({ ...body, amount: String(body.amount) })

/** What makes a plan another one; amounts after a bridge or a swap are forecasts, and interest grows. */
const planned = z.looseObject({
  executionPlan: z.object({
    strategy: z.string(),
    targetChain: z.string(),
    targetProtocol: z.string().optional(),
    steps: z.array(
      z.object({
        ...{ type: z.string(), asset: z.string() },
        ...{ from: z.string().optional(), to: z.string().optional() },
        ...{ chain: z.string().optional(), protocol: z.string().optional() },
        toAsset: z.string().optional(),
      }),
    ),
  }),
})

/** @throws {ServiceError} When the intent would take another way than was shown, or none is known yet. */
function assertShown(shown: unknown, created: unknown): void {
  const now = planned.safeParse(created)
  if (!now.success) {
    const message = 'The chains do not answer well enough to do what was shown. Try again.'
    throw new ServiceError('UNAVAILABLE', message)
  }
  if (isDeepStrictEqual(planned.parse(shown).executionPlan, now.data.executionPlan)) return
  const message = 'The plan is another one than the preview has shown by now. Preview again.'
  throw invalidRequest('previewId', message, 'preview_differs')
}
