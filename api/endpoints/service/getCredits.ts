import { readCredits } from '../../../db/usage/metering.js'
import { creditCosts } from '../../../domain/creditCosts.js'
import { apiKey } from '../../http/auth/apiKey.js'
import { noParams, noQuery } from '../../http/input.js'
import { readRoute } from '../../http/route.js'
import { creditsAnswer } from '../../schemas/examples/resources.js'
import { creditAccount } from '../../schemas/resources.js'

export const getCredits = readRoute(
  {
    path: '/dashboard/credits',
    caller: apiKey({ credits: creditCosts.readCredits }),
    params: noParams,
    query: noQuery,
    docs: {
      operationId: 'getCredits',
      tag: 'Account',
      summary: 'Get the credit account',
      description: 'Returns the credits of the account. The path has no version.',
      responses: {
        200: {
          description: 'The credits of the account.',
          schema: creditAccount,
          examples: { credits: creditsAnswer },
        },
      },
      errors: [],
    },
  },
  async ({ db }, { caller }) => ({
    status: 200,
    body: await readCredits(db, caller.accountId),
  }),
)
