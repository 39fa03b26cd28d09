/** What a caller of this app has got wrong; `status` is HTTP's. */
export class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
