import { expect } from 'vitest'

type FundsView = { chain: string; asset: string; amount: string; protocol?: string }

/** Fields of an intent that no worker has started yet. */
export const notBegun = (funds: FundsView) => ({
  currentStep: 1,
  waitingFor: { code: 'SERVICE', message: expect.any(String), since: expect.any(String) },
  funds: [funds],
  actions: ['cancel'],
  ...{ userId: expect.any(String), requestId: expect.stringMatching(/^req_[0-9a-z]{26}$/) },
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

type DryRunPlan = { steps: Record<string, unknown>[] }

/** A plan as a dry run returns it: without the progress of its steps. */
export const withoutProgress = (plan: unknown) => ({
  ...(plan as DryRunPlan),
  steps: (plan as DryRunPlan).steps.map((step) => {
    const bare = { ...step }
    delete bare.status
    delete bare.operations
    return bare
  }),
})
