import { useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { post } from '../../api/call.js'
import { forgetUser } from '../../api/client.js'
import { TextField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'
import { Frame } from './Frame.js'

/** Sign-in with e-mail and password, then a redirect to the requested page. */
export function SignIn() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { next } = useSearch({ from: '/sign-in' })
  const navigate = useNavigate()
  const signIn = useMutation({
    mutationFn: () => post('/session', { email, password }),
    onSuccess: async () => {
      forgetUser()
      // Only a path of this dashboard is allowed, to prevent an open redirect.
      await navigate({ to: next?.startsWith('/') && !next.startsWith('//') ? next : '/' })
    },
  })
  useEffect(() => {
    document.title = 'Sign in · Steward'
  }, [])
  return (
    <Frame title="Sign in">
      <Form sending={signIn} action="Sign in" place="alone">
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Form>
      <p className="mt-6 text-xs text-ink-3">
        No account yet? Ask an owner of your account for an invitation, or the operator for a link
        with <code>npm run account -- invite</code>.
      </p>
    </Frame>
  )
}
