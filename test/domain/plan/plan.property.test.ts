import { describePlans } from './planProperties.js'

describePlans(300)
