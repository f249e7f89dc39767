/** How a station proves itself, and the change to other credentials that may fail (white paper, A01 to A03 and A05). */
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { clientMaterial } from '../../core/tls/client-context.ts';
import { clientOffers } from '../../core/tls/client-policy.ts';
import { SimError } from '../../core/errors.ts';
import type { OcppSecurityProfile } from '../../contract/ocpp-settings.ts';

export interface Credentials {
  readonly securityProfile: OcppSecurityProfile;
  /** octets of basic authentication in profiles 1 and 2 */
  readonly password: Buffer | null;
  /** PEM; null: the authorities of the system */
  readonly rootCert: string | null;
  /** PEM; shown in profile 3 */
  readonly own: { readonly cert: string; readonly key: string } | null;
}

export type CredentialsChange = Partial<Credentials>;

/** Makes the TLS context of credentials. @throws SimError COMMAND_BAD_VALUE; PEM texts are never in it */
export type ContextMaker = (credentials: Credentials) => SecureContext;

const names = { cert: 'the certificate', key: 'its key', rootCert: 'the root certificate' };
const keptContexts = 32;

function makeContext({ rootCert, own }: Pick<Credentials, 'rootCert' | 'own'>): SecureContext {
  if (rootCert === null) return createSecureContext({ ...own, ...clientOffers.ocpp });
  const made = clientMaterial({ rootCert, ...own }, 'ocpp', names);
  if ('material' in made) return createSecureContext(made.material.context);
  throw new SimError('COMMAND_BAD_VALUE', made.issues.map(({ name, detail }) => `${name} ${detail}`).join('; '));
}

/** Contexts that the stations of a process share: one takes some 100 kB outside the heap. */
export function contextMaker(): ContextMaker {
  const kept = new Map<string, SecureContext>();
  return ({ securityProfile, rootCert, own }) => {
    const shown = securityProfile === 3 ? own : null;
    const key = [rootCert, shown?.cert, shown?.key].join('\n');
    const known = kept.get(key);
    if (known !== undefined) return known;
    const context = makeContext({ rootCert, own: shown });
    const [oldest] = kept.keys();
    if (kept.size >= keptContexts && oldest !== undefined) kept.delete(oldest);
    kept.set(key, context);
    return context;
  };
}

/** What basic authentication sends. */
export function passwordOf({ securityProfile, password }: Credentials): Buffer | null {
  return securityProfile === 1 || securityProfile === 2 ? password : null;
}
