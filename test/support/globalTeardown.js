import { stopShared } from './globalSetup.js'

export default stopShared
