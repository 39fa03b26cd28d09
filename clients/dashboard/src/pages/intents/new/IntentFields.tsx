import { useQuery } from '@tanstack/react-query'
import { balancesQuery } from '../../../api/queries.js'
import { chainText } from '../../../text/names.js'
import { SelectField, TextField } from '../../../ui/forms/Field.js'
import { amountText, sumText } from '../../../text/amount.js'
import { amountFault, type IntentForm } from './request.js'
import { WalletField } from './WalletField.js'

type Props = { draft: IntentForm; onChange: (change: Partial<IntentForm>) => void }

const actions = [
  { value: 'lend', label: 'Lend at the best rate' },
  { value: 'withdraw', label: 'Withdraw lent money' },
  { value: 'bridge', label: 'Bridge to another chain' },
]

/** The form fields of an intent, by action. */
export function IntentFields({ draft, onChange }: Props) {
  const { walletId, action, amount } = draft
  const { data: balances } = useQuery({ ...balancesQuery(walletId), enabled: walletId !== '' })
  const chains =
    balances?.chains.map(({ chain }) => ({ value: chain, label: chainText(chain) })) ?? []
  const usdc = balances?.chains.flatMap(({ tokens }) =>
    tokens.filter(({ asset }) => asset === 'USDC').map((token) => token.balanceFormatted),
  )
  const fault = amount === '' ? undefined : amountFault(draft)
  return (
    <>
      <SelectField
        label="Action"
        choices={actions}
        value={action}
        onChange={(event) =>
          onChange({ action: event.target.value as IntentForm['action'], chain: '' })
        }
      />
      <WalletField value={walletId} onChange={(id) => onChange({ walletId: id, chain: '' })} />
      <TextField
        label="Amount of USDC"
        inputMode="decimal"
        autoComplete="off"
        required
        value={amount}
        error={fault}
        hint={
          action === 'withdraw'
            ? 'Or max: everything, including interest.'
            : usdc && `The wallet has ${amountText(sumText(usdc))} USDC on all chains.`
        }
        onChange={(event) => onChange({ amount: event.target.value.trim() })}
      />
      {action === 'bridge' ? (
        <>
          <ChainField
            label="From"
            chains={chains}
            value={draft.fromChain}
            onChange={(fromChain) => onChange({ fromChain })}
          />
          <ChainField
            label="To"
            chains={chains.filter(({ value }) => value !== draft.fromChain)}
            value={draft.toChain}
            onChange={(toChain) => onChange({ toChain })}
          />
        </>
      ) : (
        <ChainField
          label="Chain"
          none={action === 'lend' ? 'Any: the best rate' : undefined}
          chains={chains}
          value={draft.chain}
          onChange={(chain) => onChange({ chain })}
        />
      )}
    </>
  )
}

type ChainProps = {
  label: string
  none?: string | undefined
  chains: { value: string; label: string }[]
  value: string
  onChange: (chain: string) => void
}

function ChainField({ label, none = 'Choose a chain', chains, value, onChange }: ChainProps) {
  return (
    <SelectField
      label={label}
      choices={[{ value: '', label: none }, ...chains]}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
