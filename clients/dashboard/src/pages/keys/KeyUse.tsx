import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { keyUseQuery } from '../../api/queries.js'
import type { KeyEntry, KeyUseDay } from '../../api/types.js'
import { shorten } from '../../text/shorten.js'
import { dayText, daysUntil } from '../../text/time.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
import { Facts } from '../../ui/values/Facts.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Id } from '../../ui/values/Id.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { Sparkline } from '../../ui/charts/Sparkline.js'
import { sumByDay } from '../usage/days.js'
import { UsageChart } from '../usage/UsageChart.js'

const DAYS = 30
export const USE_NAME = `${DAYS} days`

const everyDay = (rows: readonly KeyUseDay[]) => sumByDay(rows, daysUntil(new Date(), DAYS))

/** The daily requests of a key as a small line. */
export function KeySparkline({ keyId, name }: { keyId: string; name: string }) {
  const { data } = useQuery(keyUseQuery(keyId, DAYS))
  if (!data) return null
  if (data.data.length === 0) return <span className="text-ink-3">none</span>
  const values = everyDay(data.data).map(({ requests }) => requests)
  return <Sparkline label={`Requests by ${name} in ${DAYS} days`} values={values} />
}

type Props = { keyId: string; entry: KeyEntry | undefined; onClose: () => void }

/** The daily use of one key. */
export function KeyUse({ keyId, entry, onClose }: Props) {
  const { data, error, refetch } = useQuery(keyUseQuery(keyId, DAYS))
  return (
    <Dialog title={`Key ${entry?.name ?? shorten(keyId)}`} onClose={onClose}>
      {data ? (
        <KeyUsage keyId={keyId} rows={data.data} />
      ) : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton lines={1} className="h-72" />
      )}
    </Dialog>
  )
}

function KeyUsage({ keyId, rows }: { keyId: string; rows: readonly KeyUseDay[] }) {
  const [chosen, setChosen] = useState<string>()
  const shown = chosen ? rows.filter(({ day }) => day === chosen) : rows
  const sumOf = (name: 'requests' | 'errors' | 'credits') =>
    shown.reduce((sum, day) => sum + day[name], 0).toLocaleString()
  return (
    <>
      <UsageChart days={everyDay(rows)} chosen={chosen} onChoose={setChosen} />
      <h3 className="mt-4 mb-1 text-sm">
        {chosen ? `On ${dayText(chosen)} (UTC)` : `In ${DAYS} days`}
      </h3>
      <Facts
        of={[
          ['Requests', sumOf('requests')],
          ['Failed', sumOf('errors')],
          ['Credits', sumOf('credits')],
          ['Id', <Id key="id" id={keyId} label="key id" />],
        ]}
      />
      <Link
        to="/requests"
        search={{ keyId }}
        className="mt-4 inline-block text-sm font-medium text-accent hover:underline"
      >
        Requests with this key
      </Link>
    </>
  )
}
