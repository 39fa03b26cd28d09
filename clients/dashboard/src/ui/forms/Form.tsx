import type { FormEvent, ReactNode } from 'react'
import { Button } from './Button.js'
import { Failure } from '../feedback/Failure.js'

/** The mutation of a form. */
export type Sending = { mutate: () => void; isPending: boolean; error: Error | null }

type Props = {
  sending: Sending
  /** Label of the submit button. */
  action: string
  /** Layout of the submit button: right in a dialog, full width alone on a page, inline among other sections. */
  place?: 'dialog' | 'alone' | 'among'
  children: ReactNode
}

const places = { dialog: 'flex justify-end', alone: 'grid', among: 'flex' }

/** Fields, the error of the API and the submit button, which sends one request at a time. */
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
