import type { System } from '../../api/types.js'
import { amountText } from '../../text/amount.js'
import { chainText } from '../../text/shorten.js'
import { Amount } from '../../ui/values/Amount.js'
import { Id } from '../../ui/values/Id.js'
import { Section } from '../../ui/PageHead.js'
import { State } from '../../ui/feedback/State.js'
import { Table, type Column } from '../../ui/tables/Table.js'
import { Elapsed } from '../../ui/values/Time.js'

type Purse = System['readiness']['lanes'][number]
type Lane = System['lanes'][number]
type Row = Lane & { purse: Purse | undefined }

const laneColumns: Column<Row>[] = [
  { name: 'Chain', cell: ({ chain }) => chainText(chain) },
  { name: 'Lane', from: 'sm', cell: ({ address }) => <Id id={address} label="address" /> },
  { name: 'State', width: 'w-32', cell: (lane) => <LaneState lane={lane} /> },
  {
    name: 'Gas',
    align: 'right',
    from: 'sm',
    cell: ({ purse }) => purse && <Amount amount={purse.balance} asset={purse.asset} />,
  },
  {
    name: 'Lasts, lends',
    width: 'w-28',
    align: 'right',
    cell: ({ purse }) => purse && amountText(purse.lasts),
  },
  {
    name: 'Next nonce',
    width: 'w-24',
    align: 'right',
    from: 'md',
    cell: ({ nextNonce }) => nextNonce,
  },
  {
    name: 'Open',
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

type Props = { lanes: Lane[]; purses: Purse[] }

/** The addresses that send, what gas they have, and what of theirs is in no block yet. */
export function Lanes({ lanes, purses }: Props) {
  const rows = lanes.map((lane) => ({ ...lane, purse: purses.find(isOf(lane)) }))
  return (
    <Section title="Lanes">
      <Table
        label="Lanes"
        columns={laneColumns}
        rows={rows}
        keyOf={({ chain, address }) => `${chain} ${address}`}
      />
    </Section>
  )
}

/** Addresses are the same however their letters are written. */
const isOf =
  ({ chain, address }: Lane) =>
  (purse: Purse) =>
    purse.chain === chain && purse.address.toLowerCase() === address.toLowerCase()

function LaneState({ lane: { drySince, open } }: { lane: Lane }) {
  if (drySince) return <State state="failed">Without gas</State>
  return open > 0 ? <State state="running">Sending</State> : <State state="done">Ready</State>
}

const purseColumns: Column<Purse>[] = [
  { name: 'Chain', cell: ({ chain }) => chainText(chain) },
  { name: 'Address', from: 'sm', cell: ({ address }) => <Id id={address} label="address" /> },
  {
    name: 'Holds',
    align: 'right',
    cell: ({ balance, asset }) => <Amount amount={balance} asset={asset} />,
  },
  {
    name: 'Lasts',
    width: 'w-40',
    align: 'right',
    cell: ({ lasts, asset }) => `${amountText(lasts)} ${asset === 'ETH' ? 'lends' : 'fundings'}`,
  },
]

/** Where the money of the service itself lies. */
export function Treasury({ purses }: { purses: Purse[] }) {
  return (
    <Section title="Treasury">
      <Table
        label="Treasury"
        columns={purseColumns}
        rows={purses}
        keyOf={({ chain, asset }) => `${chain} ${asset}`}
      />
    </Section>
  )
}
