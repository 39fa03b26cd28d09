import { describePlans } from './planProperties.js'

describePlans(3_000)
