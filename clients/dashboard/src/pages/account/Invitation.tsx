import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { get, post } from '../../api/call.js'
import { forgetUser } from '../../api/client.js'
import type { Invitation as InvitationResponse } from '../../api/types.js'
import { exactText } from '../../text/time.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { TextField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { Frame } from './Frame.js'

/** The page of an invitation link: account, role and the form to join. */
export function Invitation() {
  const { token } = useParams({ from: '/invitations/$token' })
  const { data, error, refetch } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => get<InvitationResponse>(`/invitations/${encodeURIComponent(token)}`),
    retry: false,
  })
  useEffect(() => {
    document.title = 'Invitation · Steward'
  }, [])
  if (data) return <Join token={token} invitation={data} />
  return (
    <Frame title="Invitation">
      {error ? <Failure error={error} retry={() => void refetch()} /> : <Skeleton lines={4} />}
    </Frame>
  )
}

function Join({ token, invitation }: { token: string; invitation: InvitationResponse }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState(invitation.email ?? '')
  const [password, setPassword] = useState('')
  const navigate = useNavigate()
  const accept = useMutation({
    mutationFn: () =>
      post(`/invitations/${encodeURIComponent(token)}/accept`, {
        password,
        ...(name && { name }),
        ...(!invitation.email && { email }),
      }),
    onSuccess: async () => {
      forgetUser()
      await navigate({ to: '/', replace: true })
    },
  })
  return (
    <Frame title={`Join ${invitation.account.name}`}>
      <p className="mb-6 text-sm text-ink-2">
        You are invited as <strong>{invitation.role}</strong>. The link works once, until{' '}
        {exactText(new Date(invitation.expiresAt))}.
      </p>
      <Form sending={accept} action="Join" place="alone">
        <TextField
          label="Name"
          autoComplete="name"
          autoFocus
          hint="Leave it empty if you already have a password here."
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          readOnly={Boolean(invitation.email)}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete={name ? 'new-password' : 'current-password'}
          required
          minLength={name ? 12 : 1}
          hint={name ? 'At least 12 characters. A sentence works well.' : 'Your existing password.'}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Form>
    </Frame>
  )
}
