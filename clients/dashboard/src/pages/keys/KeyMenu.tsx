import { useMutation } from '@tanstack/react-query'
import { Ban, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import type { KeyEntry, NewKeyAnswer } from '../../api/types.js'
import { Actions } from '../../ui/forms/Actions.js'
import { Confirm } from '../../ui/dialogs/Confirm.js'

/** Time to deploy the new key before the old one expires. */
const GRACE_HOURS = 24

type Props = { entry: KeyEntry; onShow: (made: NewKeyAnswer) => void }

/** The actions on a key: roll and revoke. */
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
      A new key replaces <code>…{entry.lastFour}</code>. The old key stays valid for {GRACE_HOURS}{' '}
      hours.
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
      Calls with “{entry.name}” are rejected from now on. This cannot be undone. Intents created
      with this key continue.
    </Confirm>
  )
}
