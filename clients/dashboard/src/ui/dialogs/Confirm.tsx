import type { ReactNode } from 'react'
import { Button } from '../forms/Button.js'
import { Dialog } from './Dialog.js'
import { Failure } from '../feedback/Failure.js'
import type { Sending } from '../forms/Form.js'

type Props = {
  title: string
  sending: Sending
  /** Label of the confirm button: the action and its subject. */
  action: string
  /** Label of the cancel button. */
  keep?: string
  isHarmless?: boolean
  onClose: () => void
  /** The consequences. */
  children: ReactNode
}

/** Asks for confirmation before an action that is hard to undo. */
export function Confirm({ title, sending, action, keep = 'Keep it', onClose, ...rest }: Props) {
  const { mutate, isPending, error } = sending
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="space-y-4 text-sm">
        <div>{rest.children}</div>
        {error && <Failure error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{keep}</Button>
          <Button
            look={rest.isHarmless ? 'primary' : 'danger'}
            isBusy={isPending}
            onClick={() => mutate()}
          >
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
