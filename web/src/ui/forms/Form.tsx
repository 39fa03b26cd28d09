import type { FormEvent, ReactNode } from 'react'
import { Button } from './Button.js'
import { Failure } from '../feedback/Failure.js'

/** What is sent, as a mutation of the query cache has it. */
export type Sending = { mutate: () => void; isPending: boolean; error: Error | null }

type Props = {
  sending: Sending
  /** What the button says that it does. */
  action: string
  /** In a dialog the button ends it, alone on a page it is as wide as the fields, among others it is one of them. */
  place?: 'dialog' | 'alone' | 'among'
  children: ReactNode
}

const places = { dialog: 'flex justify-end', alone: 'grid', among: 'flex' }

/** Fields, what the API has against them, and the button that sends them, once at a time. */
export function Form({ sending, action, place = 'dialog', children }: Props) {
  const { mutate, isPending, error } = sending
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <form onSubmit={onSubmit} className="space-y-3">
      {children}
      {error && <Failure error={error} />}
      <div className={places[place]}>
        <Button type="submit" look={place === 'among' ? 'plain' : 'primary'} isBusy={isPending}>
          {action}
        </Button>
      </div>
    </form>
  )
}
