import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import { TextField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'
import { Section } from '../../ui/PageHead.js'

/** Changes the password and ends all other sessions. */
export function Password({ email }: { email: string }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const change = useMutation({
    mutationFn: () => post('/password', { current, next }),
    onSuccess: () => {
      setCurrent('')
      setNext('')
      void queryClient.invalidateQueries({ queryKey: ['sessions'] })
    },
  })
  return (
    <Section title="Password">
      <div className="max-w-sm border-t border-line pt-4">
        <Form sending={change} action="Change password" place="among">
          {/* Password managers need the user name. */}
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <TextField
            label="Current password"
            type="password"
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.target.value)}
          />
          <TextField
            label="New password"
            type="password"
            autoComplete="new-password"
            required
            minLength={12}
            hint="At least 12 characters. All other sessions are signed out."
            value={next}
            onChange={(event) => setNext(event.target.value)}
          />
          {change.isSuccess && (
            <p role="status" className="text-sm text-done">
              Password changed.
            </p>
          )}
        </Form>
      </div>
    </Section>
  )
}
