import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMay } from '../../api/access.js'
import { queryText } from '../../api/call.js'
import { deliveriesQuery, deliveryQuery } from '../../api/queries.js'
import type { Delivery, Webhook } from '../../api/types.js'
import { Chips } from '../../ui/forms/Chips.js'
import { List } from '../../ui/tables/List.js'
import { rowLink, timeColumn, type Column } from '../../ui/tables/Table.js'
import { DeliveryFacts } from './DeliveryFacts.js'
import { DeliveryState } from './words.js'

const statuses = [
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
]

/** The status of the last response and the number of attempts. */
function answerText({ attempts }: Delivery): string {
  const last = attempts.at(-1)
  if (!last) return '–'
  const answer = last.status === undefined ? 'no response' : String(last.status)
  return attempts.length === 1 ? answer : `${answer}, ${attempts.length} attempts`
}

const columnsFor = (webhookId: string): Column<Delivery>[] => [
  {
    name: 'State',
    width: 'w-32 max-sm:w-25',
    cell: ({ status }) => <DeliveryState status={status} />,
  },
  {
    name: 'Event',
    cell: ({ id, type, eventId }) => (
      <Link
        to="/webhooks/$webhookId"
        params={{ webhookId }}
        search={(search) => ({ ...search, open: id })}
        resetScroll={false}
        title={eventId}
        {...rowLink}
      >
        {type}
      </Link>
    ),
  },
  { name: 'Response', width: 'w-36', from: 'sm', cell: answerText },
  timeColumn('When', ({ createdAt }) => createdAt, { width: 'w-24 max-sm:w-19' }),
]

/** The deliveries of an endpoint, newest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const { id: webhookId } = webhook
  const maySend = useMay('write') && webhook.status === 'enabled'
  const noneText = maySend ? 'No deliveries yet. Send a test event.' : 'No deliveries yet.'
  const { open, status } = useSearch({ from: '/inside/webhooks/$webhookId' })
  const navigate = useNavigate()
  const query = useInfiniteQuery(deliveriesQuery(webhookId, { status }))
  const go = (search: { status?: string | undefined; open?: string }) =>
    void navigate({
      ...{ to: '/webhooks/$webhookId', params: { webhookId }, search },
      ...{ replace: true, resetScroll: false },
    })
  const rows = query.data?.pages.flatMap(({ data }) => data)
  const listed = rows?.find(({ id }) => id === open)
  // A link may name a delivery that is on a later page.
  const linked = useQuery({ ...deliveryQuery(open ?? ''), enabled: open !== undefined && !listed })
  const opened = listed ?? (open ? linked.data?.data[0] : undefined)
  return (
    <>
      <div className="mb-3">
        <Chips
          label="State"
          choices={statuses}
          value={status}
          onChange={(value) => go({ status: value })}
        />
      </div>
      <List
        key={queryText({ status })}
        label="Deliveries"
        query={query}
        columns={columnsFor(webhookId)}
        keyOf={({ id }) => id}
        empty={
          <p className="border-y border-line py-4 text-sm text-ink-3">
            {status ? 'No delivery matches.' : noneText}
          </p>
        }
      />
      {opened && (
        <DeliveryFacts webhook={webhook} delivery={opened} onClose={() => go({ status })} />
      )}
    </>
  )
}
