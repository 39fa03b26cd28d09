import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/access.js'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import type { Wallet } from '../../api/types.js'
import { Button } from '../../ui/forms/Button.js'
import { Dialog } from '../../ui/dialogs/Dialog.js'
import { TextField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'

/** The button to create a wallet, for members who may write. */
export function NewWallet() {
  const mayWrite = useMay('write')
  const [isOpen, setOpen] = useState(false)
  if (!mayWrite) return null
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        New wallet
      </Button>
      {isOpen && <NewWalletDialog onClose={() => setOpen(false)} />}
    </>
  )
}

function NewWalletDialog({ onClose }: { onClose: () => void }) {
  const [userId, setUserId] = useState('')
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: () => post<Wallet>('/wallets', { userId }),
    onSuccess: async ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: ['wallets'] })
      await navigate({ to: '/wallets/$walletId', params: { walletId: id } })
    },
  })
  return (
    <Dialog title="New wallet" onClose={onClose}>
      <Form sending={create} action="Create wallet">
        <TextField
          label="Id of the user"
          required
          autoFocus
          autoComplete="off"
          maxLength={128}
          hint="Your own identifier of the user. An existing wallet is kept."
          value={userId}
          onChange={(event) => setUserId(event.target.value)}
        />
      </Form>
    </Dialog>
  )
}
