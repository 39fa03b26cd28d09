import type { UseInfiniteQueryResult, InfiniteData } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Page } from '../api/types.js'
import { Button } from './Button.js'
import { Failure } from './Failure.js'
import { Skeleton } from './Skeleton.js'
import { Table, type Column } from './Table.js'

type Props<Row> = {
  label: string
  query: UseInfiniteQueryResult<InfiniteData<Page<Row>>>
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => string
  empty: ReactNode
}

/** A list of the API as a table, page after page. What is there stays while it is asked for anew. */
export function List<Row>({ label, query, columns, keyOf, empty }: Props<Row>) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = query
  const retry = () => void refetch()
  if (!data) return error ? <Failure error={error} retry={retry} /> : <Skeleton lines={8} />
  const rows = data.pages.flatMap((page) => page.data)
  if (rows.length === 0) return empty
  return (
    <>
      <Table label={label} columns={columns} rows={rows} keyOf={keyOf} />
      {error && (
        <div className="mt-4">
          <Failure error={error} retry={retry} />
        </div>
      )}
      {hasNextPage && (
        <Button
          look="quiet"
          className="mt-3"
          isBusy={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </>
  )
}
