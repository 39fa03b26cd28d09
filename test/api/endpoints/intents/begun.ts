import { expect } from 'vitest'

type Held = { chain: string; asset: string; amount: string; protocol?: string }

/** What an intent tells of itself before anybody has taken it up, besides what it is. */
export const notBegun = (funds: Held) => ({
  currentStep: 1,
  waitingFor: { code: 'SERVICE', message: expect.any(String), since: expect.any(String) },
  funds: [funds],
  updatedAt: expect.any(String),
})

/** The operations of a bridge before its first one. */
export const bridgeNotBegun = (from: string, to: string) => ({
  status: 'pending',
  operations: [
    { type: 'burn', status: 'pending', chain: from },
    { type: 'attestation', status: 'pending', chain: from },
    { type: 'mint', status: 'pending', chain: to },
  ],
})

type Told = { steps: Record<string, unknown>[] }

/** A plan as a dry run tells it: without how far its steps have come. */
export const withoutProgress = (plan: unknown) => ({
  ...(plan as Told),
  steps: (plan as Told).steps.map((step) => {
    const told = { ...step }
    delete told.status
    delete told.operations
    return told
  }),
})
