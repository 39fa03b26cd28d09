import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type FormEvent } from 'react'
import { Button } from '../ui/Button.js'
import { Dialog } from '../ui/Dialog.js'
import { TextField } from '../ui/Field.js'
import { placeOf } from './placeOf.js'

/** `/` and ⌘K open the search from everywhere, but where one is typing. */
export function useSearchKeys(open: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target } = event
      const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select')
      const isCommand = (event.metaKey || event.ctrlKey) && event.key === 'k'
      if (!isCommand && (event.key !== '/' || isTyping || event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      open()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [open])
}

/** Takes an id of anything and leads to its page. */
export function Search({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '') return
    onClose()
    void navigate(placeOf(text.trim()))
  }
  return (
    <Dialog title="Find" onClose={onClose}>
      <form onSubmit={onSubmit} className="space-y-4">
        <TextField
          label="Any id"
          autoFocus
          spellCheck={false}
          autoComplete="off"
          placeholder="intent_…, svc_wallet_…, or your user’s id"
          hint="Leads straight to the page of what you paste."
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" look="primary">
          Go
        </Button>
      </form>
    </Dialog>
  )
}
