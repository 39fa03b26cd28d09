import { X } from 'lucide-react'
import { useEffect, useRef, type ReactNode } from 'react'

type Props = { title: string; onClose: () => void; children: ReactNode }

/** A native modal dialog: it traps the focus, closes on Escape and restores the focus. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    if (element && !element.open) element.showModal()
    // Focuses the first field to fill in. The browser would focus the close button.
    element?.querySelector<HTMLElement>('input:not([role=switch]), select, textarea')?.focus()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      className="m-auto w-full max-w-md rounded-md border border-line bg-raised p-0 text-ink shadow-float max-sm:mx-4 max-sm:w-auto motion-safe:animate-appear"
      onClose={() => {
        // The event is asynchronous: the dialog may be open again.
        if (!dialog.current?.open) onClose()
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div className="p-5">
        <div className="mb-4 flex items-center justify-between gap-4">
          <h2 className="text-lg">{title}</h2>
          <button
            type="button"
            aria-label="Close"
            className="inline-flex size-7 items-center justify-center rounded-sm text-ink-3 hover:bg-hover hover:text-ink"
            onClick={onClose}
          >
            <X aria-hidden className="size-4" />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  )
}
