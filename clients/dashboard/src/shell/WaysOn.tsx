import { Link } from '@tanstack/react-router'
import { createContext, useContext } from 'react'
import { ApiFailure } from '../api/call.js'
import { Button } from '../ui/forms/Button.js'
import { Failure } from '../ui/feedback/Failure.js'
import { PageHead } from '../ui/PageHead.js'

/** Opens the search of the frame. */
export const OpenSearch = createContext<() => void>(() => undefined)

const ways = [
  ['/', 'Overview'],
  ['/intents', 'Intents'],
  ['/wallets', 'Wallets'],
  ['/requests', 'Request log'],
] as const

/** The search and the main pages, below a page that shows nothing else. */
function WaysOn() {
  const openSearch = useContext(OpenSearch)
  return (
    <div className="mt-6 flex flex-wrap items-center gap-x-5 gap-y-3 text-sm">
      <Button onClick={openSearch}>Find any id</Button>
      {ways.map(([to, name]) => (
        <Link key={to} to={to} search={{}} className="font-medium text-accent hover:underline">
          {name}
        </Link>
      ))}
    </div>
  )
}

/** Shown for an unknown address. */
export function NotFound() {
  return (
    <>
      <PageHead title="Page not found">
        The address may be incomplete, or from another version.
      </PageHead>
      <WaysOn />
    </>
  )
}

type Props = { what: 'Intent' | 'Wallet' | 'Endpoint'; error: Error; retry: () => void }

/** Shown instead of a resource that is unknown or cannot be read. */
export function Absent({ what, error, retry }: Props) {
  if (!(error instanceof ApiFailure) || error.status !== 404) {
    return (
      <>
        <PageHead title={what} />
        <Failure error={error} retry={retry} />
      </>
    )
  }
  return (
    <>
      <PageHead title={`${what} not found`}>
        The id may be incomplete, or belong to another account.
      </PageHead>
      <Failure error={error} />
      <WaysOn />
    </>
  )
}
