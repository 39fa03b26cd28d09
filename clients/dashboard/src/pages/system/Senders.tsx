import type { System } from '../../api/types.js'
import { amountText } from '../../text/amount.js'
import { chainText } from '../../text/names.js'
import { Amount } from '../../ui/values/Amount.js'
import { Id } from '../../ui/values/Id.js'
import { Section } from '../../ui/PageHead.js'
import { State } from '../../ui/feedback/State.js'
import { Table, type Column } from '../../ui/tables/Table.js'
import { Elapsed } from '../../ui/values/Time.js'

type TreasuryBalance = System['readiness']['senders'][number]
type SenderEntry = System['senders'][number]
type SenderRow = SenderEntry & { gas: TreasuryBalance | undefined }

const senderColumns: Column<SenderRow>[] = [
  { name: 'Chain', cell: ({ chain }) => chainText(chain) },
  { name: 'Sender', from: 'sm', cell: ({ address }) => <Id id={address} label="address" /> },
  { name: 'State', width: 'w-32', cell: (sender) => <SenderState sender={sender} /> },
  {
    name: 'Gas',
    align: 'right',
    from: 'sm',
    cell: ({ gas }) => gas && <Amount amount={gas.balance} asset={gas.asset} />,
  },
  {
    name: 'Lends left',
    width: 'w-28',
    align: 'right',
    cell: ({ gas }) => gas && amountText(gas.lasts),
  },
  {
    name: 'Next nonce',
    width: 'w-24',
    align: 'right',
    from: 'md',
    cell: ({ nextNonce }) => nextNonce,
  },
  {
    name: 'Pending',
    width: 'w-28',
    align: 'right',
    from: 'sm',
    cell: ({ open, openSince }) => (
      <>
        {open}
        {openSince && (
          <span className="text-ink-3">
            {' for '}
            <Elapsed since={openSince} />
          </span>
        )}
      </>
    ),
  },
]

type Props = { senders: SenderEntry[]; balances: TreasuryBalance[] }

/** The senders with their gas and pending transactions. */
export function Senders({ senders, balances }: Props) {
  const rows = senders.map((sender) => ({ ...sender, gas: balances.find(isOf(sender)) }))
  return (
    <Section title="Senders">
      <Table
        label="Senders"
        columns={senderColumns}
        rows={rows}
        keyOf={({ chain, address }) => `${chain} ${address}`}
      />
    </Section>
  )
}

/** Compares addresses without their checksum case. */
const isOf =
  ({ chain, address }: SenderEntry) =>
  (gas: TreasuryBalance) =>
    gas.chain === chain && gas.address.toLowerCase() === address.toLowerCase()

function SenderState({ sender: { outOfGasSince, open } }: { sender: SenderEntry }) {
  if (outOfGasSince) return <State state="failed">Out of gas</State>
  return open > 0 ? <State state="running">Sending</State> : <State state="done">Ready</State>
}

const balanceColumns: Column<TreasuryBalance>[] = [
  { name: 'Chain', cell: ({ chain }) => chainText(chain) },
  { name: 'Address', from: 'sm', cell: ({ address }) => <Id id={address} label="address" /> },
  {
    name: 'Balance',
    align: 'right',
    cell: ({ balance, asset }) => <Amount amount={balance} asset={asset} />,
  },
  {
    name: 'Left',
    width: 'w-40',
    align: 'right',
    cell: ({ lasts, asset }) => `${amountText(lasts)} ${asset === 'ETH' ? 'lends' : 'fundings'}`,
  },
]

/** The service's own money. */
export function Treasury({ balances }: { balances: TreasuryBalance[] }) {
  return (
    <Section title="Treasury">
      <Table
        label="Treasury"
        columns={balanceColumns}
        rows={balances}
        keyOf={({ chain, asset }) => `${chain} ${asset}`}
      />
    </Section>
  )
}
