// Creates and uses passkeys. A form with `data-passkey` has a button that asks the browser for a
// credential, which the form then sends. The button is hidden where passkeys are not supported.
import { element } from './console.js'

/** The server's challenge is valid for five minutes. */
const RENEW_MS = 4 * 60_000

const isSupported = Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON)
let autofill

for (const form of isSupported ? document.querySelectorAll('[data-passkey]') : []) {
  const button = form.querySelector('[data-passkey-button]')
  form.hidden = false
  button.hidden = false
  button.addEventListener('click', () => usePasskey(form, button))
  if (form.dataset.passkeyAutofill !== undefined) offerInAutofill(form)
}
for (const part of document.querySelectorAll('[data-without-passkeys]')) part.hidden = isSupported

async function usePasskey(form, button) {
  if (!form.reportValidity()) return
  button.disabled = true
  showError(form, '')
  try {
    autofill?.abort()
    const options = await optionsOf(form)
    const credential =
      form.dataset.passkey === 'create'
        ? await navigator.credentials.create({
            publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
          })
        : await navigator.credentials.get({
            publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
          })
    send(form, credential)
  } catch (error) {
    showError(form, messageOf(error))
    button.disabled = false
  }
}

/** Offers passkeys in the suggestions of the email field. */
async function offerInAutofill(form) {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return
  autofill = new AbortController()
  const timer = setTimeout(() => {
    autofill.abort()
    offerInAutofill(form)
  }, RENEW_MS)
  try {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await optionsOf(form))
    const { signal } = autofill
    send(form, await navigator.credentials.get({ publicKey, mediation: 'conditional', signal }))
  } catch (error) {
    // The button still works.
    if (error.name !== 'AbortError') clearTimeout(timer)
  }
}

async function optionsOf(form) {
  const response = await fetch(form.dataset.options, { method: 'POST', redirect: 'error' })
  if (!response.ok) throw new Error(`HTTP status ${response.status}`)
  return response.json()
}

function send(form, credential) {
  const field = form.querySelector('[data-passkey-credential]')
  field.value = JSON.stringify(credential)
  field.disabled = false
  // The other fields are not needed, so the form is sent without validation and without its button.
  form.submit()
}

function messageOf({ name }) {
  if (name === 'NotAllowedError' || name === 'AbortError') {
    return 'The request was cancelled or timed out. Try again.'
  }
  if (name === 'InvalidStateError') return 'This device already has a passkey for your account.'
  if (name === 'SecurityError') {
    return 'Passkeys do not work at this address. Open the console by its host name, such as localhost.'
  }
  return 'The passkey could not be used. Reload the page and try again.'
}

function showError(form, text) {
  let message = form.querySelector('[data-passkey-error]')
  if (!message) {
    message = element('p', { className: 'error', role: 'alert' })
    message.dataset.passkeyError = ''
    form.append(message)
  }
  message.textContent = text
  message.hidden = text === ''
}
