import { FundingFailedError, TimeoutError } from '../errors.js'
import { sleep } from '../http/retries.js'
import type { Api } from '../http/api.js'
import type { CallOptions, WriteOptions } from '../http/send.js'
import type { Funding } from './funding.js'

export type FundingWait = { signal?: AbortSignal | undefined; timeoutMs?: number | undefined }

const POLL_MS = 1_000

export function createDemo({ get, post }: Api) {
  const read = (fundingId: string, options?: CallOptions): Promise<Funding> =>
    get(`/v1/demo/fund/${encodeURIComponent(fundingId)}`, {}, options)
  return {
    /** Requests test money, only on test networks. It arrives after a delay. */
    fund: (walletId: string, options?: WriteOptions): Promise<Funding> =>
      post('/v1/demo/fund', { walletId }, options),

    /** @throws {FundingNotFoundError} */
    get: read,

    /**
     * The funding once its money is in the wallet.
     *
     * @throws {FundingFailedError} when the money was not sent; {TimeoutError} when it has not arrived after `timeoutMs`.
     */
    async waitForCompletion(fundingId: string, wait: FundingWait = {}): Promise<Funding> {
      const { signal, timeoutMs = Infinity } = wait
      const deadline = Date.now() + timeoutMs
      for (;;) {
        const funding = await read(fundingId, { signal })
        if (funding.status === 'completed') return funding
        if (funding.status === 'failed') throw new FundingFailedError(funding)
        if (Date.now() + POLL_MS > deadline) {
          throw new TimeoutError({
            code: 'TIMEOUT',
            message: `${fundingId} has not arrived yet. Wait again.`,
          })
        }
        await sleep(POLL_MS, signal)
      }
    },
  }
}
