import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { post } from '../../api/call.js'
import { queryClient } from '../../api/client.js'
import { TextField } from '../../ui/forms/Field.js'
import { Form } from '../../ui/forms/Form.js'
import { Section } from '../../ui/PageHead.js'

/** A new password ends all other sign-ins. */
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
          {/* Password managers ask whose password it is. */}
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
            hint="At least 12 characters. Other places where you are signed in are signed out."
            value={next}
            onChange={(event) => setNext(event.target.value)}
          />
          {change.isSuccess && (
            <p role="status" className="text-sm text-done">
              Changed.
            </p>
          )}
        </Form>
      </div>
    </Section>
  )
}
