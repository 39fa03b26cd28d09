import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/access.js'
import { webhooksQuery } from '../../api/queries.js'
import type { CreatedWebhook, Webhook } from '../../api/types.js'
import { Button } from '../../ui/forms/Button.js'
import { Empty } from '../../ui/feedback/Empty.js'
import { List } from '../../ui/tables/List.js'
import { PageHead } from '../../ui/PageHead.js'
import { rowLink, timeColumn, type Column } from '../../ui/tables/Table.js'
import { ShownSecret } from './ShownSecret.js'
import { VERIFYING } from './verifying.js'
import { WebhookForm } from './WebhookForm.js'
import { WebhookState, eventsText, reasonOf } from './words.js'

const columns: Column<Webhook>[] = [
  {
    name: 'State',
    width: 'w-28',
    cell: (webhook) => (
      <span title={reasonOf(webhook)}>
        <WebhookState {...webhook} />
      </span>
    ),
  },
  {
    name: 'Endpoint',
    cell: ({ id, url }) => (
      <Link to="/webhooks/$webhookId" params={{ webhookId: id }} title={url} {...rowLink}>
        {url}
      </Link>
    ),
  },
  {
    name: 'Note',
    width: 'w-52',
    from: 'md',
    cell: ({ description }) => (
      <span title={description} className="text-ink-2">
        {description}
      </span>
    ),
  },
  {
    name: 'Events',
    width: 'w-40',
    from: 'sm',
    cell: (webhook) => <span title={webhook.events.join(', ')}>{eventsText(webhook)}</span>,
  },
  timeColumn('Created', ({ createdAt }) => createdAt, { from: 'sm' }),
]

/** The webhook endpoints of the account. */
export function Webhooks() {
  const query = useInfiniteQuery(webhooksQuery)
  const navigate = useNavigate()
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<CreatedWebhook>()
  const mayWrite = useMay('write')
  const action = mayWrite && (
    <Button look="primary" onClick={() => setMaking(true)}>
      New endpoint
    </Button>
  )
  return (
    <>
      <PageHead title="Webhooks" action={action}>
        Steward sends each event to your endpoints, signed, at least once, with retries for three
        days.
      </PageHead>
      <List
        label="Webhooks"
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No endpoints yet" call={VERIFYING}>
            An endpoint is your URL that receives events. Verify the signature of each event and
            answer with 2xx to accept it.
          </Empty>
        }
      />
      {isMaking && (
        <WebhookForm
          onClose={() => setMaking(false)}
          onDone={(webhook) => {
            setMaking(false)
            setMade(webhook)
          }}
        />
      )}
      {made?.secret && (
        <ShownSecret
          title="Secret of the endpoint"
          secret={made.secret}
          onClose={() => {
            setMade(undefined)
            void navigate({ to: '/webhooks/$webhookId', params: { webhookId: made.id } })
          }}
        />
      )}
    </>
  )
}
