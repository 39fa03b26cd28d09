import type { UseInfiniteQueryResult, InfiniteData } from '@tanstack/react-query'
import { ArrowUp } from 'lucide-react'
import { useRef, type MouseEvent, type ReactNode } from 'react'
import type { Page } from '../../api/types.js'
import { Button } from '../forms/Button.js'
import { Failure } from '../feedback/Failure.js'
import { useHeld } from './held.js'
import { Skeleton } from '../feedback/Skeleton.js'
import { Table, type Column } from './Table.js'

type ListTable<Row> = {
  label: string
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => string
}
type Props<Row> = ListTable<Row> & {
  query: UseInfiniteQueryResult<InfiniteData<Page<Row>>>
  empty: ReactNode
}

/** A paged API list as a table. The rows stay on screen during a reload. */
export function List<Row>({ query, empty, ...shape }: Props<Row>) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = query
  const retry = () => void refetch()
  if (!data) return error ? <Failure error={error} retry={retry} /> : <Skeleton lines={8} />
  const rows = data.pages.flatMap((page) => page.data)
  if (rows.length === 0) return empty
  return (
    <>
      <Rows rows={rows} {...shape} />
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

/** After a pointer move over the rows, the user may click one within this time. */
const PAUSE_MS = 3_000

/** The rows. While the user reads, new rows wait behind a button. */
function Rows<Row>({ rows, ...shape }: ListTable<Row> & { rows: readonly Row[] }) {
  const box = useRef<HTMLDivElement>(null)
  const movedAt = useRef(-PAUSE_MS)
  const isRead = () => {
    const element = box.current
    if (!element) return false
    const isAbove = element.getBoundingClientRect().top < 0
    const hasFocus = element.contains(document.activeElement)
    return isAbove || hasFocus || performance.now() - movedAt.current < PAUSE_MS
  }
  const { shown, waiting, letIn } = useHeld({ rows, keyOf: shape.keyOf, isRead })
  const onPointer = () => {
    movedAt.current = performance.now()
  }
  const onLetIn = ({ detail }: MouseEvent) => {
    letIn()
    const element = box.current
    if (element && element.getBoundingClientRect().top < 0) element.scrollIntoView()
    // After a key press the button disappears, so the focus moves to the first new row.
    if (detail === 0) requestAnimationFrame(() => element?.querySelector<HTMLElement>(ROW)?.focus())
  }
  return (
    <div ref={box} className="scroll-mt-2" onPointerMove={onPointer} onPointerDown={onPointer}>
      <div role="status" className="sticky top-2 z-20 flex h-0 justify-center">
        {waiting > 0 && (
          <button
            type="button"
            className="inline-flex h-8 items-center gap-1.5 rounded-full bg-accent-fill px-3.5 text-sm font-medium text-on-accent shadow-float hover:bg-accent-hover motion-safe:animate-appear"
            onClick={onLetIn}
          >
            <ArrowUp aria-hidden className="size-3.5" />
            {waiting} new
          </button>
        )}
      </div>
      <Table rows={shown} {...shape} />
    </div>
  )
}

const ROW = 'a[data-row]'
