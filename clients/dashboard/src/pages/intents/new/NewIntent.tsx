import { useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState, type FormEvent } from 'react'
import { useMay } from '../../../api/access.js'
import { isRefusal, post } from '../../../api/call.js'
import type { Intent } from '../../../api/types.js'
import { Button } from '../../../ui/forms/Button.js'
import { Failure } from '../../../ui/feedback/Failure.js'
import { PageHead } from '../../../ui/PageHead.js'
import { IntentFields } from './IntentFields.js'
import { Preview, usePreview } from './Preview.js'
import { promiseOf, requestOf, type IntentForm } from './request.js'

const actions = ['lend', 'withdraw', 'bridge'] as const

/** The page of a new intent. */
export function NewIntent() {
  if (useMay('write')) return <NewIntentForm />
  return (
    <PageHead title="New intent">
      Viewers create no intents. Ask an owner of this account for the role of a developer.
    </PageHead>
  )
}

/** The form of a new intent with a live preview. */
function NewIntentForm() {
  const search = useSearch({ from: '/inside/intents/new' })
  const [draft, setDraft] = useState<IntentForm>({
    walletId: search.walletId ?? '',
    action: actions.find((action) => action === search.action) ?? 'lend',
    amount: search.amount ?? '',
    chain: search.chain ?? '',
    fromChain: '',
    toChain: '',
  })
  const request = useMemo(() => requestOf(draft), [draft])
  const preview = usePreview(request)
  const navigate = useNavigate()
  // One idempotency key per body: a double click, or a repeat without an answer, moves money once.
  const sent = useRef<{ body: string; key: string }>(null)
  const create = useMutation({
    mutationFn: () => {
      const body = JSON.stringify(request)
      if (sent.current?.body !== body) sent.current = { body, key: crypto.randomUUID() }
      return post<Intent>('/intents', request, sent.current.key)
    },
    onSuccess: async ({ id }) => {
      await navigate({ to: '/intents/$intentId', params: { intentId: id } })
    },
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (request && mayBePlanned) create.mutate()
  }
  // A plan that was refused is not sent. One that is not here yet may be: the service plans it again.
  const mayBePlanned = !(preview.isCurrent && isRefusal(preview.error))
  const target = preview.data?.executionPlan.targetChain
  return (
    <>
      <PageHead title="New intent">Fill in the form, read the plan, then send it.</PageHead>
      <div className="grid gap-x-12 gap-y-8 lg:grid-cols-[22rem_minmax(0,1fr)]">
        <form onSubmit={onSubmit} className="space-y-3">
          <IntentFields
            draft={draft}
            onChange={(change) => {
              create.reset()
              setDraft({ ...draft, ...change })
            }}
          />
          {create.error && <Failure error={create.error} />}
          <Button
            type="submit"
            look="primary"
            className="w-full"
            disabled={!request || !mayBePlanned || create.isPending || create.isSuccess}
            aria-busy={create.isPending}
          >
            {promiseOf(draft, target)}
          </Button>
          <p className="text-xs text-ink-3">Costs 5 credits, like the API call.</p>
        </form>
        <Preview request={request} preview={preview} />
      </div>
    </>
  )
}
