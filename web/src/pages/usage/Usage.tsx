import { useQuery } from '@tanstack/react-query'
import { creditsQuery } from '../../api/queries.js'
import { Facts } from '../../ui/Facts.js'
import { Failure } from '../../ui/Failure.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { Skeleton } from '../../ui/Skeleton.js'

/** What the account has used, and what is left. */
export function Usage() {
  const { data, error, refetch } = useQuery(creditsQuery)
  return (
    <>
      <PageHead title="Usage & credits">
        Reading from this dashboard costs nothing; writing costs what it costs by key.
      </PageHead>
      {data ? (
        <div className="max-w-xl">
          <Section title="Credits">
            <Facts
              of={[
                ['Left', data.balance.toLocaleString()],
                ['Used so far', data.totalUsed.toLocaleString()],
                ['Bought so far', data.totalPurchased.toLocaleString()],
                ['Plan', data.plan],
              ]}
            />
          </Section>
        </div>
      ) : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton lines={4} />
      )}
    </>
  )
}
