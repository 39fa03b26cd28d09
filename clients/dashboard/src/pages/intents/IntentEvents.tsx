import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { intentDeliveriesQuery, intentEventsQuery, webhooksQuery } from '../../api/queries.js'
import type { Delivery, Event } from '../../api/types.js'
import { shorten } from '../../text/shorten.js'
import { Button } from '../../ui/forms/Button.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Section } from '../../ui/PageHead.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { Time } from '../../ui/values/Time.js'
import { DeliveryState } from '../webhooks/words.js'

/** The events of an intent, oldest first, each with its webhook deliveries. */
export function IntentEvents({ intentId }: { intentId: string }) {
  const events = useInfiniteQuery(intentEventsQuery(intentId))
  const deliveries = useInfiniteQuery(intentDeliveriesQuery(intentId))
  const { hash } = useLocation()
  const isLoaded = events.data !== undefined
  useEffect(() => {
    if (isLoaded && hash) document.getElementById(hash)?.scrollIntoView({ block: 'center' })
  }, [isLoaded, hash])
  const sent = rowsOf(deliveries.data)
  return (
    <Section title="Events and deliveries">
      {events.error && !events.data ? (
        <Failure error={events.error} retry={() => void events.refetch()} />
      ) : events.data ? (
        <ol aria-label="Events" className="border-t border-line text-sm">
          {rowsOf(events.data).map((event) => (
            <EventRow
              key={event.id}
              event={event}
              deliveries={sent.filter(({ eventId }) => eventId === event.id)}
              isNamed={event.id === hash}
            />
          ))}
        </ol>
      ) : (
        <Skeleton lines={3} />
      )}
      {deliveries.error && !deliveries.data && (
        <Failure error={deliveries.error} retry={() => void deliveries.refetch()} />
      )}
      {events.hasNextPage && (
        <Button
          look="quiet"
          className="mt-3"
          isBusy={events.isFetchingNextPage}
          onClick={() => void events.fetchNextPage()}
        >
          Show more events
        </Button>
      )}
    </Section>
  )
}

const rowsOf = <Row,>(data: { pages: { data: Row[] }[] } | undefined): Row[] =>
  data?.pages.flatMap((page) => page.data) ?? []

type RowProps = { event: Event; deliveries: readonly Delivery[]; isNamed: boolean }

function EventRow({ event: { id, type, timestamp }, deliveries, isNamed }: RowProps) {
  return (
    <li
      id={id}
      aria-current={isNamed || undefined}
      className={`scroll-mt-4 border-b border-line py-2 ${isNamed ? 'bg-accent-soft' : ''}`}
    >
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="min-w-0 break-words">{type}</span>
        <span className="font-mono text-xs text-ink-3">{id}</span>
        <span className="ml-auto text-ink-3">
          <Time at={timestamp} />
        </span>
      </div>
      {deliveries.map((delivery) => (
        <DeliveryLink key={delivery.id} delivery={delivery} />
      ))}
    </li>
  )
}

function DeliveryLink({ delivery: { id, webhookId, status } }: { delivery: Delivery }) {
  const endpoints = rowsOf(useInfiniteQuery(webhooksQuery).data)
  const url = endpoints.find((endpoint) => endpoint.id === webhookId)?.url
  return (
    <div className="mt-1 flex flex-wrap items-center gap-x-3 pl-4 text-ink-2">
      <DeliveryState status={status} />
      <Link
        to="/webhooks/$webhookId"
        params={{ webhookId }}
        search={{ open: id }}
        title={id}
        className="min-w-0 truncate text-accent hover:underline"
      >
        {url ?? shorten(webhookId)}
      </Link>
    </div>
  )
}
