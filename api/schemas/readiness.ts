import { z } from 'zod'
import { address, asset, chain, count, decimalText, text, time } from './fields.js'

const tokenBalance = z
  .strictObject({
    chain,
    address: address.meta({ description: 'Address of the service that holds the balance.' }),
    asset,
    balance: decimalText('Balance in whole tokens.', '0.25'),
    lasts: count('Number of lends or fundings that it pays for at the current gas price.', 812),
  })
  .meta({ id: 'ServiceBalance', description: 'A token balance of the service itself.' })

const chainState = z
  .strictObject({
    chain,
    answered: z.boolean().meta({
      description:
        'False when its responses were incomplete. The previous findings then remain in effect.',
    }),
    endpoints: z.array(
      z.strictObject({
        position: count('Position among the endpoints of the chain, from 1.', 1),
        state: z.enum(['ok', 'silent', 'throttled', 'other chain']).meta({
          description: 'Whether it serves the chain.',
        }),
      }),
    ),
    disabled: z
      .array(
        z.strictObject({
          capability: text('What is disabled.', 'bridge'),
          what: text('Name of the capability.', 'the bridge'),
          reason: text('Why.', 'there is no TokenMessenger of that MessageTransmitter'),
        }),
      )
      .meta({ description: 'Disabled capabilities. Empty when all work.' }),
    checks: z.array(
      z.strictObject({
        check: text('Subject of the check.', 'USDC domain'),
        outcome: z.enum(['ok', 'warning', 'failed']),
        detail: text('Finding.', 'is that of USDC, version 2'),
      }),
    ),
  })
  .meta({ id: 'ChainState', description: 'A chain at the latest check.' })

export const readinessProbe = z
  .strictObject({
    ready: z.boolean().meta({ description: 'Whether the API serves requests.' }),
    postgres: z
      .boolean()
      .meta({ description: 'Whether the database and its schema are available.' }),
    signer: z.boolean().meta({ description: 'Whether the signer has published its key.' }),
    temporal: z.boolean().meta({ description: 'Whether Temporal is available.' }),
    degraded: z.boolean().meta({
      description:
        'True when intents are accepted and start later, or while chains throttle requests.',
    }),
    throttled: z
      .array(chain)
      .optional()
      .meta({ description: 'Chains whose endpoints all throttle requests.' }),
  })
  .meta({ id: 'ReadinessProbe', description: 'Whether the API is ready.' })

export const readiness = z
  .strictObject({
    checkedAt: time('Time of the check, UTC.'),
    chains: z.array(chainState),
    treasury: z.array(tokenBalance).meta({
      description: 'Pays for `POST /v1/demo/fund` in USDC, and refills senders in ETH.',
    }),
    senders: z
      .array(tokenBalance)
      .meta({ description: 'Senders: they pay the gas of all transactions.' }),
    requestLog: z
      .strictObject({
        written: count('Stored requests.', 81_200),
        waiting: count('Requests that wait to be stored.', 12),
        dropped: count('Lost requests: the database was unavailable for too long.', 0),
        unknownCaller: count('Requests without a valid key. They are not stored.', 31),
      })
      .optional()
      .meta({ description: 'Counts of the request log of this process since its start.' }),
  })
  .meta({ id: 'Readiness', description: 'Health report of the deployment.' })
