import type { ReactNode } from 'react'
import { Button } from '../forms/Button.js'
import { Dialog } from './Dialog.js'

type Props = { title: string; done: string; onClose: () => void; children: ReactNode }

/** Shows a secret once. It stays until the user confirms. */
export function Shown({ title, done, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="space-y-4 text-sm">
        {children}
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            {done}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
