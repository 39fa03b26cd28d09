import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { fingerprintOf } from '../../db/accounts/idempotency.js'
import { findPreview, insertPreview } from '../../db/accounts/previews.js'
import { invalidRequest, ServiceError } from '../../domain/errors.js'
import { creditCosts } from '../../domain/creditCosts.js'
import { previewIntent, submitIntent, toSubmission } from '../endpoints/intents/submitIntent.js'
import { apiKey } from '../http/auth/apiKey.js'
import { noParams, noQuery } from '../http/input.js'
import { writeRoute } from '../http/route.js'
import {
  intentRequestBody,
  previewedRequestBody,
  type IntentRequestBody,
} from '../schemas/intentRequest.js'

/** `preview_intent`: the response of `POST /v1/intents?dryRun=true`, stored for five minutes under an id. */
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
        'Plans a lend, withdrawal or bridge and shows steps, costs, time, yield and warnings. No money moves. The `previewId` is valid for five minutes and one `create_intent` with the same parameters.',
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

/** `create_intent`: creates a previewed intent. The preview's id is its idempotency key. */
export const createRoute = writeRoute(
  {
    path: '/intents',
    caller: apiKey({ credits: creditCosts.createIntent }),
    keepsKeys: true,
    params: noParams,
    query: noQuery,
    body: previewedRequestBody,
    docs: {
      operationId: 'createPreviewedIntent',
      tag: 'Intents',
      summary: 'Create a previewed intent',
      description:
        'Moves money: creates and executes the intent that `preview_intent` has shown. First show the preview to the owner of the money and ask for approval. Send a `previewId` of the last five minutes with the same parameters. Another call with the same `previewId` returns the same intent, and nothing is executed or charged twice. Follow the intent with `get_intent`.',
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

/** The parameters differ from the preview, or from the intent that it created. */
export function otherParameters(): ServiceError {
  const message = 'The parameters differ from this preview. Send its parameters, or preview again.'
  return invalidRequest('previewId', message, 'preview_differs')
}

/** Identifies a request. A numeric amount and its text are the same. */
const fingerprintOfRequest = (body: IntentRequestBody): Buffer =>
  fingerprintOf({ ...body, amount: String(body.amount) })

/** Fields that must not change after a preview. Amounts may: they are forecasts after a bridge or a swap, and interest accrues. */
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

/** @throws {ServiceError} When the plan differs from the preview, or the intent is not planned yet. */
function assertShown(shown: unknown, created: unknown): void {
  const now = planned.safeParse(created)
  if (!now.success) {
    const message = 'The chains do not respond, so the preview cannot be compared. Try again.'
    throw new ServiceError('UNAVAILABLE', message)
  }
  if (isDeepStrictEqual(planned.parse(shown).executionPlan, now.data.executionPlan)) return
  const message = 'The plan has changed since the preview. Preview again.'
  throw invalidRequest('previewId', message, 'preview_differs')
}
