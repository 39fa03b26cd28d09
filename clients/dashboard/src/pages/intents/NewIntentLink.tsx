import { Link } from '@tanstack/react-router'
import { useMay } from '../../api/access.js'
import { buttonClass } from '../../ui/forms/Button.js'

/** The link to the form of a new intent, for members who may write. */
export function NewIntentLink({ walletId }: { walletId?: string }) {
  if (!useMay('write')) return null
  return (
    <Link to="/intents/new" search={{ walletId }} className={buttonClass('primary')}>
      New intent
    </Link>
  )
}
