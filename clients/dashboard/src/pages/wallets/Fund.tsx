import { useMutation, useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/access.js'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import { balancesQuery, sessionQuery } from '../../api/queries.js'
import type { Funding } from '../../api/types.js'
import { chainText, namesIn } from '../../text/names.js'
import { Button } from '../../ui/forms/Button.js'
import { Notice } from '../../ui/feedback/Notice.js'

/** A funding arrives within a few blocks. The balance is reloaded after these delays. */
const RELOADS_MS = [1_000, 2_000, 4_000, 8_000, 16_000]

/** Sends test money to a wallet, only on test networks. */
export function Fund({ walletId }: { walletId: string }) {
  const mayWrite = useMay('write')
  const { data: session } = useQuery(sessionQuery)
  const fund = useMutation({
    mutationFn: () => post<Funding>('/demo/fund', { walletId }),
    onSuccess: () => {
      const { queryKey } = balancesQuery(walletId)
      for (const delay of RELOADS_MS) {
        setTimeout(() => void queryClient.invalidateQueries({ queryKey }), delay)
      }
    },
  })
  if (!mayWrite || session?.environment === 'mainnet') return null
  return (
    <>
      <Button isBusy={fund.isPending} onClick={() => fund.mutate()}>
        Send test money
      </Button>
      {fund.data && (
        <Notice>
          {fund.data.amount} {fund.data.asset} is on its way to {chainText(fund.data.chain)}.
        </Notice>
      )}
      {fund.error && <Notice isBad>{namesIn(fund.error.message)}</Notice>}
    </>
  )
}
