import { useInfiniteQuery } from '@tanstack/react-query'
import { walletsQuery } from '../../../api/queries.js'
import { shorten } from '../../../text/shorten.js'
import { SelectField } from '../../../ui/forms/Field.js'

type Props = { value: string; onChange: (walletId: string) => void }

/** Selects one of the newest 100 wallets. Other wallets are chosen on their own page. */
export function WalletField({ value, onChange }: Props) {
  const { data } = useInfiniteQuery(walletsQuery({ limit: 100 }))
  const wallets = data?.pages.flatMap((page) => page.data) ?? []
  const isListed = value === '' || wallets.some(({ id }) => id === value)
  const choices = [
    { value: '', label: 'Choose a wallet' },
    ...(isListed ? [] : [{ value, label: shorten(value) }]),
    ...wallets.map(({ id, userId }) => ({ value: id, label: `${userId} (${shorten(id)})` })),
  ]
  return (
    <SelectField
      label="Wallet"
      choices={choices}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
