import { useMutation } from '@tanstack/react-query'
import { Ban, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import type { KeyEntry, NewKeyAnswer } from '../../api/types.js'
import { Actions } from '../../ui/forms/Actions.js'
import { Confirm } from '../../ui/dialogs/Confirm.js'

/** Long enough to bring the new key to where the old one is. */
const GRACE_HOURS = 24

type Props = { entry: KeyEntry; onShow: (made: NewKeyAnswer) => void }

/** What may be done with a key: a new one in its place, or an end to it. */
export function KeyMenu({ entry, onShow }: Props) {
  const [asking, setAsking] = useState<'roll' | 'revoke'>()
  const close = () => setAsking(undefined)
  return (
    <>
      <Actions
        label={`key ${entry.name}`}
        entries={[
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
    <Confirm
      title="Roll key"
      sending={roll}
      action={`Roll key …${entry.lastFour}`}
      isHarmless
      onClose={onClose}
    >
      A new key takes the place of <code>…{entry.lastFour}</code>, which works for {GRACE_HOURS}{' '}
      hours more.
    </Confirm>
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
    <Confirm
      title="Revoke key"
      sending={revoke}
      action={`Revoke key …${entry.lastFour}`}
      onClose={onClose}
    >
      Calls with “{entry.name}” are refused from now on. That cannot be undone. Intents that it has
      created go on.
    </Confirm>
  )
}
