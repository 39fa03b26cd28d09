import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { ArrowLeftRight, KeyRound, ScrollText, Wallet, type LucideIcon } from 'lucide-react'
import { useEffect, useState, type FormEvent } from 'react'
import { queryClient } from '../api/client.js'
import { searchQuery } from '../api/queries.js'
import type { SearchAnswer } from '../api/types.js'
import { Dialog } from '../ui/dialogs/Dialog.js'
import { Failure } from '../ui/feedback/Failure.js'
import { TextField } from '../ui/forms/Field.js'
import { placeOf } from './placeOf.js'

/** Debounce time of the input. */
const PAUSE_MS = 150

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** Finds resources of the account by id, hash, address or user id, and links to their pages. */
export function Search({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const wanted = text.trim()
  const settled = useSettled(wanted)
  const { data, error, refetch } = useQuery(searchQuery(settled))
  const found = settled === wanted ? data?.data : undefined
  const navigate = useNavigate()
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault()
    if (wanted === '') return
    // Enter right after pasting does not wait for the list.
    const answer = await queryClient.fetchQuery(searchQuery(wanted)).catch(() => undefined)
    const [first] = answer?.data ?? []
    if (!first) return
    onClose()
    await navigate(placeOf(first.id))
  }
  return (
    <Dialog title="Find" onClose={onClose}>
      <form onSubmit={(event) => void onSubmit(event)}>
        <TextField
          label="Any id"
          autoFocus
          spellCheck={false}
          autoComplete="off"
          maxLength={128}
          placeholder="intent_…, req_…, 0x…, or your user’s id"
          hint="An id, an address, a transaction hash, or the id of a user. Enter opens the first result."
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
      <div className="mt-3 min-h-12" aria-live="polite">
        {error && wanted !== '' ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : (
          found && <ResultList found={found} onClose={onClose} />
        )}
      </div>
    </Dialog>
  )
}

type SearchResult = SearchAnswer['data'][number]

const faces: Record<SearchResult['kind'], { word: string; icon: LucideIcon }> = {
  intent: { word: 'Intent', icon: ArrowLeftRight },
  wallet: { word: 'Wallet', icon: Wallet },
  request: { word: 'Request', icon: ScrollText },
  key: { word: 'API key', icon: KeyRound },
}

function ResultList({ found, onClose }: { found: readonly SearchResult[]; onClose: () => void }) {
  if (found.length === 0) {
    return <p className="text-sm text-ink-2">No results in this account.</p>
  }
  return (
    <ul aria-label="Found" className="max-h-72 overflow-y-auto">
      {found.map(({ kind, id }) => {
        const { word, icon: Icon } = faces[kind]
        return (
          <li key={id}>
            <Link
              {...placeOf(id)}
              onClick={onClose}
              className="flex h-9 items-center gap-2.5 rounded-md px-2 text-sm hover:bg-hover focus-visible:bg-hover"
            >
              <Icon aria-hidden className="size-4 shrink-0 text-ink-3" />
              <span className="w-16 shrink-0">{word}</span>
              <span title={id} className="truncate font-mono text-xs text-ink-2">
                {id}
              </span>
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
