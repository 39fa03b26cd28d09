import { z } from 'zod'
import { address, asset, chain, count, decimalText, text, time } from './fields.js'

const purse = z
  .strictObject({
    chain,
    address: address.meta({ description: 'Where money of the service lies.' }),
    asset,
    balance: decimalText('What it holds, in whole tokens.', '0.25'),
    lasts: count('So many lends, or fundings, it pays for at the present price of gas.', 812),
  })
  .meta({ id: 'Purse', description: 'Money of the service itself.' })

const chainState = z
  .strictObject({
    chain,
    answered: z.boolean().meta({
      description: 'False when it said too little to be judged. What was known before holds on.',
    }),
    endpoints: z.array(
      z.strictObject({
        position: count('Its place among those of the chain, from 1.', 1),
        state: z.enum(['ok', 'silent', 'other chain']).meta({
          description: 'Whether it serves the chain.',
        }),
      }),
    ),
    disabled: z
      .array(
        z.strictObject({
          capability: text('What is disabled.', 'bridge'),
          what: text('The same in words.', 'the bridge'),
          reason: text('Why.', 'there is no TokenMessenger of that MessageTransmitter'),
        }),
      )
      .meta({ description: 'Nothing when all is well.' }),
    checks: z.array(
      z.strictObject({
        check: text('What was looked at.', 'USDC domain'),
        outcome: z.enum(['ok', 'warning', 'failed']),
        detail: text('What was found.', 'is that of USDC, version 2'),
      }),
    ),
  })
  .meta({ id: 'ChainState', description: 'A chain as it was when it was last looked at.' })

export const readiness = z
  .strictObject({
    checkedAt: time('When it was looked at, UTC.'),
    chains: z.array(chainState),
    treasury: z.array(purse).meta({
      description: 'Pays what `POST /v1/demo/fund` sends, in USDC, and refills lanes, in ETH.',
    }),
    lanes: z.array(purse).meta({ description: 'Pay the gas of everything.' }),
    requestLog: z
      .strictObject({
        written: count('Requests that are in it.', 81_200),
        waiting: count('Those that are written next.', 12),
        dropped: count('Those that are lost: the database was away for too long.', 0),
        unknownCaller: count('Those without a valid key. They are in no log.', 31),
      })
      .optional()
      .meta({ description: 'The request log of this process, counted since it began.' }),
  })
  .meta({ id: 'Readiness', description: 'What works in this deployment, and what does not.' })
