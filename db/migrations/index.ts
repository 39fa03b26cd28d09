import { accounts } from './0001_accounts.js'
import { carrying } from './0019_carrying.js'
import { bridgeFees } from './0016_bridge_fees.js'
import { dispatch } from './0009_dispatch.js'
import { events } from './0014_events.js'
import { intents } from './0003_intents.js'
import { keys } from './0008_keys.js'
import { laneGas } from './0018_lane_gas.js'
import { lanes } from './0004_lanes.js'
import { lanesRole } from './0013_lanes_role.js'
import { replacing } from './0017_replacing.js'
import { steps } from './0011_steps.js'
import { stops } from './0022_stops.js'
import { suspension } from './0012_suspension.js'
import { sweeping } from './0015_sweeping.js'
import { metering } from './0005_metering.js'
import { tenancy } from './0006_tenancy.js'
import { admission } from './0010_admission.js'
import { turned } from './0020_turned.js'
import { wallets } from './0002_wallets.js'
import { resources } from './0021_resources.js'
import { yields } from './0007_yields.js'

/** All migrations, in the order in which they run. Forward only. */
export const migrations = [
  { name: '0001_accounts', sql: accounts },
  { name: '0002_wallets', sql: wallets },
  { name: '0003_intents', sql: intents },
  { name: '0004_lanes', sql: lanes },
  { name: '0005_metering', sql: metering },
  { name: '0006_tenancy', sql: tenancy },
  { name: '0007_yields', sql: yields },
  { name: '0008_keys', sql: keys },
  { name: '0009_dispatch', sql: dispatch },
  { name: '0010_admission', sql: admission },
  { name: '0011_steps', sql: steps },
  { name: '0012_suspension', sql: suspension },
  { name: '0013_lanes_role', sql: lanesRole },
  { name: '0014_events', sql: events },
  { name: '0015_sweeping', sql: sweeping },
  { name: '0016_bridge_fees', sql: bridgeFees },
  { name: '0017_replacing', sql: replacing },
  { name: '0018_lane_gas', sql: laneGas },
  { name: '0019_carrying', sql: carrying },
  { name: '0020_turned', sql: turned },
  { name: '0021_resources', sql: resources },
  { name: '0022_stops', sql: stops },
]
