import { useMutation } from '@tanstack/react-query'
import { Ban, Ellipsis, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import type { KeyEntry, NewKeyAnswer } from '../../api/types.js'
import { Button } from '../../ui/Button.js'
import { Dialog } from '../../ui/Dialog.js'
import { Failure } from '../../ui/Failure.js'
import { Menu } from '../../ui/Menu.js'

/** Long enough to bring the new key to where the old one is. */
const GRACE_HOURS = 24

type Props = { entry: KeyEntry; onShow: (made: NewKeyAnswer) => void }

/** What may be done with a key: a new one in its place, or an end to it. */
export function KeyMenu({ entry, onShow }: Props) {
  const [asking, setAsking] = useState<'roll' | 'revoke'>()
  const close = () => setAsking(undefined)
  return (
    <>
      <Menu
        label={`Key ${entry.name}`}
        trigger={
          <button
            type="button"
            aria-label={`Actions for key ${entry.name}`}
            className="inline-flex size-7 items-center justify-center rounded-sm text-ink-3 hover:bg-hover hover:text-ink"
          >
            <Ellipsis aria-hidden className="size-4" />
          </button>
        }
        groups={[
          [
            {
              label: 'Roll …',
              icon: <RefreshCw aria-hidden className="size-4" />,
              onSelect: () => setAsking('roll'),
            },
            {
              label: 'Revoke …',
              icon: <Ban aria-hidden className="size-4" />,
              onSelect: () => setAsking('revoke'),
            },
          ],
        ]}
      />
      {asking === 'roll' && <Roll entry={entry} onClose={close} onShow={onShow} />}
      {asking === 'revoke' && <Revoke entry={entry} onClose={close} />}
    </>
  )
}

const refresh = () => void queryClient.invalidateQueries({ queryKey: ['keys'] })

function Roll({ entry, onClose, onShow }: Props & { onClose: () => void }) {
  const roll = useMutation({
    mutationFn: () => post<NewKeyAnswer>(`/keys/${entry.id}/roll`, { graceHours: GRACE_HOURS }),
    onSuccess: (made) => {
      refresh()
      onClose()
      onShow(made)
    },
  })
  return (
    <Dialog title="Roll key" onClose={onClose}>
      <div className="space-y-4 text-sm">
        <p>
          A new key takes the place of <code>…{entry.lastFour}</code>, which works for {GRACE_HOURS}{' '}
          hours more.
        </p>
        {roll.error && <Failure error={roll.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it</Button>
          <Button look="primary" isBusy={roll.isPending} onClick={() => roll.mutate()}>
            Roll key …{entry.lastFour}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

function Revoke({ entry, onClose }: { entry: KeyEntry; onClose: () => void }) {
  const revoke = useMutation({
    mutationFn: () => post(`/keys/${entry.id}/revoke`),
    onSuccess: () => {
      refresh()
      onClose()
    },
  })
  return (
    <Dialog title="Revoke key" onClose={onClose}>
      <div className="space-y-4 text-sm">
        <p>
          Calls with “{entry.name}” are refused from now on. That cannot be undone. Intents that it
          has created go on.
        </p>
        {revoke.error && <Failure error={revoke.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" isBusy={revoke.isPending} onClick={() => revoke.mutate()}>
            Revoke key …{entry.lastFour}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
