import { useQuery } from '@tanstack/react-query'
import { ArrowUpRight } from 'lucide-react'
import { sessionQuery } from '../../api/queries.js'

/** A link to the workflow of an intent in the Temporal UI, only for operators. */
export function WorkflowLink({ intentId }: { intentId: string }) {
  const { data: session } = useQuery(sessionQuery)
  if (!session?.user.isOperator || !session.temporalUi) return null
  const page = `${session.temporalUi}/workflows/${intentId}`
  return (
    <a href={page} target="_blank" rel="noreferrer" className="text-accent hover:underline">
      Workflow
      <ArrowUpRight aria-hidden className="ml-0.5 inline size-3" />
    </a>
  )
}
