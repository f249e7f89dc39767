import type { CsipClient } from '../../contract/csip-client.ts';
import { HttpProblem } from '../http/errors.ts';

export const tag = 'CSIP Client';

/** The client, for an operation. @throws HttpProblem `disabled` */
export function enabledClient({ csipClient }: { readonly csipClient: CsipClient }): CsipClient {
  if (!csipClient.enabled)
    throw new HttpProblem(
      'disabled',
      'The client of IEEE 2030.5 is switched off: start with --csip_client_enable yes.',
    );
  return csipClient;
}
