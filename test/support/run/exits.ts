// Vitest ends its workers by SIGTERM, and a killed Vitest closes their channel. Both must run the exit handlers,
// which stop the nodes of a worker. Imported once per worker.
process.once('SIGTERM', () => process.exit())
process.once('disconnect', () => process.exit())
// Each running node has an exit handler.
process.setMaxListeners(50)
