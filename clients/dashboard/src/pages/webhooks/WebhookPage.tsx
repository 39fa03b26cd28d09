import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMay } from '../../api/access.js'
import { webhookQuery } from '../../api/queries.js'
import type { Webhook } from '../../api/types.js'
import { Absent } from '../../shell/WaysOn.js'
import { Facts } from '../../ui/values/Facts.js'
import { Id } from '../../ui/values/Id.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { Time } from '../../ui/values/Time.js'
import { Deliveries } from './Deliveries.js'
import { WebhookActions } from './WebhookActions.js'
import { WebhookState, reasonOf } from './words.js'

/** One endpoint: state, facts and deliveries. */
export function WebhookPage() {
  const { webhookId } = useParams({ from: '/inside/webhooks/$webhookId' })
  const { data, error, refetch } = useQuery(webhookQuery(webhookId))
  if (data) return <Whole webhook={data} />
  if (!error) return <Skeleton lines={8} />
  return <Absent what="Endpoint" error={error} retry={() => void refetch()} />
}

function Whole({ webhook }: { webhook: Webhook }) {
  const { id, url, description, events, disabledAt, createdAt } = webhook
  return (
    <>
      <PageHead title={url} action={useMay('write') && <WebhookActions webhook={webhook} />}>
        {description}
      </PageHead>
      <div className="grid gap-x-12 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Section title="Deliveries">
          <Deliveries webhook={webhook} />
        </Section>
        <Section title="Facts">
          <Facts
            of={[
              ['State', <WebhookState key="state" {...webhook} />],
              ['Reason', reasonOf(webhook)],
              ['Since', disabledAt && <Time at={disabledAt} />],
              ['Events', events.includes('*') ? 'all' : events.join(', ')],
              ['Id', <Id key="id" id={id} label="endpoint id" />],
              ['Created', <Time key="created" at={createdAt} />],
            ]}
          />
        </Section>
      </div>
    </>
  )
}
