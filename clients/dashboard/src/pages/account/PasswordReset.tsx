import { useMutation } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { post } from '../../api/call.js'
import { TextField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'
import { Frame } from './Frame.js'

/** The page of a reset link: the user chooses a new password, and signs in with it. */
export function PasswordReset() {
  const { token } = useParams({ from: '/password-resets/$token' })
  const [password, setPassword] = useState('')
  const navigate = useNavigate()
  useEffect(() => {
    document.title = 'New password · Steward'
  }, [])
  const choose = useMutation({
    mutationFn: () => post(`/password-resets/${encodeURIComponent(token)}`, { password }),
    onSuccess: () => navigate({ to: '/sign-in', replace: true }),
  })
  return (
    <Frame title="New password">
      <Form sending={choose} action="Set password" place="alone">
        <TextField
          label="Password"
          type="password"
          autoComplete="new-password"
          required
          autoFocus
          minLength={12}
          hint="At least 12 characters. A sentence works well."
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Form>
    </Frame>
  )
}
